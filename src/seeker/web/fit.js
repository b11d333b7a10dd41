// How many columns a grid has, and how high its rows are.

/** What stands above the grid; below it, there may be a bar. */
const ABOVE = 84;
export const BAR = 64;
/** A picture may be so much less high than wide, where the whole page is then seen at once. */
const FLATTEST = 0.62;

/**
 * @typedef {object} Room
 * @property {number} count how many items a page has
 * @property {number} width of the grid
 * @property {number} gap between cards
 * @property {number} letter the size of the text
 * @property {boolean} wordy whether the cards hold text only
 * @property {number} around what a card needs beside its face, with the gap
 * @property {boolean} bar whether there is a bar below
 */

/**
 * As few columns as let the whole page be seen at once, so that pictures are large, and otherwise as
 * many as leave them large enough. Twelve cards fill each number of columns evenly.
 *
 * @param {Room} room
 * @returns {{columns: number, row: number}} row: the height of a card with the gap
 */
export function fit({ count, width, gap, letter, wordy, around, bar }) {
  const high = innerHeight - ABOVE - (bar ? BAR : 0);
  const across = (/** @type {number} */ columns) => (width - gap * (columns - 1)) / columns;
  const height = (/** @type {number} */ columns) =>
    Math.round((wordy ? letter * (columns === 1 ? 6.5 : 9.5) : across(columns)) + around);
  const least = (/** @type {number} */ columns) =>
    wordy ? height(columns) : across(columns) * FLATTEST + around;
  const wide = [2, 3, 4, 6].filter((columns) => across(columns) >= letter * (wordy ? 13 : 9.5));
  for (const columns of wide) {
    const share = Math.floor(high / Math.ceil(count / columns));
    if (share >= least(columns)) return { columns, row: Math.min(share, height(columns)) };
  }
  const columns = wide.at(-1) ?? (wordy ? 1 : 2);
  return { columns, row: height(columns) };
}
