// Motion that shows what stayed, what left and what came; none for people who want none.

const EASING = "cubic-bezier(.2, .7, .2, 1)";
/** Cards that come one after the other: so many, with so much between them. */
const STAGGERED_CARDS = 12;
const STAGGER_MS = 14;

const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Where elements are on screen, by name. @typedef {Map<string, {box: DOMRect, element: HTMLElement}>} Positions */

/**
 * @param {Iterable<[string, HTMLElement]>} elements
 * @returns {Positions} of those that can be seen
 */
export function measurePositions(elements) {
  /** @type {Positions} */
  const positions = new Map();
  if (prefersReducedMotion()) return positions;
  for (const [name, element] of elements) {
    const box = element.getBoundingClientRect();
    if (box.bottom > 0 && box.top < innerHeight) positions.set(name, { box, element });
  }
  return positions;
}

/**
 * Move the elements from where they were to where they are.
 *
 * @param {Positions} before
 * @param {[string, HTMLElement][]} elements
 * @param {HTMLElement} stage where those that left fade away
 */
export function animateChanges(before, elements, stage) {
  if (prefersReducedMotion()) return;
  const names = new Set(elements.map(([name]) => name));
  const stageBox = stage.getBoundingClientRect();
  for (const [name, { box, element }] of before) {
    if (!names.has(name)) fadeOut(element, box, stageBox, stage);
  }
  elements.forEach(([name, element], index) => {
    const previous = before.get(name);
    if (!previous) {
      element.animate(
        [
          { opacity: 0, transform: "translateY(10px)" },
          { opacity: 1, transform: "none" },
        ],
        {
          duration: 260,
          delay: Math.min(index, STAGGERED_CARDS) * STAGGER_MS,
          easing: EASING,
          fill: "backwards",
        },
      );
      return;
    }
    const box = element.getBoundingClientRect();
    const across = previous.box.left - box.left;
    const down = previous.box.top - box.top;
    if (Math.abs(across) + Math.abs(down) < 1) return;
    element.animate([{ transform: `translate(${across}px, ${down}px)` }, { transform: "none" }], {
      duration: 340,
      easing: EASING,
    });
  });
}

/** @param {HTMLElement} card @param {DOMRect} box @param {DOMRect} stageBox @param {HTMLElement} stage */
function fadeOut(card, box, stageBox, stage) {
  // Only what it looked like: nothing that can be pressed.
  const ghost = document.createElement("div");
  ghost.className = "ghost";
  ghost.inert = true;
  const face = document.createElement("div");
  face.className = "face";
  face.append(...[...(card.querySelector(".face")?.childNodes ?? [])].map((node) => node.cloneNode(true)));
  ghost.append(face);
  setBox(ghost, box, stageBox);
  stage.append(ghost);
  const fade = ghost.animate([{ opacity: 1 }, { opacity: 0 }], {
    duration: 160,
    easing: "ease-out",
  });
  fade.onfinish = fade.oncancel = () => ghost.remove();
}

/**
 * Let an element come flying from a box. What flies is a picture of it above everything, for the
 * panel that the element is in shows nothing beyond its edges.
 *
 * @param {HTMLElement} element
 * @param {DOMRect} from
 */
export function flyFrom(element, from) {
  const box = element.getBoundingClientRect();
  const picture = element.querySelector("img")?.cloneNode();
  const root = element.closest(".seeker");
  if (prefersReducedMotion() || !box.width || !from.width || !picture || !root) return;
  const flyer = document.createElement("div");
  flyer.className = "flying";
  flyer.inert = true;
  flyer.append(picture);
  setBox(flyer, box, { left: 0, top: 0 });
  root.append(flyer);
  const across = from.left + from.width / 2 - box.left - box.width / 2;
  const down = from.top + from.height / 2 - box.top - box.height / 2;
  const scale = Math.min(from.width, from.height) / box.width;
  const timing = { duration: 420, easing: EASING };
  element.animate([{ opacity: 0 }, { opacity: 0 }], timing);
  const flight = flyer.animate(
    [{ transform: `translate(${across}px, ${down}px) scale(${scale})` }, { transform: "none" }],
    timing,
  );
  flight.onfinish = flight.oncancel = () => flyer.remove();
}

/** @param {HTMLElement} element @param {DOMRect} box @param {{left: number, top: number}} origin */
function setBox(element, box, origin) {
  Object.assign(element.style, {
    left: `${box.left - origin.left}px`,
    top: `${box.top - origin.top}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  });
}

/** Let an element grow for a moment. @param {Element} element */
export function pulse(element) {
  if (prefersReducedMotion()) return;
  element.animate([{ transform: "scale(1)" }, { transform: "scale(1.18)" }, { transform: "scale(1)" }], {
    duration: 260,
    easing: EASING,
  });
}
