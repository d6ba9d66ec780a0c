import assert from "node:assert/strict";
import { test } from "node:test";
import { chart } from "./chart.ts";
import { judge } from "./judge.ts";
import type { Sample } from "./samples.ts";

/** Samples of two lives. `change` says what differs at each moment, from 0 to 1 in each life. */
function samplesWith(change: (share: number, index: number) => Partial<Sample>): Sample[] {
  const perLife = 60;
  return Array.from({ length: 2 * perLife }, (_, index) => {
    const within = index % perLife;
    return {
      seconds: index * 5,
      life: Math.floor(index / perLife),
      residentMb: 180,
      anonymousMb: 120 + ((index * 7) % 5), // garbage collection
      heapMb: 40 + ((index * 13) % 20),
      descriptors: 60 + (index % 3),
      threads: 11,
      storeMb: 12,
      walMb: 4 + (index % 2),
      loopDelayMs: 12,
      ...change(within / perLife, index),
    };
  });
}

const growing = (samples: Sample[]) => [
  ...new Set(
    judge(samples)
      .filter(({ grows }) => grows)
      .map(({ name }) => name),
  ),
];

test("a service that uses a constant amount passes, with noise and a warm-up", () => {
  assert.deepEqual(growing(samplesWith(() => ({}))), []);
  assert.deepEqual(growing(samplesWith((share) => ({ anonymousMb: 150 - 60 * Math.exp(-20 * share) }))), []);
  assert.deepEqual(growing(samplesWith((share) => ({ heapMb: 40 + 15 * (1 - Math.exp(-4 * share)) }))), []);
  assert.deepEqual(growing(samplesWith((_, index) => ({ walMb: index % 12 }))), []);
});

test("each kind of growth is found", () => {
  assert.deepEqual(growing(samplesWith((share) => ({ heapMb: 40 + 30 * share }))), ["heap (MB)"]);
  assert.deepEqual(growing(samplesWith((share) => ({ anonymousMb: 120 + 60 * share }))), [
    "anonymous memory (MB)",
  ]);
  assert.deepEqual(growing(samplesWith((share) => ({ descriptors: 60 + Math.round(40 * share) }))), [
    "file descriptors",
  ]);
  assert.deepEqual(growing(samplesWith((share) => ({ threads: 11 + Math.round(9 * share) }))), ["threads"]);
  assert.deepEqual(growing(samplesWith((share) => ({ storeMb: 12 + 6 * share }))), ["store file (MB)"]);
  assert.deepEqual(growing(samplesWith((share) => ({ walMb: 4 + 20 * share }))), ["WAL (MB)"]);
});

test("too few samples are no proof", () => {
  assert.throws(() => judge(samplesWith(() => ({})).slice(0, 5)), /only 5 samples/);
});

test("the chart has a line for each figure", () => {
  const svg = chart(
    samplesWith(() => ({})),
    "A soak",
  );
  assert.equal(svg.match(/<polyline /g)?.length, 16, "eight figures of two lives");
  assert.doesNotMatch(svg, /NaN|undefined/);
});
