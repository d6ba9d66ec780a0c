/** Lists without an index: they do not delay other requests, and they end. */
import assert from "node:assert/strict";
import { existsSync, renameSync, rmSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Problem } from "../../src/errors.ts";
import type { Filter } from "../../src/query/filter.ts";
import type { StoreOptions } from "../../src/store/open.ts";
import type { Change } from "../../src/store/port/commit.ts";
import type { ListQuery } from "../../src/store/port/page.ts";
import { machineTime, until } from "../until.ts";
import { declaration } from "./contract/fixture.ts";
import { openSqliteFixture, untilAnswered } from "./sqlite-fixture.ts";

const queryMs = 300;
const resources = 30_000;

/** A filter that takes several seconds on this many resources. */
const heavy: Filter = {
  kind: "or",
  filters: Array.from({ length: 900 }, (_, n) => ({ kind: "contains", path: ["text"], values: [`no ${n}`] })),
};

describe("a list that no index serves", () => {
  let fixture: Awaited<ReturnType<typeof openSqliteFixture>>;
  const list = (query: Partial<ListQuery>) =>
    fixture.store.list({ collection: "topics", limit: 10, filter: heavy, ...query });

  before(async () => {
    fixture = await openSqliteFixture({ queryMs });
    const references = [{ path: ["parentId"], collection: "topics", onDelete: "restrict" }] as const;
    const load = await fixture.store.load(declaration("topics", { references }));
    for (let from = 0; from < resources; from += 5_000) {
      await load.add(
        Array.from({ length: 5_000 }, (_, n) => {
          const id = `id${from + n}`;
          return {
            id,
            text: JSON.stringify({ id, n: from + n, parentId: id, text: `some text ${"x".repeat(100)}` }),
          };
        }),
      );
    }
    await load.finish();
  });
  after(() => fixture.cleanup());

  test("is refused when its time is over, with advice, while others are read", async () => {
    let isOver = false;
    const refused = assert
      .rejects(list({ sort: [{ path: ["n"], descending: true }] }), (error) => {
        assert.ok(error instanceof Problem);
        assert.equal(error.code, "QUERY_TOO_EXPENSIVE");
        assert.match(error.message, /300 ms/);
        assert.match(error.message, /"indexes": \["-n"\]/);
        return true;
      })
      .then(() => {
        isOver = true;
      });
    let reads = 0;
    while (!isOver) {
      assert.ok(
        (await fixture.store.read({ collection: "topics", id: `id${reads++ % resources}` })) !== undefined,
      );
    }
    assert.ok(reads > 10, `${reads} reads meanwhile`);
    await refused;
  });

  test("is refused as of a time too, in the current list and in the changes, with advice", async () => {
    for (const at of [machineTime() + 1_000_000, 0])
      await assert.rejects(list({ at, count: true }), (error) => {
        assert.ok(error instanceof Problem);
        assert.equal(error.code, "QUERY_TOO_EXPENSIVE");
        assert.match(error.message, /300 ms.*A later time has fewer changes to undo/);
        return true;
      });
  });

  test("is refused as figures too, with advice, and ends in its thread", async () => {
    const figures = (filter: Filter) =>
      fixture.store.figures({
        collection: "topics",
        figures: [{ kind: "count", name: "count" }],
        group: [{ name: "n", path: ["n"], unit: undefined }],
        sort: [],
        limit: 10,
        offset: 0,
        filter,
      });
    const many = await Promise.allSettled(Array.from({ length: 4 }, () => figures(heavy)));
    const problems = many.map((each) => (each.status === "rejected" ? each.reason : undefined) as Problem);
    const tooExpensive = problems.filter((problem) => problem.code === "QUERY_TOO_EXPENSIVE");
    const busy = problems.filter((problem) => problem.code === "UNAVAILABLE"); // it waited too long for a place
    assert.equal(tooExpensive.length + busy.length, 4);
    assert.ok(tooExpensive.length > 0);
    for (const { message } of tooExpensive)
      assert.match(message, /^The figures take longer than the limit of 300 ms\. Add a filter/);
    const { groups } = await untilAnswered(() => figures({ kind: "in", path: ["n"], values: [3] }));
    assert.deepEqual(groups, [["3", "1"]]);
  });

  test("ends in its thread too, so that the next ones have their turn", async () => {
    const many = await Promise.allSettled(Array.from({ length: 30 }, () => list({})));
    assert.ok(many.every(({ status }) => status === "rejected"));
    const filter: Filter = { kind: "in", path: ["n"], values: [3] };
    const { items } = await untilAnswered(() => list({ filter }));
    assert.deepEqual(
      items.map(({ id }) => id),
      ["id3"],
    );
  });

  test("ends when its client goes away, and one that waits never begins", async () => {
    const gone = new AbortController();
    const waits = Array.from({ length: 4 }, () =>
      list({ client: () => ({ caller: "a", signal: gone.signal }) }),
    );
    const settled = Promise.allSettled(waits);
    for (let turns = 0; turns < 20; turns++) await turn(); // some of them begin
    gone.abort(new Error("went away"));
    for (const result of await settled) {
      assert.equal(result.status, "rejected");
      assert.equal((result.reason as Error).message, "went away");
    }
    await assert.rejects(list({ client: () => ({ caller: "a", signal: gone.signal }) }), /went away/);
    const quick: Filter = { kind: "in", path: ["n"], values: [5] };
    const { items } = await untilAnswered(() => list({ filter: quick }));
    assert.equal(items.length, 1);
  });

  test("is refused when it is sorted by an attribute of a related resource", async () => {
    const relation = { kind: "reference", collection: "topics", path: ["parentId"] } as const;
    const through = { kind: "related", relation, filter: { kind: "and", filters: [] } } as const;
    await assert.rejects(list({ sort: [{ path: ["n"], descending: false, through }] }), {
      code: "QUERY_TOO_EXPENSIVE",
    });
  });

  test("names no index where none would serve", async () => {
    await assert.rejects(list({}), /No index supports such a filter/);
  });
});

describe("a list of deleted resources", () => {
  test("is refused when its time is over", async () => {
    const fixture = await openSqliteFixture({ queryMs: 50 });
    const { store } = fixture;
    try {
      const ids = Array.from({ length: 3_000 }, (_, n) => `id${n}`);
      const load = await store.load(record);
      await load.add(ids.map((id) => ({ id, text: JSON.stringify({ id, text: "x".repeat(1_000) }) })));
      await load.finish();
      const changes = ids.map(
        (id): Change => ({ key: { collection: "topics", id }, expect: 1, next: undefined }),
      );
      await store.commit({ changes, at: 1_000 });
      const deleted = { hasMember: true, showsPrincipals: false };
      const query = { collection: "topics", limit: 10, deleted };
      await assert.rejects(store.list({ ...query, filter: heavy }), {
        code: "QUERY_TOO_EXPENSIVE",
        message: /50 ms.*It reads all deleted resources/,
      });
    } finally {
      await fixture.cleanup();
    }
  });
});

const record = declaration("topics");
const slow: ListQuery = { collection: "topics", limit: 10, sort: [{ path: ["n"], descending: false }] };

/** A store with one resource. */
async function openWith(id: string, options: StoreOptions = {}) {
  const fixture = await openSqliteFixture(options);
  const load = await fixture.store.load(record);
  await load.add([{ id, text: JSON.stringify({ id, n: 1 }) }]);
  await load.finish();
  return fixture;
}

describe("the first list that no index serves", () => {
  test("has its whole time, which begins when its thread is ready", async () => {
    await until("one is answered", async () => {
      // A thread takes longer to start than this, on any machine; a list of one resource takes a fraction of it.
      const fixture = await openWith("ours", { queryMs: 15 });
      try {
        return (await fixture.store.list(slow)).items.length === 1;
      } catch (error) {
        assert.equal((error as Problem).code, "QUERY_TOO_EXPENSIVE");
        return false;
      } finally {
        await fixture.cleanup();
      }
    });
  });

  test("is of the store that is open, though another file is in its place", async () => {
    const [ours, theirs] = [await openWith("ours"), await openWith("theirs")];
    try {
      await theirs.store.close();
      for (const end of ["", "-wal", "-shm"]) rmSync(`${ours.path}${end}`, { force: true });
      renameSync(theirs.path, ours.path);
      await assert.rejects(ours.store.list(slow), { code: "UNAVAILABLE" });
    } finally {
      await ours.cleanup();
      await theirs.cleanup();
    }
  });

  test("is not to be had when the file is gone, and makes no new one", async () => {
    const fixture = await openWith("ours");
    try {
      for (const end of ["", "-wal", "-shm"]) rmSync(`${fixture.path}${end}`, { force: true });
      await assert.rejects(fixture.store.list(slow), { code: "UNAVAILABLE" });
      assert.equal(existsSync(fixture.path), false);
    } finally {
      await fixture.cleanup();
    }
  });
});
