// What a participant reads, screen by screen.

import { element } from "./dom.js";
import { counted } from "./sentences.js";
import { comeBack, primary, screen } from "./study-parts.js";

/** @import { About, Ended, Standing } from "./study-calls.js" */

/** @param {About} study @param {string} notice @param {() => void} agreed */
export function consent(study, notice, agreed) {
  const box = element("input", { type: "checkbox", required: true });
  const form = element(
    "form",
    { className: "agree" },
    element("label", {}, box, element("span", {}, "I have read this, and I want to take part.")),
    element("button", { className: "primary", type: "submit" }, "Take part"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    agreed();
  });
  // Lines that begin with # are headings; whatever else a text holds is shown as it is.
  const told = study.consent
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => (line.startsWith("# ") ? element("h2", {}, line.slice(2)) : element("p", {}, line)));
  return screen(
    "A study of searching by looking",
    ...(notice ? [element("p", { className: "notice", role: "alert" }, notice)] : []),
    element("div", { className: "text" }, ...told),
    form,
    element("p", { className: "soft" }, "You took part before? Open the link that you were given then."),
  );
}

/** @param {Standing} standing @param {string} key @param {() => void} begin */
export function instructions(standing, key, begin) {
  return screen(
    "How it works",
    element(
      "ol",
      { className: "text steps" },
      element("li", {}, "You are shown one thing. Imagine that you want to have exactly this one."),
      element(
        "li",
        {},
        "Beside it you see a page of other things. Press the heart on what is like it, and the cross on what is not. After every click a new page comes that should be closer.",
      ),
      element(
        "li",
        {},
        "You can take back a click, and clear what you have judged. That counts as a step, too.",
      ),
      element("li", {}, "When the thing itself is on the page, press “Found it”."),
      element(
        "li",
        {},
        `There are up to ${counted(standing.steps, "step")} for each search. You may not find everything: get as close as you can.`,
      ),
    ),
    element(
      "p",
      {},
      `There are ${counted(standing.trials, "search", "searches")}. You can take a break at any time.`,
    ),
    element("div", { className: "ways" }, primary("Begin", begin)),
    comeBack(key),
  );
}

/** @param {Standing} standing @param {Ended} last @param {string} key @param {() => void} on */
export function between(standing, last, key, on) {
  const left = standing.trials - standing.done;
  const [title, words] = {
    found: ["You found it", `It took ${counted(last.used + 1, "page")}.`],
    "steps used up": ["That was the last step", "This one was hard to find. Thank you for trying."],
    "gave up": ["You gave this one up", "That is fine. It helps us, too."],
  }[last.outcome];
  return screen(
    title,
    element("p", {}, words),
    element("p", {}, `${counted(left, "search", "searches")} to go.`),
    element("div", { className: "ways" }, primary("Next search", on)),
    comeBack(key),
  );
}

/** @param {Standing} standing @param {string} key @param {() => void} on */
export function resting(standing, key, on) {
  return screen(
    "Take your time",
    element(
      "p",
      {},
      `You have done ${standing.done} of ${counted(standing.trials, "search", "searches")}. Everything is kept; you can close this page.`,
    ),
    element("div", { className: "ways" }, primary("Go on", on)),
    comeBack(key),
  );
}

/** @param {Standing} standing @param {string} key */
export function thanks(standing, key) {
  return screen(
    "Thank you",
    element(
      "p",
      {},
      `You have done all ${counted(standing.trials, "search", "searches")}. You can close this page now.`,
    ),
    comeBack(key),
  );
}

export function full() {
  return screen(
    "The study is full",
    element("p", {}, "As many people take part as are needed. Thank you for coming."),
  );
}

export function withdrawn() {
  return screen(
    "You have withdrawn",
    element("p", {}, "Everything that was recorded about you has been deleted."),
  );
}

/** @param {string} words @param {() => void} retry */
export function trouble(words, retry) {
  return screen(
    "That did not work",
    element("p", { role: "alert" }, words),
    element("div", { className: "ways" }, primary("Try again", retry)),
  );
}
