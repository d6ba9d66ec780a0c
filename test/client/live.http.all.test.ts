/** The typed client's live lists stay equal to the lists of the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Client, createClient, etagOf, HoldfastError } from "../../client/src/index.ts";
import { compareBy } from "../../client/src/order.ts";
import { parsePath } from "../../src/collection/paths.ts";
import { compareBy as compareAsServed } from "../../src/query/sort.ts";
import { anyCharacter } from "../characters.ts";
import { almostExact, nearExact } from "../exact-numbers.ts";
import { until } from "../until.ts";
import type { config } from "./config.ts";
import { randomBelow, readAll, retry, startFixture } from "./feeds.ts";

/** As JSON, because the hidden ETags do not matter here. */
const plain = (value: unknown) => JSON.stringify(value);

test("a live list is the list, and then the list after each change", async (t) => {
  const { direct } = await startFixture(t);
  const { articles } = direct;
  const one = await articles.create({ title: "One", views: 1 });
  await articles.create({ title: "Hidden", status: "published" });
  const reading = readAll(t, articles.live({ filter: { status: "draft" }, sort: "-views" }));
  const titles = () => reading.received.map((items) => items.map(({ title }) => title));
  await reading.until(1);
  const two = await articles.create({ title: "Two", views: 2 });
  await reading.until(2);
  await articles.patch(one.id, { views: 3 });
  await reading.until(3);
  await articles.patch(two.id, { status: "published" });
  await reading.until(4);
  await articles.delete(one.id);
  await reading.until(5);
  assert.deepEqual(titles(), [["One"], ["Two", "One"], ["One", "Two"], ["One"], []]);
  const [first, second, third] = reading.received;
  assert.ok(Object.isFrozen(first));
  assert.equal(second?.[1], first?.[0], "what has not changed is the same object");
  assert.equal(third?.[1], second?.[0]);
  assert.equal(etagOf(second?.[0] as object), '"1"');
});

test("a limited live list is filled up when a resource leaves it", async (t) => {
  const { direct } = await startFixture(t);
  const { notes } = direct;
  const createAll = (numbers: readonly number[]) =>
    direct.$batch(({ notes }) => numbers.map((n) => notes.create({ n })));
  const hundred = Array.from({ length: 100 }, (_, n) => n);
  const made = await createAll(hundred);
  await createAll([100, 101, 102]);
  const reading = readAll(t, notes.live({ sort: "n", limit: 3 }));
  const shown = () => reading.received.at(-1)?.map(({ n }) => n);
  await reading.until(1);
  const deleteSome = (start: number, end: number) =>
    direct.$batch(({ notes }) => made.slice(start, end).map((each) => notes.delete(each)));
  await notes.create({ n: 102.5 }); // after those that the client has read
  await deleteSome(0, 51);
  await until("the next resources are shown", () => plain(shown()) === "[51,52,53]");
  for (const [start, end] of [
    [51, 70],
    [70, 90],
    [90, 100],
  ] as const)
    await deleteSome(start, end);
  await until("the last resources are shown", () => plain(shown()) === "[100,101,102]");
  for (const start of [100, 200]) await createAll(hundred.map((n) => -start - n));
  await until("the first resources are shown", () => plain(shown()) === "[-299,-298,-297]");
  await notes.create({ n: -298.5 });
  await until("a resource between them is shown", () => plain(shown()) === "[-299,-298.5,-298]");
});

test("a live list is whole on a service with short pages, whatever its length", async (t) => {
  const { direct } = await startFixture(t, { limits: { page: 3 } });
  const { notes } = direct;
  await direct.$batch(({ notes }) => Array.from({ length: 10 }, (_, n) => notes.create({ n })));
  for (const limit of [2, 5, 600, undefined]) {
    const reading = readAll(t, notes.live({ sort: "n", ...(limit !== undefined && { limit }) }));
    const [first] = await reading.until(1);
    assert.equal(first?.length, Math.min(limit ?? 10, 10), String(limit));
  }
});

type Notes = Client<typeof config>["notes"];

const values = [null, true, false, -1, 0, 2, 10, "", "a", "Z", "ä", "😀", "\uffff", [1], { a: 1 }];

/** Writes at random, some in batches. */
async function writeAtRandom(
  direct: Client<typeof config>,
  random: (limit: number) => number,
  count: number,
) {
  const ids: string[] = [];
  const attributes = () => ({ n: random(5), value: values[random(values.length)], in: { n: random(3) } });
  for (let done = 0; done < count; done++) {
    const at = random(ids.length);
    const id = ids[at];
    const kind = random(6);
    if (id === undefined || kind < 2) ids.push((await direct.notes.create(attributes())).id);
    else if (kind < 4) await direct.notes.patch(id, attributes());
    else if (kind === 4) await direct.notes.delete(ids.splice(at, 1)[0] as string);
    else {
      const [made] = await direct.$batch(({ notes }) => [
        notes.create(attributes()),
        notes.patch(id, attributes()),
      ]);
      ids.push(made.id);
    }
  }
}

const queries: readonly Parameters<Notes["live"]>[0][] = [
  {},
  { filter: { n: { gte: 2 } } },
  { sort: ["value", "-n"] },
  { sort: ["-in.n", "-id"], filter: { or: [{ n: 1 }, { value: "a" }] } },
  { sort: "-value", limit: 5 },
  { sort: "n", limit: 5, filter: { n: { lte: 2 } }, fields: ["n"] },
];

test("live lists are equal to the lists, whatever is written and wherever connections are cut", async (t) => {
  const random = randomBelow(t);
  const { proxy, direct } = await startFixture(t);
  await writeAtRandom(direct, random, 40);
  proxy.cutAfter = () => 3_000 + random(20_000);
  const patient = createClient<typeof config>({
    baseUrl: `${proxy.origin}/api/v1`,
    retry: { ...retry, attempts: 1_000 },
  });
  const readings = queries.map((query) => readAll(t, patient.notes.live(query)));
  for (let round = 0; round < 3; round++) {
    await writeAtRandom(direct, random, 40);
    for (const [n, query] of queries.entries()) {
      const expected = plain(
        (await direct.notes.list({ ...query, limit: query?.limit ?? 1_000 }).page()).items,
      );
      const latest = () => plain(readings[n]?.received.at(-1));
      await until(`${plain(query)} is ${expected}, not ${latest()}`, () => latest() === expected);
    }
    proxy.cut();
  }
});

test("a live list of many pages is right although others write while it is read", async (t) => {
  const random = randomBelow(t);
  const { direct, client } = await startFixture(t);
  const ids: string[] = [];
  for (let n = 0; n < 1_500; n += 100) {
    const made = await direct.$batch(({ notes }) =>
      Array.from({ length: 100 }, (_, k) => notes.create({ n: n + k })),
    );
    ids.push(...made.map(({ id }) => id));
  }
  const reading = readAll(t, client.notes.live({ sort: "n" }));
  for (let n = 0; n < 60; n++)
    await direct.notes.patch(ids[random(ids.length)] as string, { n: random(3_000) });
  const expected = plain(await direct.notes.list({ sort: "n", limit: 1_000 }).all());
  await until("the live list is the list", () => plain(reading.received.at(-1)) === expected);
});

test("a live list is read again when its position is gone", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  const other = await startFixture(t);
  await direct.notes.create({ n: 1 });
  await other.direct.notes.create({ n: 2 });
  const reading = readAll(t, client.notes.live());
  await reading.until(1);
  proxy.target = other.service.port;
  proxy.cut();
  await reading.until(2);
  await other.direct.notes.create({ n: 3 });
  await reading.until(3);
  assert.deepEqual(
    reading.received.map((items) => items.map(({ n }) => n)),
    [[1], [2], [2, 3]],
  );
});

test("a live list ends when its signal is aborted, and when the loop is left", async (t) => {
  const { proxy, client, direct } = await startFixture(t);
  await direct.notes.create({ n: 1 });
  const reason = new Error("enough");
  const controller = new AbortController();
  const reading = readAll(t, client.notes.live({ signal: controller.signal }));
  await reading.until(1);
  controller.abort(reason);
  assert.equal(await reading.ended, reason);
  for await (const items of client.notes.live()) if (items.length === 1) break;
  await until("the connections are closed", () => proxy.open <= 1);
});

test("a list without a feed cannot be live, and says why", async (t) => {
  const { direct } = await startFixture(t, { history: "none" });
  await assert.rejects(
    readAll(t, direct.notes.live()).ended.then((error) => Promise.reject(error)),
    (error) => error instanceof HoldfastError && /no feed of changes/.test(error.message),
  );
  const sorted = { sort: "title", fields: ["views"] } as never;
  assert.throws(() => direct.articles.live(sorted), /lacks "title"/);
  const leftOut = { fields: ["-title"], sort: "title" } as never;
  assert.throws(() => direct.articles.live(leftOut), /leaves out "title"\. Keep it/);
});

test("a live list refuses an option that it does not have", async (t) => {
  const { articles } = (await startFixture(t)).direct;
  for (const [name, message] of [
    ["q", /^A live list has no option "q": feeds cannot search\. Use list, or a filter\.$/],
    ["offset", /^A live list has no option "offset"\. Its options are "filter", "sort", .*"signal"\.$/],
  ] as const) {
    const live = () => articles.live({ [name]: 1 } as never);
    assert.throws(live, (error) => error instanceof HoldfastError && message.test(error.message));
  }
  assert.ok(articles.live({ q: undefined } as never));
});

const anyValue = fc.oneof(
  fc.constantFrom(...values),
  fc.string({ unit: anyCharacter }),
  fc.double({ noNaN: true }),
);

test("exact numbers are sorted as the service sorts them", () => {
  const value = fc.oneof({ weight: 5, arbitrary: nearExact }, fc.constantFrom(...almostExact), anyValue);
  const resource = fc.record({ id: fc.integer(), a: fc.record({ b: value }) });
  for (const descending of [false, true]) {
    const served = compareAsServed([{ path: ["a", "b"], descending, as: "exact" }]);
    const compare = compareBy([descending ? "-a.b" : "a.b"], ["a.b"]);
    fc.assert(
      fc.property(resource, resource, (one, other) => {
        assert.equal(Math.sign(compare(one, other)), Math.sign(served(one, other)));
      }),
      { numRuns: 3_000 },
    );
  }
});

test("resources are sorted as the service sorts them", () => {
  const resource = fc.record({ id: fc.integer(), a: anyValue, b: fc.record({ c: anyValue }) });
  const long = "😀".repeat(127);
  const served = (sort: readonly string[]) =>
    compareAsServed(
      sort.map((key) => ({
        path: parsePath(key.replace("-", "").replace(/:.*/, "")) as never,
        descending: key.startsWith("-"),
        ...(/^-.*:nullsfirst|^[^-].*:nullslast/.test(key) && { movesNulls: true as const }),
      })),
    );
  for (const sort of [
    ["a"],
    ["-a", "b.c"],
    ["-b.c", "-id"],
    [],
    ["a:nullslast", "-b.c:nullsfirst"],
    ["-a:nullslast"],
  ]) {
    fc.assert(
      fc.property(resource, resource, (one, other) => {
        const expected = served(sort)(one, other);
        assert.equal(Math.sign(compareBy(sort)(one, other)), Math.sign(expected));
      }),
      { numRuns: 2_000 },
    );
    const [one, other] = [`${long}ab`, `${long}ac`].map((a, id) => ({ id, a }));
    const expected = served(sort)(one as never, other as never);
    assert.equal(Math.sign(compareBy(sort)(one as never, other as never)), Math.sign(expected));
  }
});
