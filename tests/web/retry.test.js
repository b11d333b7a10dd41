// Asking again: how long the pauses are, what ends them, and what is told meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RefusedError, UnreachableError } from "../../src/seeker/web/api.js";
import { Retry, SlowTimer, pollBelief } from "../../src/seeker/web/retry.js";

const never = new AbortController().signal;

/** Let everything run that is ready to, without letting any time pass. */
async function flushPromises() {
  for (let turn = 0; turn < 20; turn += 1) await null;
}

/** A call that fails so many times before it succeeds. */
function failing(times, error = () => new UnreachableError("away")) {
  const call = async () => {
    call.count += 1;
    if (call.count <= times) throw error();
    return "result";
  };
  call.count = 0;
  return call;
}

/** Milliseconds between the calls, as long as they fail, on a clock that the test moves. */
async function pauses(context, call, count) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const retry = new Retry(() => {}, new EventTarget());
  retry.run(call, never);
  const measured = [];
  for (let pause = 0; pause < count; pause += 1) {
    await flushPromises();
    const before = call.count;
    let waited = 0;
    while (call.count === before && waited < 100_000) {
      context.mock.timers.tick(250);
      waited += 250;
      await flushPromises();
    }
    measured.push(waited);
  }
  return measured;
}

test("pauses grow up to a quarter of a minute", async (context) => {
  assert.deepEqual(await pauses(context, failing(99), 6), [1000, 2000, 4000, 8000, 15_000, 15_000]);
});

test("a service that names its pause gets it", async (context) => {
  const busy = () => new UnreachableError("too much to do", 3000);
  assert.deepEqual(await pauses(context, failing(99, busy), 3), [3000, 3000, 3000]);
});

test("an error is told once, and so is its end", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const told = [];
  const retry = new Retry(() => told.push(retry.error), new EventTarget());
  const done = retry.run(failing(2), never);
  for (let pause = 0; pause < 2; pause += 1) {
    await flushPromises();
    context.mock.timers.tick(15_000);
  }
  assert.equal(await done, "result");
  assert.deepEqual(told, ["away", ""]);
});

test("a person who asks, or a network that is back, ends the pause", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const network = new EventTarget();
  const retry = new Retry(() => {}, network);
  const call = failing(2);
  const done = retry.run(call, never);
  await flushPromises();
  assert.equal(call.count, 1);
  retry.now();
  await flushPromises();
  assert.equal(call.count, 2);
  network.dispatchEvent(new Event("online"));
  await flushPromises();
  assert.equal(call.count, 3);
  assert.equal(await done, "result");
});

test("a refusal is not asked for again", async () => {
  const retry = new Retry(assert.fail, new EventTarget());
  const call = failing(1, () => new RefusedError("no", 404, "not-found", null));
  await assert.rejects(retry.run(call, never), RefusedError);
  assert.equal(call.count, 1);
});

test("whoever leaves gets no result, and asks no more", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const retry = new Retry(() => {}, new EventTarget());
  const leave = new AbortController();
  const call = failing(1);
  const done = assert.rejects(retry.run(call, leave.signal), { name: "AbortError" });
  await flushPromises();
  leave.abort();
  retry.now();
  await done;
  assert.equal(call.count, 1);
  const late = new AbortController();
  const answered = retry.run(async () => late.abort(), late.signal);
  await assert.rejects(answered, { name: "AbortError" });
});

test("what takes long is told once, and no longer when it is over", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let told = 0;
  const timer = new SlowTimer(() => (told += 1));
  timer.start();
  context.mock.timers.tick(2499);
  assert.deepEqual([timer.slow, told], [false, 0]);
  context.mock.timers.tick(1);
  assert.deepEqual([timer.slow, told], [true, 1]);
  timer.stop();
  assert.equal(timer.slow, false);
  timer.start();
  timer.stop();
  context.mock.timers.tick(60_000);
  assert.equal(told, 1);
});

/** Ask for a belief, with these answers one after the other. */
function poll(context, answers, isCurrent = () => true) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const reload = async () => {
    reload.count += 1;
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  reload.count = 0;
  const belief = pollBelief({ step: 2 }, reload, isCurrent);
  const finish = async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      context.mock.timers.tick(8000);
      await flushPromises();
    }
    return belief;
  };
  return { reload, finish };
}

test("a belief is asked for until it is there", async (context) => {
  const { reload, finish } = poll(context, [
    { step: 2, belief: null },
    new UnreachableError("away"),
    { step: 2, belief: "belief" },
  ]);
  assert.equal(await finish(), "belief");
  assert.equal(reload.count, 3);
});

test("a belief of another step, or one that is refused, is none", async (context) => {
  assert.equal(await poll(context, [{ step: 3, belief: "other" }]).finish(), null);
  context.mock.timers.reset();
  assert.equal(await poll(context, [new RefusedError("no", 404, "not-found", null)]).finish(), null);
});

test("a belief that nobody waits for any more is not asked for", async (context) => {
  const { reload, finish } = poll(context, [{ step: 2, belief: "late" }], () => false);
  assert.equal(await finish(), null);
  assert.equal(reload.count, 0);
});
