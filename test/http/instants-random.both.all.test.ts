/** Random dates in all forms, in lists, figures, bulk changes and feeds: the instants alone decide. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { instantKeyOf } from "../../src/collection/instants.ts";
import { forms, picoseconds } from "../instants.ts";
import { check } from "./check.ts";
import { datedCollections as collections } from "./dated.ts";
import { itemsFrom } from "./pages.ts";
import { type Service, startService } from "./service.ts";

const attributes = ["at", "due", "millis", "any", "either", "free"] as const;
const operators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
const perMs = 10n ** 9n;

/** A resource of the random world. Its dates all mean one instant: picoseconds since 1970. */
interface Dated extends Record<string, unknown> {
  id: string;
  at: string | number;
}

let oracle: Service;
const instants = new Map<string, bigint>();
let world: Dated[] = [];
before(async () => {
  const near = picoseconds.filter((at) => at > 2n * 86_400_000n * perMs);
  const pool = fc.sample(near, 12);
  const draws = fc.sample(fc.tuple(fc.constantFrom(...pool), fc.integer({ min: -1, max: 1 }), fc.nat()), 60);
  world = draws.map(([from, distance, choice], n) => {
    const at = from + BigInt(distance) * perMs;
    const id = `${"bca"[n % 3]}${n}`;
    instants.set(id, at);
    // All forms, also those that the schema refuses: the resources can be older than the schema.
    const dates = Object.fromEntries(attributes.map((name, k) => [name, forms(at, choice + k)]));
    return { id, at: forms(at, choice), ...dates, all: [forms(at, choice), forms(at, choice + 1)] };
  });
  // The OpenAPI document describes what the schema allows.
  oracle = await startService({
    collections,
    openCollections: true,
    seeds: { events: world },
    isWatched: false,
  });
});
after(() => oracle.stop());

const instantOf = ({ id }: { id: string }) => instants.get(id) as bigint;
const path = "/api/v1/events";

async function send(request: Parameters<Service["send"]>[0]): Promise<Record<string, unknown>[]> {
  const answer = await oracle.send(request);
  assert.equal(answer.status, 200, `${JSON.stringify(request)}: ${answer.text}`);
  return answer.json as Record<string, unknown>[];
}

/** The ids of a list, page by page along its links. */
const walk = async (query: string) =>
  (await itemsFrom<Dated>(oracle.send, `${path}?${query}`)).map(({ id }) => id);

test("lists, QUERY, figures, bulk changes and feeds find what the instants say", async () => {
  const draw = fc.record({
    attribute: fc.constantFrom(...attributes),
    operator: fc.constantFrom(...operators),
    from: fc.constantFrom(...instants.values()),
    distance: fc.constantFrom(0n, 0n, 0n, 1n, -1n, perMs, -perMs),
    choice: fc.nat(),
  });
  for (const { attribute, operator, from, distance, choice } of fc.sample(draw, 120)) {
    const bound = from + distance;
    const operand = forms(bound, choice);
    // Without a schema, only whole times are dates.
    if (attribute === "free" && !String(operand).includes(":")) continue;
    const isTrue = (at: bigint) => {
      const order = at < bound ? -1 : Number(at > bound);
      const equal = { eq: order === 0, ne: order !== 0, in: order === 0, nin: order !== 0 };
      return { ...equal, gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator];
    };
    const isFound = (each: Dated) => {
      const isWhole = attribute !== "free" || String(each.free).includes(":");
      return isWhole ? isTrue(instantOf(each)) : operator === "ne" || operator === "nin";
    };
    const expected = world
      .filter(isFound)
      .map(({ id }) => id)
      .sort();
    const condition = { [operator]: operator === "in" || operator === "nin" ? [operand] : operand };
    const filter = { [attribute]: condition };
    const about = JSON.stringify(filter);
    const idsOf = (items: Record<string, unknown>[], name = "id") => items.map((each) => each[name]).sort();
    const query = `${attribute}:${operator}=${encodeURIComponent(operand)}`;
    const listed = await send({ path: `${path}?${query}&limit=1000&sort=-${attribute}` });
    assert.deepEqual(idsOf(listed), expected, `a list with ${query}`);
    const queried = await send({ method: "QUERY", path, content: { filter, limit: 1000 } });
    assert.deepEqual(idsOf(queried), expected, `a QUERY with ${about}`);
    const [figures] = await send({ path: `${path}?${query}&aggregate=count` });
    assert.equal(figures?.count, expected.length, `figures of ${about}`);
    const bulk: unknown = await send({
      method: "POST",
      path: `${path}/_bulk`,
      content: { filter: { ...filter, n: { exists: false } }, delete: true, dryRun: true, max: 1000 },
    });
    assert.equal((bulk as { matched: number }).matched, expected.length, `a bulk change with ${about}`);
    const events = await send({ path: `${path}/_events?${query}&limit=1000` });
    assert.deepEqual(idsOf(events, "subject"), expected, `a feed with ${query}`);
  }
});

test("pages are in the order of the instants, with and without an index and a range", async () => {
  const byInstant = (a: Dated, b: Dated) => {
    const [x, y] = [instantOf(a), instantOf(b)];
    return x < y ? -1 : Number(x > y);
  };
  const [middle] = [...instants.values()].sort((a, b) => (a < b ? -1 : 1)).slice(20);
  for (const attribute of attributes.slice(0, -1))
    for (const descending of [false, true])
      for (const from of [undefined, middle]) {
        const expected = world
          .filter((each) => from === undefined || instantOf(each) >= from)
          .sort((a, b) => (descending ? byInstant(b, a) : byInstant(a, b)) || (a.id < b.id ? -1 : 1))
          .map(({ id }) => id);
        const range =
          from === undefined ? "" : `&${attribute}:gte=${encodeURIComponent(String(forms(from, 1)))}`;
        const walked = await walk(`sort=${descending ? "-" : ""}${attribute}&limit=7${range}`);
        assert.deepEqual(walked, expected, `${attribute} ${descending}${range}`);
      }
});

test("figures group by instants, and find the first and the last", async () => {
  const counts = new Map<bigint, number>();
  for (const at of instants.values()) counts.set(at, (counts.get(at) ?? 0) + 1);
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const attribute of attributes.slice(0, -1)) {
    const groups = await send({
      path: `${path}?group=${attribute}&aggregate=count&sort=${attribute}&limit=1000`,
    });
    assert.deepEqual(
      groups.map(({ count }) => count),
      sorted.map(([, count]) => count),
      attribute,
    );
    const keys = groups.map((group) => instantKeyOf(group[attribute], "date"));
    assert.deepEqual(keys, [...keys].sort(), attribute);
    const extremes = await send({ path: `${path}?aggregate=min(${attribute}),max(${attribute})` });
    const [found] = extremes.map((each) => Object.values(each).map((date) => instantKeyOf(date, "date")));
    assert.deepEqual(found, [keys[0], keys.at(-1)], attribute);
    const months = await send({ path: `${path}?group=${attribute}:month&aggregate=count&limit=1000` });
    const expected = new Set(keys.map((key) => key?.slice(0, 7)));
    assert.deepEqual(new Set(months.map((each) => each[`${attribute}:month`])), expected);
  }
});

test("a date in an array is found in any form", async () => {
  for (const each of world) {
    const operand = encodeURIComponent(forms(instantOf(each), 5));
    const found = await send({ path: `${path}?all:contains=${operand}&limit=1000` });
    const expected = world.filter((other) => instantOf(other) === instantOf(each)).map(({ id }) => id);
    assert.deepEqual(found.map(({ id }) => id).sort(), expected.sort());
  }
  const answer = await oracle.send({ path: `${path}?all:contains=soon` });
  check(answer, { status: 400, problem: "INVALID_PARAMETER" });
});

test("a bulk change deletes exactly what is earlier, in whatever form it is", async () => {
  const [, bound = 0n] = [...instants.values()].sort((a, b) => (a < b ? -1 : 1)).slice(10);
  const isEarlier = (each: Dated) => instantOf(each) < bound;
  await send({
    method: "POST",
    path: `${path}/_bulk`,
    content: { filter: { at: { lt: forms(bound, 2) } }, delete: true, max: 1000 },
  });
  const left = await send({ path: `${path}?limit=1000` });
  assert.deepEqual(
    left.map(({ id }) => id),
    world
      .filter((each) => !isEarlier(each))
      .map(({ id }) => id)
      .sort(),
  );
});
