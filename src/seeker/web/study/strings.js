// Every text of a study that people read or hear, beside those of the search itself.

/** What stands in index.html before a module has run; the server writes it there. */
export const documentStrings = {
  language: "en",
  title: "A study",
  noscript: "This study needs JavaScript.",
};

const PLURALS = new Intl.PluralRules(documentStrings.language);

/** A number with its noun. @param {number} count @param {{one: string, other: string}} forms */
const plural = (count, forms) =>
  `${count.toLocaleString(documentStrings.language)} ${forms[PLURALS.select(count) === "one" ? "one" : "other"]}`;

const STEPS = { one: "step", other: "steps" };
const PAGES = { one: "page", other: "pages" };
const SEARCHES = { one: "search", other: "searches" };

export const strings = {
  title: documentStrings.title,
  close: "Close",
  tryAgain: "Try again",
  failed: "That did not work",

  consent: {
    title: "A study of searching by looking",
    agree: "I have read this, and I want to take part.",
    submit: "Take part",
    returning: "You took part before? Open the link that you were given then.",
  },

  instructions: {
    title: "How it works",
    /** @param {number} steps */
    list: (steps) => [
      "You are shown one thing. Imagine that you want to have exactly this one.",
      "Beside it you see a page of other things. Press the heart on what is like it, and the cross on what is not. After every click a new page comes that should be closer.",
      "You can take back a click, and clear what you have judged. That counts as a step, too.",
      "When the thing itself is on the page, press “Found it”.",
      `There are up to ${plural(steps, STEPS)} for each search. You may not find everything: get as close as you can.`,
    ],
    /** @param {number} trials */
    trials: (trials) => `There are ${plural(trials, SEARCHES)}. You can take a break at any time.`,
    begin: "Begin",
  },

  link: {
    explanation:
      "This browser remembers you. With this link you can also come back from another one; whoever has it sees your searches, so keep it to yourself.",
    label: "Your link",
  },

  rights: {
    records: "What is recorded about me",
    withdraw: "Withdraw and delete",
    label: "Withdraw",
    question: "Do you want to withdraw? Everything that was recorded about you is deleted at once, for good.",
    delete: "Delete everything",
    keep: "Keep it",
    withdrawn: "You have withdrawn",
    deleted: "Everything that was recorded about you has been deleted.",
  },

  trial: {
    label: "Search",
    target: "Look for this",
    largeTarget: "What you look for",
    /** @param {string} title */
    enlarge: (title) => `Enlarge ${title}`,
    stepsUsed: "Steps used",
    /** @param {number} number @param {number} trials */
    number: (number, trials) => `Search ${number} of ${trials}`,
    /** @param {number} step @param {number} steps */
    step: (step, steps) => `Step ${step} of ${steps}`,
    giveUp: "Give up this one",
    pause: "Take a break",
  },

  result: {
    found: "You found it",
    /** @param {number} pages */
    foundText: (pages) => `It took ${plural(pages, PAGES)}.`,
    stepsUsedUp: "That was the last step",
    stepsUsedUpText: "This one was hard to find. Thank you for trying.",
    gaveUp: "You gave this one up",
    gaveUpText: "That is fine. It helps us, too.",
    /** @param {number} trials */
    left: (trials) => `${plural(trials, SEARCHES)} to go.`,
    next: "Next search",
  },

  pause: {
    title: "Take your time",
    /** @param {number} done @param {number} trials */
    text: (done, trials) =>
      `You have done ${done} of ${plural(trials, SEARCHES)}. Everything is kept; you can close this page.`,
    resume: "Go on",
  },

  end: {
    title: "Thank you",
    /** @param {number} trials */
    text: (trials) => `You have done all ${plural(trials, SEARCHES)}. You can close this page now.`,
    full: "The study is full",
    fullText: "As many people take part as are needed. Thank you for coming.",
  },

  errors: {
    noTrial: "There is no search to show.",
  },
};
