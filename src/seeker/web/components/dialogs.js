// Windows above the page: the help, and the link to a search that can be given to somebody.

import { element, textButton } from "../dom.js";
import { strings } from "../strings.js";

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
  const texts = strings.dialogs;
  const dialog = createDialog(
    "help",
    { "aria-label": strings.help },
    element(
      "div",
      { className: "inside" },
      element("h2", {}, texts.howItWorks),
      element("p", {}, texts.explanation),
      element("p", {}, texts.swipe),
      element("p", {}, texts.pictures),
      element("h2", {}, texts.keys),
      element(
        "dl",
        { className: "keys" },
        ...texts.shortcuts.flatMap(([key, effect]) => [
          element("dt", {}, element("kbd", {}, key)),
          element("dd", {}, effect),
        ]),
      ),
      textButton(strings.close, () => dialog.close(), { className: "primary" }),
    ),
  );
  return dialog;
}

/** A link to a search: whoever gets it can look at it, and go on from there on their own. */
export class ShareDialog {
  constructor() {
    const texts = strings.dialogs;
    this.link = element("a", { target: "_blank", rel: "noopener", "aria-label": texts.link });
    const select = () => getSelection()?.selectAllChildren(this.link);
    const { copyButton, feedback } = createCopyButton(() => this.link.href, select, "primary");
    this.feedback = feedback;
    this.dialog = createDialog(
      "sharing",
      { "aria-label": strings.share },
      element(
        "div",
        { className: "inside" },
        element("h2", {}, texts.shareThis),
        element("p", {}, texts.shareExplanation),
        element("p", { className: "link" }, this.link),
        this.feedback,
        element(
          "div",
          { className: "verdicts" },
          copyButton,
          textButton(strings.close, () => this.dialog.close()),
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
      feedback.textContent = strings.dialogs.copied;
    } catch {
      // Browsers forbid it on pages without TLS.
      select();
      feedback.textContent = strings.dialogs.copyByHand;
    }
  };
  return { feedback, copyButton: textButton(strings.dialogs.copy, copy, className ? { className } : {}) };
}
