// A link to a search, to be given to somebody: they can look at it, and go on from there on their own.

import { copier } from "./copying.js";
import { makeDialog } from "./dialog.js";
import { button, element } from "./dom.js";

export class Sharing {
  constructor() {
    this.link = element("a", { target: "_blank", rel: "noopener", "aria-label": "Link to this search" });
    const mark = () => getSelection()?.selectAllChildren(this.link);
    const { copy, told } = copier(() => this.link.href, mark, "primary");
    this.copied = told;
    this.dialog = makeDialog(
      "sharing",
      { "aria-label": "Share" },
      element(
        "div",
        { className: "inside" },
        element("h2", {}, "Share this search"),
        element(
          "p",
          {},
          "Whoever has this link sees the search as it stands, and can go on from there on their own. Nobody can change yours.",
        ),
        element("p", { className: "link" }, this.link),
        this.copied,
        element(
          "div",
          { className: "verdicts" },
          copy,
          button("Close", () => this.dialog.close(), { text: "Close" }),
        ),
      ),
    );
  }

  /** @param {string} address */
  open(address) {
    this.link.href = address;
    this.link.textContent = address.replace(/^https?:\/\//, "");
    this.copied.textContent = "";
    if (!this.dialog.open) this.dialog.showModal();
  }
}
