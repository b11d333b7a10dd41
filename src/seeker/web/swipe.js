// A card swiped to the right is liked, to the left disliked.

const FAR = 0.32;

/**
 * Let the cards of a list be swiped by touch.
 *
 * @param {HTMLElement} list
 * @param {(id: string, verdict: "like" | "dislike") => void} judge
 */
export function letSwipe(list, judge) {
  /** @type {{card: HTMLElement, pointer: number, x: number, y: number, across: number, taken: boolean} | null} */
  let swipe = null;

  const rest = () => {
    if (!swipe) return;
    swipe.card.style.transform = "";
    swipe.card.classList.remove("toward-like", "toward-dislike", "swiped");
    swipe = null;
  };

  list.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" || !event.isPrimary) return;
    const card = event.target instanceof Element ? event.target.closest("li[data-id]") : null;
    if (!(card instanceof HTMLElement)) return;
    swipe = { card, pointer: event.pointerId, x: event.clientX, y: event.clientY, across: 0, taken: false };
  });

  list.addEventListener("pointermove", (event) => {
    if (!swipe || event.pointerId !== swipe.pointer) return;
    const across = event.clientX - swipe.x;
    const down = event.clientY - swipe.y;
    if (!swipe.taken) {
      if (Math.abs(across) < 10 || Math.abs(across) < Math.abs(down)) return;
      swipe.taken = true;
      swipe.card.classList.add("swiped");
      swipe.card.setPointerCapture(event.pointerId);
    }
    swipe.across = across;
    const far = Math.abs(across) > swipe.card.offsetWidth * FAR;
    swipe.card.style.transform = `translateX(${across}px) rotate(${across / 40}deg)`;
    swipe.card.classList.toggle("toward-like", far && across > 0);
    swipe.card.classList.toggle("toward-dislike", far && across < 0);
  });

  list.addEventListener("pointerup", (event) => {
    if (!swipe || event.pointerId !== swipe.pointer) return;
    const { card, across, taken } = swipe;
    rest();
    if (!taken) return;
    // The finger is lifted over a button, but it was no tap.
    const swallow = (/** @type {Event} */ click) => {
      click.stopPropagation();
      click.preventDefault();
    };
    list.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => list.removeEventListener("click", swallow, { capture: true }), 50);
    if (Math.abs(across) > card.offsetWidth * FAR)
      judge(card.dataset.id ?? "", across > 0 ? "like" : "dislike");
  });

  list.addEventListener("pointercancel", rest);
}
