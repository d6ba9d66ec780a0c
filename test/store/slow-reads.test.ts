/** The turns of slow reads. The attempts of these reads end when the test says so, so no time counts. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { SlowReads, unfinished } from "../../src/store/core/slow-reads.ts";
import type { ReadClient } from "../../src/store/port/page.ts";
import { ceilingMs, until } from "../until.ts";

interface Attempt {
  name: string;
  maxMs: number;
  end(result: string | typeof unfinished): void;
}

const shortMs = 100;

/** Reads whose attempts the test ends itself. */
function startReads(t: TestContext, { maxMs = ceilingMs, maxWaiting = 1_000 } = {}) {
  const reads = new SlowReads({ maxMs, shortMs, maxWaiting });
  t.after(() => reads.close(new Error("closed")));
  const running: Attempt[] = [];
  const results: string[] = [];
  return {
    reads,
    running,
    results,
    /** Starts a read. Its result, or the code of its problem, is added to the results. */
    read(caller: string, name: string, signal = new AbortController().signal) {
      const client: ReadClient = { caller, signal };
      const attempt = (maxMs: number) =>
        new Promise<string | typeof unfinished>((resolve) => {
          const attempt: Attempt = {
            name,
            maxMs,
            end: (result) => {
              running.splice(running.indexOf(attempt), 1);
              resolve(result);
            },
          };
          running.push(attempt);
        });
      const ended = reads.read(attempt, client).then(
        (result) => (result === unfinished ? "unfinished" : result),
        (error: Error & { code?: string }) => error.code ?? error.message,
      );
      return ended.then((result) => {
        results.push(`${name}: ${result}`);
      });
    },
    /** Ends the attempt of a read, and waits until another one has started or none waits. */
    async end(name: string, result: string | typeof unfinished = "done") {
      const attempt = running.find((each) => each.name === name);
      assert.ok(attempt !== undefined, `${name} is not running, but ${running.map((each) => each.name)}`);
      attempt.end(result);
      await new Promise(setImmediate);
    },
  };
}

const namesOf = (running: readonly Attempt[]) => running.map(({ name }) => name);

describe("reads that can take long", () => {
  test("of another caller wait for at most two short attempts, however many one caller has", async (t) => {
    const { read, running, results, end } = startReads(t);
    for (let n = 0; n < 40; n++) void read("greedy", `g${n}`);
    assert.deepEqual(
      running.map(({ name, maxMs }) => [name, maxMs]),
      [
        ["g0", ceilingMs],
        ["g1", ceilingMs],
        ["g2", shortMs],
      ],
    );
    const other = read("other", "cheap");
    await end("g2", unfinished);
    await end("g3", unfinished);
    assert.deepEqual(namesOf(running), ["g0", "g1", "cheap"]);
    await end("cheap");
    await other;
    assert.deepEqual(results, ["cheap: done"]);
  });

  test("run alone without a short attempt, so nothing is read twice", async (t) => {
    const { read, running, end, results } = startReads(t);
    const all = [read("a", "one"), read("a", "two")];
    assert.deepEqual(
      running.map(({ maxMs }) => maxMs),
      [ceilingMs, ceilingMs],
    );
    await end("one");
    await end("two", unfinished);
    await Promise.all(all);
    assert.deepEqual(results, ["one: done", "two: unfinished"]);
  });

  test("take the places for long reads in turns by caller too", async (t) => {
    const { read, running, end } = startReads(t);
    for (let n = 0; n < 6; n++) void read("greedy", `g${n}`);
    for (let n = 2; n < 6; n++) await end(`g${n}`, unfinished);
    void read("other", "long");
    await end("long", unfinished);
    await end("g0");
    await end("g1");
    assert.deepEqual(namesOf(running), ["g2", "long"]);
    assert.ok(running.every(({ maxMs }) => maxMs === ceilingMs));
  });

  test("that wait too long are told that the service is busy, and when to try again", async (t) => {
    const { read, running, results, end, reads } = startReads(t, { maxMs: 1 });
    void read("a", "one");
    void read("a", "two");
    void read("a", "three");
    await read("b", "late");
    assert.deepEqual(results, ["late: UNAVAILABLE"]);
    await assert.rejects(
      reads.read(async () => unfinished, undefined),
      {
        code: "UNAVAILABLE",
        headers: { "retry-after": "1" },
      },
    );
    assert.equal(running.length, 3);
    await end("one", unfinished);
    assert.deepEqual(results, ["late: UNAVAILABLE", "one: unfinished"]);
  });

  test("of the caller with the most reads are refused when too many wait", async (t) => {
    const { read, running, results } = startReads(t, { maxWaiting: 4 });
    for (let n = 0; n < 7; n++) void read("greedy", `g${n}`);
    const other = read("other", "first");
    await until("one is refused", () => results.length > 0);
    assert.deepEqual(results, ["g6: UNAVAILABLE"]);
    void read("greedy", "g7");
    await until("another one is refused", () => results.length > 1);
    assert.deepEqual(results, ["g6: UNAVAILABLE", "g7: UNAVAILABLE"]);
    running.find(({ name }) => name === "g2")?.end("done");
    await until("the next one starts", () => running.some(({ name }) => name === "g3"));
    running.find(({ name }) => name === "g3")?.end("done");
    await until("the other caller's starts", () => running.some(({ name }) => name === "first"));
    running.find(({ name }) => name === "first")?.end("done");
    await other;
  });

  test("end when their clients go away, whether they wait or run, and their places stay in use until they end", async (t) => {
    const { read, running, results, end } = startReads(t);
    const gone = new AbortController();
    const ended = ["a", "b", "c", "d"].map((name) => read("gone", name, gone.signal));
    const other = read("other", "next");
    gone.abort(new Error("went away"));
    await Promise.all(ended);
    assert.deepEqual(
      results,
      ["a", "b", "c", "d"].map((name) => `${name}: went away`),
    );
    assert.deepEqual(namesOf(running), ["a", "b", "c"]);
    await end("a", unfinished);
    assert.deepEqual(namesOf(running), ["b", "c", "next"]);
    await end("next");
    await other;
  });

  test("are refused after the end, also those that wait", async (t) => {
    const { read, reads, results, end } = startReads(t);
    const all = ["a", "b", "c", "d"].map((name) => read("one", name));
    reads.close(new Error("closed"));
    await all[3];
    await end("c", unfinished);
    await all[2];
    await read("one", "e");
    assert.deepEqual(results, ["d: closed", "c: closed", "e: closed"]);
  });
});
