// The queue of commands that the service has yet to confirm, and what they predict.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RefusedError, UnreachableError } from "../../src/seeker/web/api.js";
import * as commands from "../../src/seeker/web/commands.js";

const { NO_INPUTS, PendingCommands } = commands;
const refusal = () => new RefusedError("no", 409, "conflict", null);

/** A service that answers each command when the test says so. */
class Service {
  calls = [];

  send = (command, key) =>
    new Promise((resolve, reject) => this.calls.push({ command, key, resolve, reject }));
}

/** Let everything run that is ready to. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve));

test("commands are sent one after the other, in order, each under its own key", async () => {
  const queue = new PendingCommands();
  const service = new Service();
  const sessions = [];
  queue.add(commands.click("a", "like", ["a"]));
  queue.add(commands.click("b", "dislike", ["b"]));
  const flushed = queue.flush(service.send, (session) => sessions.push(session), assert.fail);
  await flushPromises();
  assert.equal(service.calls.length, 1);
  service.calls[0].resolve("first");
  await flushPromises();
  assert.deepEqual(
    service.calls.map(({ command }) => command.body.item),
    ["a", "b"],
  );
  assert.match(service.calls[0].key, /^[0-9a-f]{32}$/);
  assert.notEqual(service.calls[0].key, service.calls[1].key);
  assert.equal(queue.isEmpty, false);
  service.calls[1].resolve("second");
  await flushed;
  assert.deepEqual(sessions, ["first", "second"]);
  assert.equal(queue.isEmpty, true);
});

test("what is added while others are on their way is sent after them", async () => {
  const queue = new PendingCommands();
  const service = new Service();
  queue.add(commands.say("blue"));
  const flushed = queue.flush(service.send, () => {}, assert.fail);
  queue.add(commands.travel(-1));
  service.calls[0].resolve();
  await flushPromises();
  assert.equal(service.calls[1].command.path, "undo");
  service.calls[1].resolve();
  await flushed;
});

test("a confirmation is told after the session is taken in, and once", async () => {
  const queue = new PendingCommands();
  const told = [];
  queue.add(commands.finish("a"), (session) => told.push(`confirmed ${session}`));
  await queue.flush(
    async () => "s",
    (session) => told.push(`session ${session}`),
    assert.fail,
  );
  assert.deepEqual(told, ["session s", "confirmed s"]);
});

test("a refused command is dropped, and the next one is sent", async () => {
  const queue = new PendingCommands();
  const refusals = [];
  const answers = [() => Promise.reject(refusal()), () => Promise.resolve("s")];
  queue.add(commands.say("a"), assert.fail);
  queue.add(commands.say("b"));
  const sent = [];
  await queue.flush(
    (command) => {
      sent.push(command.body.text);
      return answers.shift()();
    },
    () => {},
    (error) => refusals.push(error.status),
  );
  assert.deepEqual(sent, ["a", "b"]);
  assert.deepEqual(refusals, [409]);
});

test("whoever is told of a refusal may give up all that waits", async () => {
  const queue = new PendingCommands();
  let sent = 0;
  queue.add(commands.say("a"));
  queue.add(commands.say("b"));
  await queue.flush(
    () => {
      sent += 1;
      return Promise.reject(refusal());
    },
    assert.fail,
    () => queue.clear(),
  );
  assert.equal(sent, 1);
  assert.equal(queue.isEmpty, true);
});

test("a command that could not be sent stays, under the same key", async () => {
  const queue = new PendingCommands();
  const keys = [];
  queue.add(commands.say("a"));
  const fail = (_, key) => {
    keys.push(key);
    return Promise.reject(new UnreachableError("away"));
  };
  await assert.rejects(queue.flush(fail, assert.fail, assert.fail), UnreachableError);
  assert.equal(queue.isEmpty, false);
  await queue.flush(
    async (_, key) => keys.push(key),
    () => {},
    assert.fail,
  );
  assert.equal(keys[0], keys[1]);
  assert.equal(queue.isEmpty, true);
});

test("a person sees at once what their commands will do", () => {
  const queue = new PendingCommands();
  for (const command of [
    commands.click("a", "like", []),
    commands.click("b", "like", []),
    commands.click("a", "dislike", []),
    commands.click("b", "clear", []),
    commands.say("blue"),
    commands.say("small"),
    commands.unsay("blue"),
    commands.setFilter({ kind: ["shoe"] }),
    commands.travel(-1),
    commands.setExploration(4),
    commands.setFocus({ colour: 0 }),
  ])
    queue.add(command);
  assert.deepEqual(queue.predict(NO_INPUTS), {
    likes: [],
    dislikes: ["a"],
    query: null,
    said: ["small"],
    filter: { kind: ["shoe"] },
    focus: { colour: 0 },
  });
  // What the service has confirmed is left alone.
  assert.deepEqual(NO_INPUTS, { likes: [], dislikes: [], query: null, said: [], filter: null, focus: {} });
});

test("taking back the words that began a search empties its query", () => {
  const inputs = { ...NO_INPUTS, query: "a red shoe", said: ["blue"] };
  assert.equal(commands.unsay("a red shoe").predict(inputs).query, null);
  assert.equal(commands.unsay("blue").predict(inputs).query, "a red shoe");
});

test("a clear does not say what was on screen, and one step needs no count", () => {
  assert.deepEqual(commands.click("a", "clear", ["a", "b"]).body, { item: "a", verdict: "clear" });
  assert.deepEqual(commands.click("a", "like", ["a", "b"]).body.shown, ["a", "b"]);
  assert.deepEqual([commands.travel(-1).path, commands.travel(-1).body], ["undo", {}]);
  assert.deepEqual([commands.travel(3).path, commands.travel(3).body], ["redo", { count: 3 }]);
});
