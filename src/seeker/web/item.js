// An item in words: what it is called, where it can be looked at, and what its attributes say.

/** @import { Item } from "./types.js" */

/** Texts longer than this are for reading, shorter ones are facts. */
const SHORT = 40;
/** As many facts as go with a title. */
const FACTS = 3;

/** @param {Item} item */
export const titleOf = (item) => item.title || item.id;

/** @param {unknown} value @returns {value is string} whether it leads to a page */
export const isAddress = (value) => typeof value === "string" && /^https?:\/\/\S+$/.test(value);

/** Where the item can be looked at: its own page, or at least its picture. @param {Item} item */
export const itemAddress = (item) => Object.values(item.attributes).find(isAddress) ?? item.media;

/** What is known of an item, by attribute. @param {Item} item */
export const known = (item) =>
  Object.entries(item.attributes).filter(([, value]) => value !== null && value !== "");

/** Say what an item is beside its title: a lead of its longest text, and a few facts. @param {Item} item */
export function summary(item) {
  const told = known(item).filter(([, value]) => !isAddress(value));
  const texts = told.flatMap(([, value]) =>
    typeof value === "string" && value.length > SHORT ? [value] : [],
  );
  const lead = texts.sort((a, b) => b.length - a.length)[0] ?? "";
  const facts = told
    .map(([name, value]) => fact(attributeName(name), value))
    .filter((one) => one !== "" && one.length <= SHORT)
    .slice(0, FACTS);
  return { lead, facts };
}

/** An attribute in few words: a number or a yes says nothing without its name, a no says nothing. @param {string} name @param {unknown} value */
function fact(name, value) {
  if (typeof value === "boolean") return value ? name : "";
  return typeof value === "number" ? `${name} ${value}` : plain(value);
}

/** @param {unknown} value a value of an attribute */
export function plain(value) {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

/** @param {string} name an attribute */
export const attributeName = (name) => name.replaceAll("_", " ");
