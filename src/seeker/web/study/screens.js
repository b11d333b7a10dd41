// What a participant sees, screen by screen.

import { itemFace, itemTitle } from "../components/card.js";
import { createCopyButton } from "../components/dialogs.js";
import { element, textButton } from "../dom.js";
import { participantUrl } from "./api.js";
import { strings } from "./strings.js";

/** @import { Progress, StudyInfo, TrialResult } from "./api.js" */

/** @param {string} title @param {...(Node | string)} children */
function screen(title, ...children) {
  return element("section", { className: "screen" }, element("h1", { tabIndex: -1 }, title), ...children);
}

/** @param {string} text */
const paragraph = (text) => element("p", {}, text);

/** @param {...Node} children */
const buttonRow = (...children) => element("div", { className: "ways" }, ...children);

/** @param {string} text @param {() => void} action */
const primaryButton = (text, action) => textButton(text, action, { className: "primary" });

/** @param {string} text @param {() => void} action */
const quietButton = (text, action) => textButton(text, action, { className: "quiet" });

/** The link that leads back. @param {string} key */
function linkSection(key) {
  const link = element("input", {
    type: "text",
    readOnly: true,
    value: participantUrl(key),
    "aria-label": strings.link.label,
    onfocus: () => link.select(),
  });
  const { copyButton, feedback } = createCopyButton(
    () => link.value,
    () => link.select(),
  );
  return element(
    "div",
    { className: "link" },
    paragraph(strings.link.explanation),
    buttonRow(link, copyButton, feedback),
  );
}

/** What a participant may do at any time. @param {() => void} save @param {() => void} withdraw */
export function rightsFooter(save, withdraw) {
  const texts = strings.rights;
  const deleteAll = () => {
    dialog.close();
    withdraw();
  };
  const dialog = element(
    "dialog",
    { "aria-label": texts.label },
    paragraph(texts.question),
    buttonRow(
      textButton(texts.delete, deleteAll, { className: "danger" }),
      textButton(texts.keep, () => dialog.close()),
    ),
  );
  return element(
    "footer",
    {},
    dialog,
    quietButton(texts.records, save),
    quietButton(texts.withdraw, () => dialog.showModal()),
  );
}

/** @param {StudyInfo} study @param {string} notice @param {() => void} onAgree */
export function consentScreen(study, notice, onAgree) {
  const texts = strings.consent;
  const form = element(
    "form",
    { className: "agree" },
    element(
      "label",
      {},
      element("input", { type: "checkbox", required: true }),
      element("span", {}, texts.agree),
    ),
    element("button", { className: "primary", type: "submit" }, texts.submit),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onAgree();
  });
  // Lines that begin with # are headings; whatever else a text holds is shown as it is.
  const lines = study.consent
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => (line.startsWith("# ") ? element("h2", {}, line.slice(2)) : paragraph(line)));
  return screen(
    texts.title,
    ...(notice ? [element("p", { className: "notice", role: "alert" }, notice)] : []),
    element("div", { className: "text" }, ...lines),
    form,
    element("p", { className: "soft" }, texts.returning),
  );
}

/** @param {Progress} progress @param {string} key @param {() => void} onBegin */
export function instructionsScreen(progress, key, onBegin) {
  const texts = strings.instructions;
  return screen(
    texts.title,
    element(
      "ol",
      { className: "text steps" },
      ...texts.list(progress.steps).map((text) => element("li", {}, text)),
    ),
    paragraph(texts.trials(progress.trials)),
    buttonRow(primaryButton(texts.begin, onBegin)),
    linkSection(key),
  );
}

/** @param {Progress} progress @param {TrialResult} result @param {string} key @param {() => void} onNext */
export function resultScreen(progress, result, key, onNext) {
  const texts = strings.result;
  const [title, text] = {
    found: [texts.found, texts.foundText(result.used + 1)],
    "steps used up": [texts.stepsUsedUp, texts.stepsUsedUpText],
    "gave up": [texts.gaveUp, texts.gaveUpText],
  }[result.outcome];
  return screen(
    title,
    paragraph(text),
    paragraph(texts.left(progress.trials - progress.done)),
    buttonRow(primaryButton(texts.next, onNext)),
    linkSection(key),
  );
}

/** @param {Progress} progress @param {string} key @param {() => void} onResume */
export function pauseScreen(progress, key, onResume) {
  const texts = strings.pause;
  return screen(
    texts.title,
    paragraph(texts.text(progress.done, progress.trials)),
    buttonRow(primaryButton(texts.resume, onResume)),
    linkSection(key),
  );
}

/** @param {Progress} progress @param {string} key */
export const endScreen = (progress, key) =>
  screen(strings.end.title, paragraph(strings.end.text(progress.trials)), linkSection(key));

export const fullScreen = () => screen(strings.end.full, paragraph(strings.end.fullText));

export const withdrawnScreen = () => screen(strings.rights.withdrawn, paragraph(strings.rights.deleted));

/** @param {string} message @param {() => void} retry */
export function errorScreen(message, retry) {
  return screen(
    strings.failed,
    element("p", { role: "alert" }, message),
    buttonRow(primaryButton(strings.tryAgain, retry)),
  );
}

/**
 * One search: what is looked for, beside the page to look through.
 *
 * @param {Progress} progress
 * @param {() => void} giveUp
 * @param {() => void} pause
 */
export function trialScreen(progress, giveUp, pause) {
  const texts = strings.trial;
  const { current } = progress;
  if (!current) throw new Error(strings.errors.noTrial);
  const { target } = current;
  const title = itemTitle(target);
  const largeTarget = element(
    "dialog",
    { className: "large", "aria-label": texts.largeTarget },
    itemFace(target, title),
    ...(target.media ? [paragraph(title)] : []),
    textButton(strings.close, () => largeTarget.close()),
  );
  const face = element(
    "button",
    { type: "button", className: "face", "aria-label": texts.enlarge(title) },
    itemFace(target),
  );
  face.addEventListener("click", () => largeTarget.showModal());
  const steps = element("p", { className: "count", role: "status" });
  const bar = element("progress", { max: progress.steps, value: 0, "aria-label": texts.stepsUsed });
  const search = document.createElement("seeker-search");
  search.setAttribute("plain", "");
  search.setAttribute("session", current.session);
  const aside = element(
    "aside",
    { className: target.media ? "sought" : "sought worded", "aria-label": texts.target },
    element("h1", { tabIndex: -1 }, texts.target),
    face,
    element("p", { className: "title" }, title),
    element(
      "div",
      { className: "standing" },
      element("p", { className: "soft" }, texts.number(current.number + 1, progress.trials)),
      steps,
      bar,
    ),
    buttonRow(quietButton(texts.giveUp, giveUp), quietButton(texts.pause, pause)),
    largeTarget,
  );
  return {
    element: element("section", { className: "trial", "aria-label": texts.label }, aside, search),
    search,
    /** @param {number} used */
    setStepsUsed(used) {
      steps.textContent = texts.step(Math.min(used + 1, progress.steps), progress.steps);
      bar.value = used;
    },
    /** Show no further page: this one is not part of the search. */
    hideSearch() {
      search.hidden = true;
    },
  };
}
