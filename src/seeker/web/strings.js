// Every text of the page that people read or hear. A language is this file, and nothing else of the page.

/** What stands in index.html before a module has run; the server writes it there. */
export const documentStrings = {
  language: "en",
  title: "Seeker",
  description: "Finds the thing you have in mind but cannot put into words.",
  loading: "Seeker is on its way. If nothing comes, load the page again.",
  noscript: "Seeker's page needs JavaScript. Programs find the HTTP interface at /docs.",
};

const LANGUAGE = documentStrings.language;
const PLURALS = new Intl.PluralRules(LANGUAGE);

/** The forms of a noun, by the categories of its language. @typedef {Partial<Record<Intl.LDMLPluralRule, string>> & {other: string}} Forms */

/** @param {number} value */
const number = (value) => Math.round(value).toLocaleString(LANGUAGE);

/** A number of an attribute, as its format says. @param {number} value @param {{currency?: string, unit?: string, decimals?: number}} format */
function amount(value, { currency, unit, decimals }) {
  if (!currency && !unit && decimals === undefined) return String(value);
  const digits =
    decimals === undefined ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const money = currency ? { style: /** @type {const} */ ("currency"), currency } : {};
  const written = new Intl.NumberFormat(LANGUAGE, { ...money, ...digits }).format(value);
  return unit ? `${written} ${unit}` : written;
}

/** A number with its noun. @param {number} count @param {Forms} forms */
export const plural = (count, forms) => `${number(count)} ${forms[PLURALS.select(count)] ?? forms.other}`;

const ITEMS = { one: "item", other: "items" };
const STEPS = { one: "step", other: "steps" };
const SECONDS = { one: "second", other: "seconds" };
const MINUTES = { one: "minute", other: "minutes" };
const HOURS = { one: "hour", other: "hours" };
const DAYS = { one: "day", other: "days" };
const PASSING = " that pass your filters";
const HOW_TO = "Like what comes close to what you have in mind, dislike what does not.";

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 60) return plural(Math.max(1, Math.round(seconds)), SECONDS);
  if (seconds < 3600) {
    const whole = Math.round(seconds);
    const rest = whole % 60;
    return plural(Math.floor(whole / 60), MINUTES) + (rest ? ` and ${plural(rest, SECONDS)}` : "");
  }
  if (seconds < 86_400) return `about ${plural(Math.round(seconds / 3600), HOURS)}`;
  return `about ${plural(Math.round(seconds / 86_400), DAYS)}`;
}

/** A sentence whose middle can be left out where there is little room. @typedef {[string, string, string]} SplitSentence */

/** @param {string} sentence @returns {SplitSentence} */
const whole = (sentence) => [sentence, "", ""];

export const strings = {
  number,
  amount,
  /** @param {string} text */
  quote: (text) => `“${text}”`,
  /** @param {string[]} values */
  list: (values) => values.join(", "),
  yes: "yes",
  no: "no",
  close: "Close",
  tryAgain: "Try again",
  startAnew: "Start anew",
  share: "Share",
  help: "Help",
  foundIt: "Found it",
  /** @param {string} title */
  foundThis: (title) => `Found it: ${title}`,
  whyThis: "Why this?",
  moreLikeThis: "More like this",
  thinking: "Thinking…",

  app: {
    brand: documentStrings.title,
    howTo: HOW_TO,
    shared: "You are looking at a search that somebody has shared with you.",
    continue: "Continue from here",
  },

  card: {
    items: "Items",
    /** In place of a title that is still on its way. */
    loading: "…",
    separator: " · ",
    /** @param {string} description */
    open: (description) => `Open ${description}`,
    /** @param {string} title */
    why: (title) => `Why this? ${title}`,
    /** @param {string} title */
    like: (title) => `Like ${title}`,
    /** @param {string} title */
    dislike: (title) => `Dislike ${title}`,
    /** @param {string} title */
    similar: (title) => `More like this: ${title}`,
    /** What a picture of one's own is called. */
    example: "your picture",
  },

  ranking: {
    more: "Explore more",
    partial: "Part of the catalog cannot be asked just now: better items may be missing.",
    partialEnd: "That is all that can be shown just now.",
    /** @param {number} total */
    end: (total) => `That is all there is: ${plural(total, ITEMS)}.`,
    /** Said to those who cannot see it; never twice the same, which would not be read. @param {number} step @param {number} items */
    newPage: (step, items) => `Step ${step}: a new page of ${plural(items, ITEMS)}.`,
    /** @param {number} items */
    startAgain: (items) => `At the start again, with ${plural(items, ITEMS)}.`,
  },

  panel: {
    label: "Your search",
    undo: "Undo",
    redo: "Redo",
    surprise: "Surprise me",
    /** @param {number} likes @param {number} dislikes */
    counts: (likes, dislikes) => `Your search: ${likes} liked, ${dislikes} disliked`,
    liked: "Liked",
    disliked: "Disliked",
    likedHint: "What comes close",
    dislikedHint: "What does not",
    /** @param {string} title */
    clear: (title) => `Clear ${title}`,
    steps: "Steps",
    yourSteps: "Your steps",
    start: "Start",
    theStart: "the start",
    /** @param {number} step @param {string} description */
    step: (step, description) => `step ${step}: ${description}`,
    /** @param {string} step */
    goBack: (step) => `Go back to ${step}`,
    /** @param {string} step */
    goForward: (step) => `Go forward to ${step}`,
  },

  /** What happened in one step. */
  history: {
    /** @param {string} title */
    like: (title) => `Liked ${title}`,
    /** @param {string} title */
    dislike: (title) => `Disliked ${title}`,
    /** @param {string} title */
    clear: (title) => `Cleared ${title}`,
    /** @param {string} title */
    example: (title) => `Asked for more like ${title}`,
    /** @param {string} text */
    say: (text) => `Said “${text}”`,
    /** @param {string} text */
    unsay: (text) => `Took back “${text}”`,
    filter: "Filtered",
    noFilter: "Removed the filters",
    focus: "Said what matters",
    surprise: "Asked for surprises",
    noSurprise: "As usual again",
    /** @param {string} title */
    found: (title) => `Found ${title}`,
    other: "Something else",
  },

  belief: {
    label: "Where the search stands",
    /** @param {string} sentence */
    drawing: (sentence) => `Where the search stands: ${sentence}`,
    found: whole("Found."),
    nothing: whole("Nothing is left to choose from."),
    thinking: whole("Thinking…"),
    /** @param {number} total @param {boolean} filtered @returns {SplitSentence} */
    start: (total, filtered) => [plural(total, ITEMS), `${filtered ? PASSING : ""} to choose from`, "."],
    howTo: HOW_TO,
    veryProbable: whole("It is very probably on this page."),
    probable: whole("It is probably on this page."),
    closer: whole("Getting closer: it may come within three pages."),
    looking: whole("Still looking."),
    beginning: "Every like and dislike helps.",
    /** What people call the views that a catalog may have. @type {Record<string, string>} */
    views: { image: "looks", colour: "colour", color: "colour", text: "theme", attributes: "kind" },
    /** @param {string} view */
    similar: (view) => `For you, similar means ${view}.`,
    /** @param {string} view */
    mostlySimilar: (view) => `For you, similar means mostly ${view}.`,
    /** @param {string} first @param {string} second */
    similarInTwo: (first, second) => `For you, similar means ${first} and ${second}.`,
    learning: "Learning what similar means for you.",
    /** What a view is called that was learned from past searches. */
    learned: "experience",
    whatMatters: "What matters",
    focus: { matters: "matters", usual: "as it is", never: "does not matter" },
    /** @param {string} view @param {number} percent */
    weight: (view, percent) => `${view}: ${percent} %`,
  },

  filters: {
    label: "Filters",
    chips: "In effect",
    /** @param {string} description */
    remove: (description) => `Remove ${description}`,
    /** @param {string} attribute */
    showAll: (attribute) => `Show all of ${attribute}`,
    /** @param {number} count */
    more: (count) => `${number(count)} more`,
    /** @param {string} value @param {string} count */
    value: (value, count) => `${value} (${count})`,
    from: "from",
    to: "to",
    /** @param {string} attribute */
    lowest: (attribute) => `lowest ${attribute}`,
    /** @param {string} attribute */
    highest: (attribute) => `highest ${attribute}`,
    /** @param {string} attribute @param {string} low @param {string} high */
    between: (attribute, low, high) => `${attribute}: ${low} to ${high}`,
    /** @param {string} attribute @param {string} low */
    atLeast: (attribute, low) => `${attribute}: from ${low}`,
    /** @param {string} attribute @param {string} high */
    atMost: (attribute, high) => `${attribute}: up to ${high}`,
    /** @param {string} attribute @param {string[]} values */
    oneOf: (attribute, values) => `${attribute}: ${values.join(", ")}`,
  },

  searchBox: {
    label: "Words",
    describe: "Describe it, if you can",
    addWords: "Add words, such as “in blue”",
    picture: "Search with a picture of your own",
    catalog: "Catalog",
    /** @param {string} name @param {number} items */
    catalogSize: (name, items) => `${name} (${number(items)})`,
  },

  words: {
    /** @param {string} word @param {string} term */
    corrected: (word, term) => `“${word}” is read as “${term}”.`,
    /** @param {string[]} words */
    unknown: (words) => `Nothing is called ${words.map((word) => `“${word}”`).join(" or ")}.`,
    /** @param {string[]} titles */
    nearest: (titles) => `Nearest by meaning: ${titles.join(", ")}.`,
    byMeaning: "The items are ordered by what the words mean.",
    useless: "These words change nothing.",
  },

  detail: {
    like: "Like",
    dislike: "Dislike",
    /** @param {string[]} texts */
    wordsCount: (texts) => `Your words count too: ${texts.map((text) => `“${text}”`).join(", ")}.`,
    noEvidence: "Nothing speaks for or against it yet: it is here to show you what there is.",
    weakEvidence: "None of your likes and dislikes says much about it: it is here to try another direction.",
    pro: "What speaks for it",
    /** @param {string} view */
    byView: (view) => `by its ${view}`,
    contra: "What speaks against it",
    /** @param {string} title */
    liked: (title) => `You liked ${title}`,
    /** @param {string} title */
    disliked: (title) => `You disliked ${title}`,
  },

  result: {
    label: "Found",
    youFoundIt: "You found it",
    atFirstSight: "At first sight.",
    /** @param {number} steps */
    steps: (steps) => `In ${plural(steps, STEPS)}.`,
    /** @param {number} steps @param {number} seconds */
    stepsAndTime: (steps, seconds) => `In ${plural(steps, STEPS)} and ${duration(seconds)}.`,
    open: "Open the item",
    keepLooking: "Keep looking",
    searchElse: "Search for something else",
    path: "The way there",
  },

  dialogs: {
    howItWorks: "How it works",
    explanation:
      "Think of something. Like what comes close to it, dislike what does not: every click brings a better page. When you see it, open it and press Found it.",
    pictures:
      "Have a picture of it, or of something like it? Drop it here, paste it, or choose it beside the box for words: only what it looks like is kept, for as long as this search.",
    swipe: "On a touch screen, swipe a card to the right to like it, to the left to dislike it.",
    keys: "Keys",
    /** @type {[string, string][]} */
    shortcuts: [
      ["← → ↑ ↓", "go from item to item"],
      ["L or +", "like it"],
      ["D or −", "dislike it"],
      ["Enter", "open it"],
      ["U", "undo"],
      ["R", "redo"],
      ["/", "type words"],
      ["?", "this help"],
    ],
    shareThis: "Share this search",
    shareExplanation:
      "Whoever has this link sees the search as it stands, and can go on from there on their own. Nobody can change yours.",
    link: "Link to this search",
    copy: "Copy",
    copied: "Copied.",
    copyByHand: "Your browser does not let pages copy: the link is marked, copy it by hand.",
  },

  status: {
    unsent: " What you did is kept, and sent as soon as that works again.",
    slow: "This takes longer than usual. Please wait a moment.",
    conflict:
      "This search has gone on in another window. Here is where it stands; what you did last was not counted.",
    itemGone:
      "This one has just left the collection. Here is what there is now; what you said before still counts.",
    gone: "This search is no longer kept.",
    goneText: "Searches are forgotten after a while without a click.",
    failed: "That did not work.",
    exhausted: "Nothing is left.",
    exhaustedText: "You have rated everything there is.",
    undoLast: "Undo the last",
    filteredOut: "Nothing passes these filters.",
    filteredOutText: "Remove some of them, or all.",
    removeFilters: "Remove the filters",
  },

  errors: {
    unreachable: "Seeker cannot be reached just now.",
    noSearch: "No search is open.",
    filter: "The filter that this site asks for cannot be read, so all items are shown.",
    /** @param {string} name @param {number} status */
    stylesheet: (name, status) => `The stylesheet ${name} could not be had: ${status}.`,
  },
};
