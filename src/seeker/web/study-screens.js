// What a participant sees, screen by screen.

import { button, element } from "./dom.js";
import { summary } from "./sentences.js";
import { linkOf, records } from "./study-calls.js";

/** @import { Item } from "./types.js" */
/** @import { About, Ended, Standing } from "./study-calls.js" */

/** @param {number} count @param {string} thing */
const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : thing.endsWith("ch") ? "es" : "s"}`;

/** @param {string} title @param {...(Node | string)} children */
function screen(title, ...children) {
  return element("section", { className: "screen" }, element("h1", { tabIndex: -1 }, title), ...children);
}

/** @param {About} study @param {string} notice @param {() => void} agreed */
export function consent(study, notice, agreed) {
  const box = element("input", { type: "checkbox", required: true });
  const form = element("form", { className: "agree" },
    element("label", {}, box, element("span", {}, "I have read this, and I want to take part.")),
    element("button", { className: "primary", type: "submit" }, "Take part"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    agreed();
  });
  // Lines that begin with # are headings; whatever else a text holds is shown as it is.
  const told = study.consent.split(/\n+/).filter((line) => line.trim()).map((line) =>
    line.startsWith("# ") ? element("h2", {}, line.slice(2)) : element("p", {}, line));
  return screen("A study of searching by looking",
    ...(notice ? [element("p", { className: "notice", role: "alert" }, notice)] : []),
    element("div", { className: "text" }, ...told), form,
    element("p", { className: "soft" }, "You took part before? Open the link that you were given then."));
}

/** @param {Standing} standing @param {string} key @param {() => void} begin */
export function instructions(standing, key, begin) {
  return screen("How it works",
    element("ol", { className: "text steps" },
      element("li", {}, "You are shown one thing. Imagine that you want to have exactly this one."),
      element("li", {}, "Beside it you see a page of other things. Press the heart on what is like it, and the cross on what is not. After every click a new page comes that should be closer."),
      element("li", {}, "You can take back a click, and clear what you have judged. That counts as a step, too."),
      element("li", {}, "When the thing itself is on the page, press “Found it”."),
      element("li", {}, `There are up to ${counted(standing.steps, "step")} for each search. You may not find everything: get as close as you can.`)),
    element("p", {}, `There are ${counted(standing.trials, "search")}. You can take a break at any time.`),
    element("div", { className: "ways" }, primary("Begin", begin)),
    comeBack(key));
}

/**
 * @param {Standing} standing
 * @param {() => void} giveUp
 * @param {() => void} pause
 */
export function trial(standing, giveUp, pause) {
  const { current } = standing;
  if (!current) throw new Error("There is no search to show.");
  const { target } = current;
  const title = target.title || target.id;
  const large = element("dialog", { className: "large", ariaLabel: "What you look for" },
    faceOf(target), ...(target.media ? [element("p", {}, title)] : []), button("Close", () => large.close(), { text: "Close" }));
  const open = element("button", { type: "button", className: "face", ariaLabel: `Enlarge ${title}` }, faceOf(target));
  open.addEventListener("click", () => large.showModal());
  const steps = element("p", { className: "count", role: "status" });
  const bar = element("progress", { max: standing.steps, value: 0, ariaLabel: "Steps used" });
  const search = document.createElement("seeker-search");
  search.setAttribute("plain", "");
  search.setAttribute("session", current.session);
  const sought = element("aside", { className: target.media ? "sought" : "sought worded", ariaLabel: "Look for this" },
    element("h1", { tabIndex: -1 }, "Look for this"), open, element("p", { className: "title" }, title),
    element("div", { className: "standing" },
      element("p", { className: "soft" }, `Search ${current.number + 1} of ${standing.trials}`), steps, bar),
    element("div", { className: "ways" }, quiet("Give up this one", giveUp), quiet("Take a break", pause)), large);
  const shown = element("section", { className: "trial", ariaLabel: "Search" }, sought, search);
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

/** @param {Standing} standing @param {Ended} last @param {string} key @param {() => void} on */
export function between(standing, last, key, on) {
  const left = standing.trials - standing.done;
  const [title, words] = {
    "found": ["You found it", `It took ${counted(last.used + 1, "page")}.`],
    "steps used up": ["That was the last step", "This one was hard to find. Thank you for trying."],
    "gave up": ["You gave this one up", "That is fine. It helps us, too."],
  }[last.outcome];
  return screen(title, element("p", {}, words), element("p", {}, `${counted(left, "search")} to go.`),
    element("div", { className: "ways" }, primary("Next search", on)), comeBack(key));
}

/** @param {Standing} standing @param {string} key @param {() => void} on */
export function resting(standing, key, on) {
  return screen("Take your time",
    element("p", {}, `You have done ${standing.done} of ${counted(standing.trials, "search")}. Everything is kept; you can close this page.`),
    element("div", { className: "ways" }, primary("Go on", on)), comeBack(key));
}

/** @param {Standing} standing @param {string} key */
export function thanks(standing, key) {
  return screen("Thank you", element("p", {}, `You have done all ${counted(standing.trials, "search")}. You can close this page now.`), comeBack(key));
}

export function full() {
  return screen("The study is full", element("p", {}, "As many people take part as are needed. Thank you for coming."));
}

export function withdrawn() {
  return screen("You have withdrawn", element("p", {}, "Everything that was recorded about you has been deleted."));
}

/** @param {string} words @param {() => void} retry */
export function trouble(words, retry) {
  return screen("That did not work", element("p", { role: "alert" }, words), element("div", { className: "ways" }, primary("Try again", retry)));
}

/** What a participant may do at any time. @param {string} key @param {() => void} withdraw */
export function rights(key, withdraw) {
  const sure = element("dialog", { ariaLabel: "Withdraw" },
    element("p", {}, "Do you want to withdraw? Everything that was recorded about you is deleted at once, for good."),
    element("div", { className: "ways" },
      button("Delete everything", () => { sure.close(); withdraw(); }, { text: "Delete everything", className: "danger" }),
      button("Keep it", () => sure.close(), { text: "Keep it" })));
  return element("footer", {}, sure,
    quiet("What is recorded about me", () => save(key)), quiet("Withdraw and delete", () => sure.showModal()));
}

/** @param {string} key */
function comeBack(key) {
  const link = element("input", { type: "text", readOnly: true, value: linkOf(key), ariaLabel: "Your link" });
  link.addEventListener("focus", () => link.select());
  const copied = element("span", { className: "soft", role: "status" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(link.value);
      copied.textContent = "Copied.";
    } catch {
      link.select();
      copied.textContent = "It is marked: copy it with your keyboard.";
    }
  }, { text: "Copy" });
  return element("div", { className: "link" },
    element("p", {}, "This browser remembers you. With this link you can also come back from another one; whoever has it sees your searches, so keep it to yourself."),
    element("div", { className: "ways" }, link, copy, copied));
}

/** Save one's own records as a file. @param {string} key */
async function save(key) {
  const written = JSON.stringify(await records(key), null, 2);
  const address = URL.createObjectURL(new Blob([written], { type: "application/json" }));
  element("a", { href: address, download: "my-records.json" }).click();
  URL.revokeObjectURL(address);
}

/** @param {Item} item */
function faceOf(item) {
  if (item.media) return element("img", { src: item.media, alt: item.title || item.id });
  const { lead, rest } = summary(item);
  return element("span", { className: "words" }, element("strong", {}, item.title || item.id),
    ...(rest ? [element("small", {}, rest)] : []), ...(lead ? [element("span", {}, lead)] : []));
}

/** @param {string} text @param {() => void} action */
const primary = (text, action) => button(text, action, { text, className: "primary" });

/** @param {string} text @param {() => void} action */
const quiet = (text, action) => button(text, action, { text, className: "quiet" });
