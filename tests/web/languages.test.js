// Every language says everything, tells what it is told, and counts as its people do.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import {
  chooseLanguage,
  date,
  duration,
  language,
  list,
  percent,
  say,
  sayProblem,
  speak,
  split,
} from "../../src/seeker/web/strings.js";

const FOLDER = new URL("../../src/seeker/web/languages/", import.meta.url);
const TAGS = readdirSync(FOLDER).map((file) => file.replace(".js", ""));
const tables = Object.fromEntries(
  await Promise.all(
    TAGS.map(async (tag) => [tag, (await import(new URL(`${tag}.js`, FOLDER).href)).default]),
  ),
);
const forms = (sentence) => (typeof sentence === "string" ? [sentence] : Object.values(sentence));
const placeholders = (text) => new Set(text.match(/\{\w+\}/g));

for (const tag of TAGS)
  test(`${tag} has the same sentences as English, with the same to be put in`, () => {
    assert.deepEqual(Object.keys(tables[tag]).sort(), Object.keys(tables.en).sort());
    for (const [name, sentence] of Object.entries(tables[tag])) {
      const [english] = forms(tables.en[name]);
      assert.equal(typeof sentence, typeof tables.en[name], name);
      const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
      if (typeof sentence !== "string")
        assert.deepEqual(new Set(Object.keys(sentence)), new Set(pluralCategories), name);
      for (const form of forms(sentence)) {
        const wanted = placeholders(english);
        // One, two or none may be a word.
        const own = placeholders(form);
        if (typeof sentence !== "string" && !own.has("{count}")) wanted.delete("{count}");
        assert.deepEqual(own, wanted, name);
        assert.match(form, /^[^[\]]*(\[[^[\]]*\][^[\]]*)?$/, name);
        assert.ok(form.trim() || name === "card.separator", name);
      }
    }
  });

test("the page names the languages there are", () => {
  const source = readFileSync(new URL("../strings.js", FOLDER), "utf-8");
  const named = JSON.parse(source.match(/const LANGUAGES = (\[[^\]]*\])/)?.[1] ?? "[]");
  assert.deepEqual(["en", ...named].sort(), TAGS);
});

test("the site's language comes first, then the reader's, then English", () => {
  assert.deepEqual(chooseLanguage("de-CH", ["fr"]), { language: "de", locale: "de-CH" });
  assert.deepEqual(chooseLanguage("", ["sv", "fr-CA", "de"]), { language: "fr", locale: "fr-CA" });
  assert.deepEqual(chooseLanguage("sv", ["de"]), { language: "en", locale: "en" });
  assert.deepEqual(chooseLanguage("de-!", []), { language: "de", locale: "de" });
  assert.deepEqual(chooseLanguage(null, []), { language: "en", locale: "en" });
});

test("counts, numbers, days and lists are written as the language does", async () => {
  await speak({ language: "pl", locale: "pl" }, null);
  const pages = [1, 3, 5, 22].map((count) => say("ranking.end", { count }));
  assert.deepEqual(
    pages.map((text) => text.match(/pozycj\S*/)?.[0]),
    ["pozycja.", "pozycje.", "pozycji.", "pozycje."],
  );
  await speak({ language: "de", locale: "de" }, null);
  assert.deepEqual(split("belief.start", { count: 12345 }), ["12.345 Einträge", " zur Auswahl", "."]);
  assert.equal(date("2024-05-31"), "31.05.2024");
  assert.equal(duration(65), "1 Minute, 5 Sekunden");
  assert.equal(percent(0.256).replace(/\s/, " "), "26 %");
  assert.equal(list(["„a“", "„b“"], "disjunction"), "„a“ oder „b“");
  await speak({ language: "ar", locale: "ar" }, null);
  assert.deepEqual(language(), { lang: "ar", dir: "rtl" });
  await speak({ language: "en", locale: "en" }, null);
});

test("a site says it in other words; what it leaves out, and what cannot be read, falls back", async () => {
  const own = JSON.stringify({
    startAnew: "Once more",
    "result.steps": { one: "{count} click", other: "{count} clicks" },
  });
  assert.equal(await speak({ language: "de", locale: "de" }, own), true);
  assert.equal(await speak({ language: "de", locale: "de" }, own), false);
  assert.equal(say("startAnew"), "Once more");
  assert.equal(say("result.steps", { count: 2 }), "2 clicks");
  assert.equal(say("help"), "Hilfe");
  await speak({ language: "de", locale: "de" }, "{startAnew}");
  assert.equal(say("startAnew"), "Neu beginnen");
  // A language that cannot be had is English.
  await speak({ language: "xx", locale: "xx" }, null);
  assert.deepEqual(language(), { lang: "en", dir: "ltr" });
});

test("what the service refuses is said in the page's language, and in English in the service's words", async () => {
  await speak({ language: "en", locale: "en" }, null);
  assert.equal(sayProblem("picture", "The PNG picture is damaged."), "The PNG picture is damaged.");
  await speak({ language: "de", locale: "de" }, null);
  assert.equal(sayProblem("picture", "The PNG picture is damaged."), "Das Bild ist nicht lesbar.");
  assert.equal(sayProblem("of a newer service", "Whatever."), "Das konnte der Dienst nicht tun.");
  assert.equal(sayProblem(undefined, "Whatever."), "Das konnte der Dienst nicht tun.");
  await speak({ language: "en", locale: "en" }, null);
});
