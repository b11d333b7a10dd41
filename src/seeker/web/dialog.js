// A window above the page: it closes by a button of its own, by the Escape key and by a click beside it.

import { element } from "./dom.js";

/**
 * @param {string} className
 * @param {Record<string, unknown>} properties
 * @param {...Node} children
 */
export function makeDialog(className, properties, ...children) {
  const dialog = element("dialog", { className, ...properties }, ...children);
  dialog.addEventListener("click", (event) => {
    // What is beside it belongs to the dialog itself.
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
