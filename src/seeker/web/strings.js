// What the page says, in the language of the site around it. The sentences stand in languages/, one file for each.

import english from "./languages/en.js";

/** The other languages: each is loaded only where somebody reads it. */
const LANGUAGES = ["ar", "de", "es", "fr", "hi", "it", "ja", "ko", "pl", "pt", "tr", "zh"];

/** The name of a sentence. @typedef {keyof typeof english} Key */
/** The forms of a sentence, by the categories in which its language counts. @typedef {Partial<Record<Intl.LDMLPluralRule, string>> & {other: string}} Forms */
/** @typedef {Partial<Record<string, string | Forms>>} Table */
/** What stands in braces. @template Text @typedef {Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never} Placeholder */
/** What a sentence must be told. @template {Key} Name @typedef {(typeof english)[Name] extends string ? Placeholder<(typeof english)[Name]> : Placeholder<(typeof english)[Name][keyof (typeof english)[Name]]>} Named */
/** @template {Key} Name @typedef {[Named<Name>] extends [never] ? [] : [Record<Named<Name>, string | number>]} Values */
/** A sentence whose middle can be left out where there is little room. @typedef {[string, string, string]} SplitSentence */

/** In which language, as numbers are written in it, and what is said in other words. */
let spoken = { language: "en", locale: "en", table: /** @type {Table} */ (english), messages: "" };

/** The language that the page speaks, and how it is written. */
export const language = () => ({ lang: spoken.language, dir: say("document.direction") });

/**
 * The language in which a site is to be spoken to: its own if it says which, else the reader's, else English.
 *
 * @param {string | null | undefined} site the language of the site
 * @param {readonly string[]} reader the languages that the reader knows, the best first
 * @returns {{language: string, locale: string}} locale: with the region, where one is named
 */
export function chooseLanguage(site, reader) {
  for (const locale of site ? [site] : reader) {
    const language = locale.toLowerCase().split("-")[0] ?? "";
    if (language === "en" || LANGUAGES.includes(language))
      return { language, locale: validLocale(locale, language) };
  }
  return { language: "en", locale: "en" };
}

/** @param {string} locale @param {string} language */
function validLocale(locale, language) {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? language;
  } catch {
    return language;
  }
}

/**
 * Speak a language from now on; what a site says in other words goes before it, and English fills in.
 *
 * @param {{language: string, locale: string}} asked
 * @param {string | null} messages sentences of the site's own by name, in JSON
 * @returns {Promise<boolean>} whether anything has changed by that
 */
export async function speak({ language, locale }, messages) {
  const own = messages ?? "";
  if (spoken.locale === locale && spoken.messages === own) return false;
  const table = language === "en" ? english : await loadTable(language);
  const known = table ? { language, locale, table } : { language: "en", locale: "en", table: english };
  spoken = { ...known, table: { ...english, ...known.table, ...ownSentences(own) }, messages: own };
  return true;
}

/** @param {string} language @returns {Promise<Table | null>} */
async function loadTable(language) {
  try {
    return (await import(new URL(`./languages/${language}.js`, import.meta.url).href)).default;
  } catch {
    return null; // Better in English than not at all.
  }
}

/** @param {string} messages @returns {Table} */
function ownSentences(messages) {
  try {
    return messages ? JSON.parse(messages) : {};
  } catch {
    return {};
  }
}

/** @template {Key} Name @param {Name} name @param {Values<Name>} values @returns {string} */
export const say = (name, ...values) => split(name, ...values).join("");

/** Say a sentence in parts, the second of which can be left out. @template {Key} Name @param {Name} name @param {Values<Name>} values @returns {SplitSentence} */
export function split(name, ...values) {
  const parameters = /** @type {Record<string, string | number>} */ (values[0] ?? {});
  const [begin = "", middle = "", end = ""] = sentence(name, Number(parameters.count)).split(/\[|\]/);
  const fill = (/** @type {string} */ part) =>
    part.replace(/\{(\w+)\}/g, (_, key) => {
      const value = parameters[key];
      return typeof value === "number" ? number(value) : (value ?? "");
    });
  return [fill(begin), fill(middle), fill(end)];
}

/** @param {string} name @param {number} count @returns {string} */
function sentence(name, count) {
  const entry = spoken.table[name] ?? "";
  if (typeof entry === "string") return entry;
  return entry[new Intl.PluralRules(spoken.locale).select(count)] ?? entry.other;
}

/** Say what the service has told by a code; its own words where there are none for it. @param {string | undefined} code @param {string} words */
export function sayProblem(code, words) {
  const name = `problem.${code}`;
  // In English, the service's own words say more.
  if (words && spoken.language === "en" && spoken.table[name] === /** @type {Table} */ (english)[name])
    return words;
  return sentence(name in english ? name : "problem.refused", NaN);
}

/** What people call a view. @param {string} view */
export const viewWord = (view) => sentence(`view.${view}`, NaN);

/** @param {number} value */
export const number = (value) => Math.round(value).toLocaleString(spoken.locale);

/** @param {number} share from 0 to 1 */
export const percent = (share) =>
  new Intl.NumberFormat(spoken.locale, { style: "percent", maximumFractionDigits: 0 }).format(share);

/** A number of an attribute, as its format says. @param {number} value @param {{currency?: string, unit?: string, decimals?: number}} format */
export function amount(value, { currency, unit, decimals }) {
  // Without a word on how it is written, it may be a year: its thousands stay together.
  const plain = !currency && !unit && decimals === undefined;
  if (plain)
    return new Intl.NumberFormat(spoken.locale, { useGrouping: false, maximumFractionDigits: 20 }).format(
      value,
    );
  const digits =
    decimals === undefined ? {} : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const money = currency ? { style: /** @type {const} */ ("currency"), currency } : {};
  const written = new Intl.NumberFormat(spoken.locale, { ...money, ...digits }).format(value);
  return unit ? `${written} ${unit}` : written;
}

/** A day, such as 2024-05-31, as it is written here. @param {string} day */
export const date = (day) =>
  new Intl.DateTimeFormat(spoken.locale, { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day));

/** @param {string[]} values @param {"unit" | "disjunction"} [type] */
export const list = (values, type = "unit") =>
  new Intl.ListFormat(spoken.locale, { type, style: type === "unit" ? "short" : "long" }).format(values);

/** @param {string} text */
export const quote = (text) => say("quote", { text });

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return unit(whole, "second");
  if (whole < 3600) {
    const parts = [
      unit(Math.floor(whole / 60), "minute"),
      ...(whole % 60 ? [unit(whole % 60, "second")] : []),
    ];
    return list(parts);
  }
  if (whole < 86_400) return unit(Math.round(whole / 3600), "hour");
  return unit(Math.round(whole / 86_400), "day");
}

/** @param {number} value @param {"second" | "minute" | "hour" | "day"} name */
const unit = (value, name) =>
  new Intl.NumberFormat(spoken.locale, { style: "unit", unit: name, unitDisplay: "long" }).format(value);
