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
          { opacity: 0, transform: "translateY(10px)" },
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

/** @param {HTMLElement} card @param {DOMRect} box @param {DOMRect} floor @param {HTMLElement} stage */
function leave(card, box, floor, stage) {
  // Only what it looked like: nothing that can be pressed.
  const ghost = document.createElement("div");
  ghost.className = "ghost";
  ghost.inert = true;
  const face = document.createElement("div");
  face.className = "face";
  face.append(...[...(card.querySelector(".face")?.childNodes ?? [])].map((node) => node.cloneNode(true)));
  ghost.append(face);
  Object.assign(ghost.style, {
    left: `${box.left - floor.left}px`,
    top: `${box.top - floor.top}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  });
  stage.append(ghost);
  const gone = ghost.animate([{ opacity: 1 }, { opacity: 0 }], {
    duration: 160,
    easing: "ease-out",
  });
  gone.onfinish = gone.oncancel = () => ghost.remove();
}

/**
 * Let an element come flying from a box. What flies is a picture of it above everything, for the
 * panel that the element is in shows nothing beyond its edges.
 *
 * @param {HTMLElement} element
 * @param {DOMRect} box
 */
export function fly(element, box) {
  const is = element.getBoundingClientRect();
  const picture = element.querySelector("img")?.cloneNode();
  const sky = element.closest(".seeker");
  if (still.matches || !is.width || !box.width || !picture || !sky) return;
  const bird = document.createElement("div");
  bird.className = "flying";
  bird.inert = true;
  bird.append(picture);
  Object.assign(bird.style, {
    left: `${is.left}px`,
    top: `${is.top}px`,
    width: `${is.width}px`,
    height: `${is.height}px`,
  });
  sky.append(bird);
  const across = box.left + box.width / 2 - is.left - is.width / 2;
  const down = box.top + box.height / 2 - is.top - is.height / 2;
  const scale = Math.min(box.width, box.height) / is.width;
  const time = { duration: 420, easing: EASE };
  element.animate([{ opacity: 0 }, { opacity: 0 }], time);
  const flight = bird.animate(
    [{ transform: `translate(${across}px, ${down}px) scale(${scale})` }, { transform: "none" }],
    time,
  );
  flight.onfinish = flight.oncancel = () => bird.remove();
}

/** Let an element give a short beat. @param {Element} element */
export function beat(element) {
  if (still.matches) return;
  element.animate([{ transform: "scale(1)" }, { transform: "scale(1.18)" }, { transform: "scale(1)" }], {
    duration: 260,
    easing: EASE,
  });
}
