// What the shop does with the search: a basket, filled from the cards or by what was found.

/** What the shop uses of the element. @typedef {HTMLElement & {start: (options: {like: string[]}) => void, found: (item: string, reason: string) => void}} Search */

const search = /** @type {Search | null} */ (document.querySelector("seeker-search"));
const basket = document.querySelector("[data-basket]");
const empty = document.querySelector("[data-empty]");
const again = /** @type {HTMLButtonElement | null} */ (document.querySelector("[data-again]"));
/** Titles by item. @type {Map<string, string>} */
const goods = new Map();

/** @param {Event} event */
function put(event) {
  const { item, title } = /** @type {CustomEvent<{item: string, title: string}>} */ (event).detail;
  goods.set(item, title || item);
  const entries = [...goods.values()].map((name) => {
    const entry = document.createElement("li");
    entry.textContent = name;
    return entry;
  });
  basket?.replaceChildren(...entries);
  empty?.toggleAttribute("hidden", true);
  if (again) again.hidden = false;
}

search?.addEventListener("seeker:found", put);
// A button of the shop's own, in its template for cards: the search goes on, and counts as one that ended well.
search?.addEventListener("seeker:action", (event) => {
  const { action, item } = /** @type {CustomEvent<{action: string, item: string}>} */ (event).detail;
  if (action === "basket") search.found(item, "basket");
});
again?.addEventListener("click", () => search?.start({ like: [...goods.keys()] }));
