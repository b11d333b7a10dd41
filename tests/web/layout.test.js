// How many columns the grid has, how high its rows are, and which cards of a long list are painted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { gridLayout, paintedRange } from "../../src/seeker/web/components/grid.js";

const DESK = {
  count: 12,
  width: 950,
  screenHeight: 800,
  gap: 16,
  fontSize: 16,
  textOnly: false,
  cardExtra: 64,
  bar: false,
};
const PHONE = { ...DESK, width: 366, screenHeight: 844, gap: 10, cardExtra: 58, bar: true };

test("a page of pictures is seen at once on a desk, in few columns", () => {
  const { columns, rowHeight } = gridLayout(DESK);
  assert.equal(columns, 4);
  assert.ok(84 + rowHeight * 3 <= 800, `three rows of ${rowHeight} pixels`);
});

test("pictures are never higher than wide", () => {
  const { columns, rowHeight } = gridLayout({ ...DESK, count: 4, screenHeight: 3000 });
  assert.equal(columns, 2);
  assert.equal(rowHeight, Math.round((950 - 16) / 2 + 64));
});

test("a phone has two columns, and is scrolled", () => {
  const { columns, rowHeight } = gridLayout(PHONE);
  assert.equal(columns, 2);
  assert.equal(rowHeight, (366 - 10) / 2 + 58);
});

test("the bar takes its height from the rows", () => {
  const heights = [false, true].map((bar) => gridLayout({ ...DESK, bar }).rowHeight);
  assert.ok(heights[1] < heights[0], `${heights}`);
});

test("larger letters mean fewer columns", () => {
  const space = { ...DESK, screenHeight: 300 };
  const columns = [16, 24, 40].map((fontSize) => gridLayout({ ...space, fontSize }).columns);
  assert.deepEqual(columns, [4, 3, 2]);
});

test("texts stand in one column where there is no room for two", () => {
  const texts = { ...PHONE, textOnly: true };
  assert.deepEqual(gridLayout(texts), { columns: 1, rowHeight: 16 * 9.5 + 58 });
  assert.equal(gridLayout({ ...texts, width: 900 }).columns, 4);
});

test("texts use the height there is, and no more than they need", () => {
  for (const screenHeight of [800, 900, 1100, 3000]) {
    const { columns, rowHeight } = gridLayout({ ...DESK, textOnly: true, screenHeight });
    const [least, most] = [9.5, 16].map((lines) => 16 * lines + DESK.cardExtra);
    assert.ok(rowHeight >= least && rowHeight <= most, `${screenHeight}: ${rowHeight}`);
    const left = screenHeight - Math.ceil(DESK.count / columns) * rowHeight;
    assert.ok(left >= 84 && (left < 100 || rowHeight === most), `${screenHeight}: ${left} left`);
  }
});

const LIST = { count: 100_000, columns: 4, rowHeight: 200, screenHeight: 800 };

test("of a long list, what is on screen is painted, and a screen's height beyond", () => {
  assert.deepEqual(paintedRange({ ...LIST, top: 100 }), [0, 32]);
  const top = -1_000_000;
  const [from, to] = paintedRange({ ...LIST, top });
  assert.deepEqual([from, to], [(5000 - 4) * 4, (5000 + 8) * 4]);
});

test("a row that is cut is painted whole", () => {
  const [from, to] = paintedRange({ ...LIST, top: -1_000_050 });
  assert.deepEqual([from, to], [(5000 - 4) * 4, (5001 + 8) * 4]);
});

test("beyond the end there is still the last row, and nothing after it", () => {
  const count = 99_999;
  assert.deepEqual(paintedRange({ ...LIST, count, top: -9_999_999 }), [99_996, 99_999]);
  assert.deepEqual(paintedRange({ ...LIST, count: 0, top: 0 }).at(-1), 0);
});

test("whatever the place, everything on screen is painted", () => {
  for (let top = 500; top > -60_000; top -= 137) {
    const [from, to] = paintedRange({ ...LIST, count: 1001, top });
    const firstOnScreen = Math.max(0, Math.floor(-top / 200)) * 4;
    const lastOnScreen = Math.min(1001, Math.ceil((800 - top) / 200) * 4);
    assert.ok(from <= Math.min(firstOnScreen, 1000) && to >= lastOnScreen, `at ${top}: ${from} to ${to}`);
  }
});
