// A study: consent, instructions, one search after the other, and the way out at any time.

import "./seeker.js";
import { Refusal, Unreachable, wordsOf } from "./asking.js";
import { element } from "./dom.js";
import * as calls from "./study-calls.js";
import { rights } from "./study-parts.js";
import * as screens from "./study-screens.js";
import { trial } from "./study-trial.js";

/** @import { Standing } from "./study-calls.js" */

/** Milliseconds after which a service that could not be reached is asked again. */
const AGAIN = 2000;

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
let key = "";
let under = false;

/** @param {HTMLElement} screen */
function show(screen) {
  main.replaceChildren(screen);
  const takesPart = key !== "";
  if (takesPart)
    main.append(
      rights(
        () => attempt(save),
        () => attempt(withdraw),
      ),
    );
  const title = screen.querySelector("h1");
  document.title = title?.textContent ?? "A study";
  title?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Do one thing at a time; whatever fails is told, and can be tried again. @param {() => Promise<void>} action */
async function attempt(action) {
  if (under) return;
  under = true;
  try {
    await action();
  } catch (problem) {
    if (problem instanceof Refusal && problem.status === 404 && key) {
      forget();
      under = false;
      await attempt(() => consent(problem.message));
    } else {
      show(screens.trouble(wordsOf(problem), () => attempt(arrive)));
    }
  } finally {
    under = false;
  }
}

function forget() {
  key = "";
  calls.keep("");
}

/** Begin, or go on where this person has stopped. */
async function arrive() {
  key = calls.ownKey();
  if (!key) return consent();
  const standing = await calls.standing(key);
  if (standing.current || standing.last) proceed(standing);
  else instruct(standing);
}

/** @param {string} [notice] */
async function consent(notice = "") {
  const study = await calls.about();
  if (!study.open) return show(screens.full());
  show(
    screens.consent(study, notice, () =>
      attempt(async () => {
        const joined = await calls.join(study.digest);
        key = joined.key;
        calls.keep(key);
        instruct(joined);
      }),
    ),
  );
}

/** @param {Standing} standing */
function instruct(standing) {
  show(screens.instructions(standing, key, () => attempt(next)));
}

async function next() {
  proceed(await calls.next(key));
}

/** @param {Standing} standing */
function proceed(standing) {
  if (standing.current) search(standing);
  else if (standing.done >= standing.trials) show(screens.thanks(standing, key));
  else if (standing.last) show(screens.between(standing, standing.last, key, () => attempt(next)));
}

/** @param {Standing} standing */
function search(standing) {
  const { current } = standing;
  if (!current) return;
  const { number, target } = current;
  let { used } = current;
  const screen = trial(
    standing,
    () => attempt(async () => proceed(await calls.giveUp(key, number))),
    () =>
      attempt(async () => {
        const now = await calls.standing(key);
        show(screens.resting(now, key, () => attempt(arrive)));
      }),
  );
  screen.count(used);
  let wanted = false;
  let looking = false;
  // The service counts the steps; here is only shown what it says.
  const look = async () => {
    wanted = true;
    if (looking) return;
    looking = true;
    while (wanted && screen.shown.isConnected) {
      wanted = false;
      try {
        const now = await calls.standing(key);
        if (!screen.shown.isConnected) break;
        if (now.current?.number !== number) {
          proceed(now);
        } else {
          used = now.current.used;
          screen.count(used);
        }
      } catch (problem) {
        if (!(problem instanceof Unreachable)) {
          attempt(() => Promise.reject(problem));
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN));
        wanted = true;
      }
    }
    looking = false;
  };
  screen.search.addEventListener("seeker:session", look);
  screen.search.addEventListener("seeker:found", () => {
    screen.end();
    look();
  });
  screen.search.addEventListener("seeker:click", (event) => {
    const { item, verdict } = /** @type {CustomEvent<{item: string, verdict: string}>} */ (event).detail;
    if (used + 1 >= standing.steps || (verdict === "like" && item === target.id)) screen.end();
    look();
  });
  show(screen.shown);
}

/** Let somebody have what is recorded about them, as a file. */
async function save() {
  const written = JSON.stringify(await calls.records(key), null, 2);
  const href = URL.createObjectURL(new Blob([written], { type: "application/json" }));
  element("a", { href, download: "my-records.json" }).click();
  URL.revokeObjectURL(href);
}

async function withdraw() {
  await calls.withdraw(key);
  forget();
  show(screens.withdrawn());
}

// A link to another person's searches may be opened where this page is open already.
addEventListener("hashchange", () => attempt(arrive));
attempt(arrive);
