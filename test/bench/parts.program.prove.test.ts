/** Each part of the bench still runs. `npm run prove -- bench` runs all of them, and `npm run prove -- files` one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { efforts } from "../../bench/harness/effort.ts";
import { ratios } from "../../bench/ratios/table.ts";
import { tables } from "../../bench/report/tables.ts";
import { measureAll } from "../../bench/session.ts";

const all = [...Object.keys(ratios), "comparison", "scale"];
const parts = process.env.HOLDFAST_TEST_BENCH === "all" ? all : ["read"];

// Every part runs at the usual effort, but once and for a short time. That says nothing about speed, so no figure is judged.
const effort = { ...efforts.usual, rounds: 1, warmUpMs: 0, durationMs: 3_000, share: 0.01 };

for (const part of parts)
  test(`the part ${part} of the bench measures something and ends without an error`, async () => {
    const results = await measureAll({ parts: [part], only: ["holdfast", "express-sqlite"] }, effort);
    for (const make of Object.values(tables)) make(results);
    assert.deepEqual(results.failures, []);
    assert.ok(results.ratios.length + results.cells.length + results.scale.length > 0);
  });
