// What the screens of a study are made of.

import { copier } from "./copying.js";
import { button, element } from "./dom.js";
import { linkOf } from "./study-calls.js";

/** @param {string} title @param {...(Node | string)} children */
export function screen(title, ...children) {
  return element("section", { className: "screen" }, element("h1", { tabIndex: -1 }, title), ...children);
}

/** @param {string} text @param {() => void} action */
export const primary = (text, action) => button(text, action, { text, className: "primary" });

/** @param {string} text @param {() => void} action */
export const quiet = (text, action) => button(text, action, { text, className: "quiet" });

/** The link that leads back. @param {string} key */
export function comeBack(key) {
  const link = element("input", {
    type: "text",
    readOnly: true,
    value: linkOf(key),
    "aria-label": "Your link",
    onfocus: () => link.select(),
  });
  const { copy, told } = copier(
    () => link.value,
    () => link.select(),
  );
  return element(
    "div",
    { className: "link" },
    element(
      "p",
      {},
      "This browser remembers you. With this link you can also come back from another one; whoever has it sees your searches, so keep it to yourself.",
    ),
    element("div", { className: "ways" }, link, copy, told),
  );
}

/** What a participant may do at any time. @param {() => void} save @param {() => void} withdraw */
export function rights(save, withdraw) {
  const sure = element(
    "dialog",
    { "aria-label": "Withdraw" },
    element(
      "p",
      {},
      "Do you want to withdraw? Everything that was recorded about you is deleted at once, for good.",
    ),
    element(
      "div",
      { className: "ways" },
      button(
        "Delete everything",
        () => {
          sure.close();
          withdraw();
        },
        { text: "Delete everything", className: "danger" },
      ),
      button("Keep it", () => sure.close(), { text: "Keep it" }),
    ),
  );
  return element(
    "footer",
    {},
    sure,
    quiet("What is recorded about me", save),
    quiet("Withdraw and delete", () => sure.showModal()),
  );
}
