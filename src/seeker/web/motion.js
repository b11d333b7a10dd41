// Motion that shows what stayed, what left and what came; none for people who want none.

const still = matchMedia("(prefers-reduced-motion: reduce)");
const EASE = "cubic-bezier(.2, .7, .2, 1)";

/** Where elements are on screen, by name. @typedef {Map<string, {box: DOMRect, element: HTMLElement}>} Places */

/**
 * @param {Iterable<[string, HTMLElement]>} named
 * @returns {Places} of those that can be seen
 */
export function places(named) {
  /** @type {Places} */
  const found = new Map();
  if (still.matches) return found;
  for (const [name, element] of named) {
    const box = element.getBoundingClientRect();
    if (box.bottom > 0 && box.top < innerHeight) found.set(name, { box, element });
  }
  return found;
}

/**
 * Move the elements from where they were to where they are.
 *
 * @param {Places} before
 * @param {[string, HTMLElement][]} now
 * @param {HTMLElement} stage where those that left fade away
 */
export function rearrange(before, now, stage) {
  if (still.matches) return;
  const names = new Set(now.map(([name]) => name));
  const floor = stage.getBoundingClientRect();
  for (const [name, { box, element }] of before) {
    if (!names.has(name)) leave(element, box, floor, stage);
  }
  now.forEach(([name, element], index) => {
    const was = before.get(name);
    if (!was) {
      element.animate(
        [
          { opacity: 0, transform: "translateY(10px) scale(.985)" },
          { opacity: 1, transform: "none" },
        ],
        { duration: 260, delay: Math.min(index, 12) * 14, easing: EASE, fill: "backwards" },
      );
      return;
    }
    const { box } = was;
    const is = element.getBoundingClientRect();
    if (Math.abs(box.left - is.left) + Math.abs(box.top - is.top) < 1) return;
    element.animate(
      [{ transform: `translate(${box.left - is.left}px, ${box.top - is.top}px)` }, { transform: "none" }],
      { duration: 340, easing: EASE },
    );
  });
}

/** @param {HTMLElement} element @param {DOMRect} box @param {DOMRect} floor @param {HTMLElement} stage */
function leave(element, box, floor, stage) {
  const ghost = /** @type {HTMLElement} */ (element.cloneNode(true));
  ghost.classList.add("ghost");
  ghost.inert = true;
  Object.assign(ghost.style, {
    left: `${box.left - floor.left}px`,
    top: `${box.top - floor.top}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  });
  stage.append(ghost);
  const gone = ghost.animate([{ opacity: 1 }, { opacity: 0, transform: "scale(.96)" }], {
    duration: 160,
    easing: "ease-out",
  });
  gone.onfinish = gone.oncancel = () => ghost.remove();
}

/** Let an element come flying from a box. @param {HTMLElement} element @param {DOMRect} box */
export function fly(element, box) {
  const is = element.getBoundingClientRect();
  if (still.matches || !is.width || !box.width) return;
  const across = box.left + box.width / 2 - is.left - is.width / 2;
  const down = box.top + box.height / 2 - is.top - is.height / 2;
  const scale = box.width / is.width;
  element.animate(
    [
      { transform: `translate(${across}px, ${down}px) scale(${scale})`, opacity: 0.9, zIndex: 5 },
      { transform: "none", opacity: 1, zIndex: 5 },
    ],
    { duration: 420, easing: EASE },
  );
}

/** Let an element give a short beat. @param {Element} element */
export function beat(element) {
  if (still.matches) return;
  element.animate([{ transform: "scale(1)" }, { transform: "scale(1.18)" }, { transform: "scale(1)" }], {
    duration: 260,
    easing: EASE,
  });
}
