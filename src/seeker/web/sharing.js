// A link to a search, to be given to somebody: they can look at it, and go on from there on their own.

import { button, element } from "./dom.js";

export class Sharing {
  constructor() {
    this.link = element("a", { target: "_blank", rel: "noopener" });
    this.link.setAttribute("aria-label", "Link to this search");
    this.copied = element("p", { className: "soft", "aria-live": "polite" });
    this.dialog = element(
      "dialog",
      { className: "sharing", "aria-label": "Share" },
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
          button("Copy", () => this.#copy(), { text: "Copy", className: "primary" }),
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

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.link.href);
      this.copied.textContent = "Copied.";
    } catch {
      // Browsers forbid it on pages without TLS.
      getSelection()?.selectAllChildren(this.link);
      this.copied.textContent = "Your browser does not let pages copy: the link is marked, copy it by hand.";
    }
  }
}
