// A button that copies a link, and a sentence on whether that worked.

import { button, element } from "./dom.js";

/**
 * @param {() => string} link
 * @param {() => void} mark marks the link on screen, where the browser does not let pages copy
 * @param {string} [className]
 */
export function copier(link, mark, className) {
  const told = element("p", { className: "soft", "aria-live": "polite" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link());
      told.textContent = "Copied.";
    } catch {
      // Browsers forbid it on pages without TLS.
      mark();
      told.textContent = "Your browser does not let pages copy: the link is marked, copy it by hand.";
    }
  };
  return { told, copy: button("Copy", copy, { text: "Copy", ...(className ? { className } : {}) }) };
}
