/** What a monitor reads of the functions of a configuration. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";
import { readExposition } from "../../metrics/exposition.ts";
import { until } from "../../until.ts";

const source = `
import { defineConfig, forbid, route } from "holdfast";

export default defineConfig({
  metrics: "127.0.0.1:0",
  threads: 1,
  routes: {
    works: route({ path: "works", access: "public", run: () => 1 }),
    fails: route({ path: "fails", access: "public", run: () => { throw new Error("no luck"); } }),
    forbids: route({ path: "forbids", access: "public", run: () => forbid("No.") }),
    exits: route({ path: "exits", access: "public", run: () => process.exit() }),
  },
});
`;

test("calls of functions, their failures and lost workers are counted", async (t) => {
  const { send, metrics } = await startFor(t, { module: source, isWatched: false });
  for (const name of ["works", "works", "fails", "forbids", "exits"])
    await send({ path: `/api/v1/${name}` }, { mayFail: true });
  const scrape = async () => readExposition(await (await fetch(String(metrics))).text());
  await until("all calls are counted", async () => {
    const calls = (await scrape()).all("holdfast_code_seconds_count");
    return calls.reduce((sum, { value }) => sum + value, 0) === 5;
  });
  const found = await scrape();
  const calls = found
    .all("holdfast_code_seconds_count")
    .map(({ labels: { kind, name }, value }) => [kind, name, value]);
  assert.deepEqual(calls.sort(), [
    ["route", "exits", 1],
    ["route", "fails", 1],
    ["route", "forbids", 1],
    ["route", "works", 2],
  ]);
  const failures = found
    .all("holdfast_code_failures_total")
    .map(({ labels: { name, reason } }) => [name, reason]);
  assert.deepEqual(failures.sort(), [
    ["exits", "exit"],
    ["fails", "throw"],
  ]);
  assert.deepEqual(
    found.all("holdfast_code_restarts_total").map(({ value }) => value),
    [1],
  );
});

const hooked = `
import { refuse } from "holdfast";

export default {
  metrics: "127.0.0.1:0",
  threads: 1,
  collections: {
    things: {
      hooks: {
        before: ({ resource }) => { if (resource.fails) throw new Error("no luck"); },
        validate: ({ resource }) => { if (resource.refused) refuse("No"); },
      },
      computed: { double: { from: ["count"], schema: { type: "number" }, value: ({ count = 0 }) => 2 * count } },
    },
  },
};
`;

test("calls of hooks and computed attributes are counted, and a refusal is no failure", async (t) => {
  const { send, metrics } = await startFor(t, { module: hooked, isWatched: false });
  for (const content of [{ count: 1 }, { refused: true }, { fails: true }])
    await send({ method: "POST", path: "/api/v1/things", content }, { mayFail: true });
  const found = readExposition(await (await fetch(String(metrics))).text());
  const calls = found
    .all("holdfast_code_seconds_count")
    .map(({ labels: { kind, name }, value }) => [kind, name, value]);
  assert.deepEqual(calls.sort(), [
    ["before", "things", 3],
    ["computed", "things", 2],
    ["validate", "things", 2],
  ]);
  const failures = found
    .all("holdfast_code_failures_total")
    .map(({ labels: { kind, reason } }) => [kind, reason]);
  assert.deepEqual(failures, [["before", "throw"]]);
});
