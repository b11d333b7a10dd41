// Where everything stands.

import { button, element } from "./dom.js";
import { icon } from "./drawing.js";

/** @import { View } from "./view.js" */

/**
 * The whole page.
 *
 * @param {View} view
 * @param {{anew: () => void, share: () => void, help: () => void}} links
 */
export function frame(view, { anew, share, help }) {
  const header = element(
    "header",
    { part: "header" },
    element("h1", { part: "brand" }, icon("mark"), element("span", {}, "Seeker")),
    view.chooser.element,
    view.words.element,
    view.filters.button,
    element(
      "div",
      { className: "links" },
      button("Start anew", anew, { icon: "plus", text: "Start anew", className: "quiet" }),
      button("Share", share, { icon: "share", text: "Share", className: "quiet" }),
      button("Help", help, { icon: "help", text: "Help", className: "quiet" }),
    ),
  );
  const main = element(
    "div",
    { className: "main" },
    element(
      "p",
      { className: "hint soft" },
      "Like what comes close to what you have in mind, dislike what does not.",
    ),
    view.chips.element,
    view.filters.element,
    view.state.element,
    view.found.element,
    view.listing.partial,
    view.grid.stage,
    view.listing.more,
    view.listing.end,
  );
  return element(
    "div",
    { className: "seeker" },
    header,
    ...view.notices.elements,
    view.shared,
    element("div", { className: "body" }, main, view.panel.element),
    view.credit,
    view.detail.dialog,
    view.sharing.dialog,
    view.help,
  );
}

/** Grid, trays, undo and redo only. @param {View} view */
export function plainFrame(view) {
  const main = element(
    "div",
    { className: "main" },
    view.state.element,
    view.listing.partial,
    view.grid.stage,
  );
  return element(
    "div",
    { className: "seeker plain" },
    ...view.notices.elements,
    view.shared,
    element("div", { className: "body" }, main, view.panel.element),
    view.detail.dialog,
  );
}

/** @param {() => void} fork */
export function sharedBanner(fork) {
  return element(
    "div",
    { className: "banner shared", hidden: true },
    element("p", {}, "You are looking at a search that somebody has shared with you."),
    button("Continue from here", fork, { text: "Continue from here", className: "primary" }),
  );
}

/** From these widths on there is room for more, in letters: larger letters need more room. */
const WIDE = 62.5;
const MEDIUM = 37.5;

/** Let the look depend on the room there is, be it a window or a column of some site. @param {HTMLElement} root @param {AbortSignal} leave */
export function watchSize(root, leave) {
  const size = () => {
    const room = root.clientWidth / parseFloat(getComputedStyle(document.documentElement).fontSize);
    root.dataset.size = room >= WIDE ? "wide" : room >= MEDIUM ? "medium" : "narrow";
  };
  size();
  const watch = new ResizeObserver(size);
  watch.observe(root);
  leave.addEventListener("abort", () => watch.disconnect());
}
