// Windows above the page: the help, and the link to a search that can be given to somebody.

import { element, textButton } from "../dom.js";
import { say } from "../strings.js";

/**
 * A dialog closes by a button of its own, by the Escape key and by a click beside it.
 *
 * @param {string} className
 * @param {Record<string, unknown>} properties
 * @param {...Node} children
 */
export function createDialog(className, properties, ...children) {
  const dialog = element("dialog", { className, ...properties }, ...children);
  dialog.addEventListener("click", (event) => {
    // What is beside it belongs to the dialog itself.
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}

/** How it works, in a few words, and the keys. @returns {HTMLDialogElement} */
export function createHelpDialog() {
  const dialog = createDialog(
    "help",
    { "aria-label": say("help") },
    element(
      "div",
      { className: "inside" },
      element("h2", {}, say("dialogs.howItWorks")),
      element("p", {}, say("dialogs.explanation")),
      element("p", {}, say("dialogs.swipe")),
      element("p", {}, say("dialogs.pictures")),
      element("h2", {}, say("dialogs.keys")),
      element(
        "dl",
        { className: "keys" },
        ...shortcuts().flatMap(([key, effect]) => [
          element("dt", {}, element("kbd", {}, key)),
          element("dd", {}, effect),
        ]),
      ),
      textButton(say("close"), () => dialog.close(), { className: "primary" }),
    ),
  );
  return dialog;
}

/** The keys, and what they do. @returns {[string, string][]} */
const shortcuts = () => [
  ["← → ↑ ↓", say("dialogs.keyMove")],
  [say("dialogs.or", { first: "L", second: "+" }), say("dialogs.keyLike")],
  [say("dialogs.or", { first: "D", second: "−" }), say("dialogs.keyDislike")],
  [say("dialogs.keyEnter"), say("dialogs.keyOpen")],
  ["U", say("dialogs.keyUndo")],
  ["R", say("dialogs.keyRedo")],
  ["/", say("dialogs.keyWords")],
  ["?", say("dialogs.keyHelp")],
];

/** A link to a search: whoever gets it can look at it, and go on from there on their own. */
export class ShareDialog {
  constructor() {
    this.link = element("a", { target: "_blank", rel: "noopener", "aria-label": say("dialogs.link") });
    const select = () => getSelection()?.selectAllChildren(this.link);
    const { copyButton, feedback } = createCopyButton(() => this.link.href, select, "primary");
    this.feedback = feedback;
    this.dialog = createDialog(
      "sharing",
      { "aria-label": say("share") },
      element(
        "div",
        { className: "inside" },
        element("h2", {}, say("dialogs.shareThis")),
        element("p", {}, say("dialogs.shareExplanation")),
        element("p", { className: "link" }, this.link),
        this.feedback,
        element(
          "div",
          { className: "verdicts" },
          copyButton,
          textButton(say("close"), () => this.dialog.close()),
        ),
      ),
    );
  }

  /** @param {string} url */
  open(url) {
    this.link.href = url;
    this.link.textContent = url.replace(/^https?:\/\//, "");
    this.feedback.textContent = "";
    if (!this.dialog.open) this.dialog.showModal();
  }
}

/**
 * A button that copies a link, and a sentence on whether that worked.
 *
 * @param {() => string} link
 * @param {() => void} select selects the link on screen, where the browser does not let pages copy
 * @param {string} [className]
 */
export function createCopyButton(link, select, className) {
  const feedback = element("p", { className: "soft", "aria-live": "polite" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link());
      feedback.textContent = say("dialogs.copied");
    } catch {
      // Browsers forbid it on pages without TLS.
      select();
      feedback.textContent = say("dialogs.copyByHand");
    }
  };
  return { feedback, copyButton: textButton(say("dialogs.copy"), copy, className ? { className } : {}) };
}
