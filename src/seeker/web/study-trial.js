// One search of a study: what is looked for, beside the page to look through.

import { button, element } from "./dom.js";
import { faceOf } from "./face.js";
import { titleOf } from "./item.js";
import { quiet } from "./study-parts.js";

/** @import { Standing } from "./study-calls.js" */

/**
 * @param {Standing} standing
 * @param {() => void} giveUp
 * @param {() => void} pause
 */
export function trial(standing, giveUp, pause) {
  const { current } = standing;
  if (!current) throw new Error("There is no search to show.");
  const { target } = current;
  const title = titleOf(target);
  const large = element(
    "dialog",
    { className: "large", "aria-label": "What you look for" },
    faceOf(target, title),
    ...(target.media ? [element("p", {}, title)] : []),
    button("Close", () => large.close(), { text: "Close" }),
  );
  const open = element(
    "button",
    { type: "button", className: "face", "aria-label": `Enlarge ${title}` },
    faceOf(target),
  );
  open.addEventListener("click", () => large.showModal());
  const steps = element("p", { className: "count", role: "status" });
  const bar = element("progress", { max: standing.steps, value: 0, "aria-label": "Steps used" });
  const search = document.createElement("seeker-search");
  search.setAttribute("plain", "");
  search.setAttribute("session", current.session);
  const sought = element(
    "aside",
    { className: target.media ? "sought" : "sought worded", "aria-label": "Look for this" },
    element("h1", { tabIndex: -1 }, "Look for this"),
    open,
    element("p", { className: "title" }, title),
    element(
      "div",
      { className: "standing" },
      element("p", { className: "soft" }, `Search ${current.number + 1} of ${standing.trials}`),
      steps,
      bar,
    ),
    element("div", { className: "ways" }, quiet("Give up this one", giveUp), quiet("Take a break", pause)),
    large,
  );
  const shown = element("section", { className: "trial", "aria-label": "Search" }, sought, search);
  return {
    shown,
    search,
    /** @param {number} used */
    count(used) {
      steps.textContent = `Step ${Math.min(used + 1, standing.steps)} of ${standing.steps}`;
      bar.value = used;
    },
    /** Show no further page: this one is not part of the search. */
    end() {
      search.hidden = true;
    },
  };
}
