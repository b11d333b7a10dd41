// What the shop does with the search: an item that was found goes into the basket.

const search = document.querySelector("seeker-search");
const basket = document.querySelector("#basket");

search?.addEventListener("seeker:found", (event) => {
  const { item, title } = /** @type {CustomEvent} */ (event).detail;
  if (basket) basket.textContent = `One ${title || item}.`;
});
