// A study: consent, instructions, one search after the other, and the way out at any time.

import { RefusedError, UnreachableError, errorMessage } from "../api.js";
import { element } from "../dom.js";
import "../seeker.js";
import * as api from "./api.js";
import * as screens from "./screens.js";
import { strings } from "./strings.js";

/** @import { Progress, Trial } from "./api.js" */

/** Milliseconds after which a service that could not be reached is asked again. */
const RETRY_MS = 2000;

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
/** The participant's key; nothing before they have agreed. */
let key = "";
let busy = false;

/** @param {HTMLElement} screen */
function show(screen) {
  main.replaceChildren(screen);
  if (key)
    main.append(
      screens.rightsFooter(
        () => attempt(saveRecords),
        () => attempt(withdraw),
      ),
    );
  const title = screen.querySelector("h1");
  document.title = title?.textContent ?? strings.title;
  title?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Do one thing at a time; whatever fails is told, and can be tried again. @param {() => Promise<void>} action */
async function attempt(action) {
  if (busy) return;
  busy = true;
  try {
    await action();
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404 && key) {
      forgetKey();
      busy = false;
      await attempt(() => showConsent(error.message));
    } else {
      show(screens.errorScreen(errorMessage(error), () => attempt(load)));
    }
  } finally {
    busy = false;
  }
}

function forgetKey() {
  key = "";
  api.storeKey("");
}

/** Begin, or go on where this person has stopped. */
async function load() {
  key = api.loadKey();
  if (!key) return showConsent();
  const progress = await api.progress(key);
  if (progress.current || progress.last) proceed(progress);
  else showInstructions(progress);
}

/** @param {string} [notice] */
async function showConsent(notice = "") {
  const study = await api.studyInfo();
  if (!study.open) return show(screens.fullScreen());
  const join = async () => {
    const participant = await api.join(study.digest);
    key = participant.key;
    api.storeKey(key);
    showInstructions(participant);
  };
  show(screens.consentScreen(study, notice, () => attempt(join)));
}

/** @param {Progress} progress */
function showInstructions(progress) {
  show(screens.instructionsScreen(progress, key, () => attempt(startTrial)));
}

async function startTrial() {
  proceed(await api.startTrial(key));
}

/** @param {Progress} progress */
function proceed(progress) {
  const { current, last } = progress;
  if (current) showTrial(progress, current);
  else if (progress.done >= progress.trials) show(screens.endScreen(progress, key));
  else if (last) show(screens.resultScreen(progress, last, key, () => attempt(startTrial)));
}

/** @param {Progress} progress @param {Trial} trial */
function showTrial(progress, trial) {
  const { number, target } = trial;
  let { used } = trial;
  const giveUp = async () => proceed(await api.stopTrial(key, number));
  const pause = async () => {
    const now = await api.progress(key);
    show(screens.pauseScreen(now, key, () => attempt(load)));
  };
  const screen = screens.trialScreen(
    progress,
    () => attempt(giveUp),
    () => attempt(pause),
  );
  screen.setStepsUsed(used);
  let outdated = false;
  let polling = false;
  // The service counts the steps; here is only shown what it says.
  const refresh = async () => {
    outdated = true;
    if (polling) return;
    polling = true;
    while (outdated && screen.element.isConnected) {
      outdated = false;
      try {
        const now = await api.progress(key);
        if (!screen.element.isConnected) break;
        if (now.current?.number !== number) {
          proceed(now);
        } else {
          used = now.current.used;
          screen.setStepsUsed(used);
        }
      } catch (error) {
        if (!(error instanceof UnreachableError)) {
          attempt(() => Promise.reject(error));
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        outdated = true;
      }
    }
    polling = false;
  };
  screen.search.addEventListener("seeker:session", refresh);
  screen.search.addEventListener("seeker:found", () => {
    screen.hideSearch();
    refresh();
  });
  screen.search.addEventListener("seeker:click", (event) => {
    const { item, verdict } = /** @type {CustomEvent<{item: string, verdict: string}>} */ (event).detail;
    if (used + 1 >= progress.steps || (verdict === "like" && item === target.id)) screen.hideSearch();
    refresh();
  });
  show(screen.element);
}

/** Let somebody have what is recorded about them, as a file. */
async function saveRecords() {
  const json = JSON.stringify(await api.records(key), null, 2);
  const href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  element("a", { href, download: "my-records.json" }).click();
  URL.revokeObjectURL(href);
}

async function withdraw() {
  await api.withdraw(key);
  forgetKey();
  show(screens.withdrawnScreen());
}

// A link to another person's searches may be opened where this page is open already.
addEventListener("hashchange", () => attempt(load));
attempt(load);
