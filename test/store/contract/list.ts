import assert from "node:assert/strict";
import { test } from "node:test";
import { logStart } from "../../../src/store/port/log-place.ts";
import {
  commit,
  created,
  deleted,
  number,
  type OpenFixture,
  onStore,
  scannedIds,
  topic,
  updated,
  user,
} from "./fixture.ts";

const textIds = ["10", "9", "A", "Z", "_", "a", "aa", "b", "é", "￿", "🐘"];
const inOrder = ["-5", "0", "9", "10", "9007199254740991", "-0", "007", "1e3", "9007199254740993", "a"].sort(
  (left, right) => {
    const isInteger = (id: string) => String(Number(id)) === id && Number.isSafeInteger(Number(id));
    if (isInteger(left) && isInteger(right)) return Number(left) - Number(right);
    if (isInteger(left) !== isInteger(right)) return isInteger(left) ? -1 : 1;
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  },
);

export function listContract(open: OpenFixture): void {
  test(
    "a list gives resources in the order of code points of their ids, page by page",
    onStore(open, async (store) => {
      for (const id of [...textIds].reverse()) await commit(store, [created(topic(id))]);
      const seen: string[] = [];
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await store.list({
          collection: "topics",
          limit: 3,
          ...(after === undefined ? {} : { after: [after] }),
        });
        seen.push(...page.items.map(({ id }) => id));
        assert.deepEqual([page.total, page.sequence], [textIds.length, textIds.length]);
        assert.equal(page.more, seen.length < textIds.length);
        if (!page.more) break;
      }
      assert.deepEqual(seen, textIds);
    }),
  );

  test(
    "a collection of integers is ordered by number, with what is no integer after them",
    onStore(open, async (store, reopen) => {
      for (const id of [...inOrder].reverse()) await commit(store, [created(number(id))]);
      const again = await reopen();
      const page = await again.list({ collection: "numbers", limit: 100 });
      assert.deepEqual(
        page.items.map(({ id }) => id),
        inOrder,
      );
      for (const id of inOrder) assert.equal((await again.read(number(id)))?.id, id);
      assert.deepEqual(await scannedIds(again, "numbers"), inOrder);
      const next = await again.list({ collection: "numbers", limit: 1, after: [9] });
      assert.equal(next.items[0]?.id, "10");
    }),
  );

  test(
    "a page of large resources ends early, and the pages together are the collection",
    onStore(open, async (store) => {
      const ids = Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n));
      for (const id of ids) await commit(store, [created(topic(id), { pad: "x".repeat(1_000_000) })]);
      await commit(store, [created(topic("z"), { pad: "x".repeat(20_000_000) })]);
      for (const limit of [100, 1_000]) {
        const sizes: number[] = [];
        const seen: string[] = [];
        for (let after: string | undefined; ; after = seen.at(-1)) {
          const beyond = after === undefined ? {} : { after: [after] };
          const page = await store.list({ collection: "topics", limit, ...beyond });
          seen.push(...page.items.map(({ id }) => id));
          sizes.push(page.items.length);
          if (!page.more) break;
        }
        assert.deepEqual(seen, [...ids, "z"]);
        assert.ok(
          sizes.every((size) => size === 1 || size === 2),
          sizes.join(),
        );
      }
      assert.deepEqual(await scannedIds(store, "topics"), [...ids, "z"]);
    }),
  );

  test(
    "a page has at most 2 MiB of text in UTF-8, whatever letters it is made of",
    onStore(open, async (store) => {
      const ids = ["a", "b", "c", "d", "e"];
      for (const [id, letter] of ids.map((id, n) => [id, ["é", "冬", "x"][n % 3] as string] as const)) {
        const pad = letter.repeat(1_000_000 / Buffer.byteLength(letter));
        await commit(store, [created(topic(id), { pad })]);
      }
      for (const limit of [3, 100, 1_000]) {
        const pages: string[][] = [];
        for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)) {
          const beyond = after === undefined ? {} : { after: [after] };
          const { items, more } = await store.list({ collection: "topics", limit, ...beyond });
          pages.push(items.map(({ id }) => id));
          if (!more) break;
        }
        assert.deepEqual(pages, [["a", "b"], ["c", "d"], ["e"]], `limit ${limit}`);
      }
    }),
  );

  test(
    "a page may begin after a resource that is gone, and after the last one there is nothing",
    onStore(open, async (store) => {
      for (const id of ["a", "b", "c"]) await commit(store, [created(topic(id))]);
      await commit(store, [deleted(topic("b"), 1)]);
      const ids = async (after: string) =>
        (await store.list({ collection: "topics", limit: 9, after: [after] })).items.map(({ id }) => id);
      assert.deepEqual(await ids("b"), ["c"]);
      assert.deepEqual(await ids("aa"), ["c"]);
      assert.deepEqual(await ids("c"), []);
      assert.deepEqual(await ids(""), ["a", "c"]);
    }),
  );

  test(
    "a page of exactly the limit knows that there is no more",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a")), created(topic("b"))]);
      assert.equal((await store.list({ collection: "topics", limit: 2 })).more, false);
      assert.equal((await store.list({ collection: "topics", limit: 1 })).more, true);
    }),
  );

  test(
    "an unknown collection is an empty one",
    onStore(open, async (store) => {
      assert.deepEqual(await store.list({ collection: "unknown", limit: 5 }), {
        items: [],
        more: false,
        total: 0,
        sequence: 0,
      });
      assert.equal(await store.count("unknown"), 0);
      assert.deepEqual((await store.changesAfter("unknown", logStart, 5)).changes, []);
      assert.deepEqual(await scannedIds(store, "unknown"), []);
    }),
  );

  test(
    "total and sequence belong to the same state as the resources, also while others write",
    onStore(open, async (store) => {
      const writes = (async () => {
        for (let n = 0; n < 200; n++) await commit(store, [created(topic(`t${String(n).padStart(4, "0")}`))]);
      })();
      let isWriting = true;
      const done = writes.finally(() => {
        isWriting = false;
      });
      while (isWriting) {
        const { items, total, sequence } = await store.list({ collection: "topics", limit: 1_000 });
        assert.deepEqual([items.length, items.length], [total, sequence]);
      }
      await done;
    }),
  );

  test(
    "a scan gives every resource of the moment at which it began",
    onStore(open, async (store) => {
      const ids = Array.from({ length: 700 }, (_, n) => `t${String(n).padStart(4, "0")}`);
      await commit(
        store,
        ids.map((id) => created(topic(id), { n: 1 })),
      );
      const scan = store.scan("topics")[Symbol.asyncIterator]();
      const first = await scan.next();
      await commit(store, [deleted(topic("t0600"), 1), updated(topic("t0650"), 1), created(topic("u"))]);
      const rest: string[] = [];
      for (let next = await scan.next(); next.done !== true; next = await scan.next()) {
        rest.push(next.value.id);
        if (next.value.id === "t0650") assert.equal(next.value.version, 1);
      }
      assert.deepEqual([first.value?.id, ...rest], ids);
      assert.equal((await scannedIds(store, "topics")).length, 700);
    }),
  );

  test(
    "a scan of several collections gives all of them as of the moment at which it began",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a")), created(topic("b")), created(user("u"))]);
      const seen: string[] = [];
      const begin = (place: number) => void seen.push(`begin ${place}`);
      for await (const { id } of store.scanEach(["topics", "unknown", "users", "topics"], begin)) {
        if (seen.push(id) === 2)
          await commit(store, [created(topic("c")), created(user("v")), deleted(user("u"), 1)]);
      }
      assert.deepEqual(seen, ["begin 0", "a", "b", "begin 2", "u", "begin 3", "a", "b"]);
    }),
  );

  test(
    "a scan may be left early, and others may run beside it",
    onStore(open, async (store) => {
      await commit(
        store,
        ["a", "b", "c"].map((id) => created(topic(id))),
      );
      for await (const { id } of store.scan("topics")) {
        assert.equal(id, "a");
        assert.deepEqual(await scannedIds(store, "topics"), ["a", "b", "c"]);
        break;
      }
      await commit(store, [deleted(topic("a"), 1)]);
      assert.deepEqual(await scannedIds(store, "topics"), ["b", "c"]);
    }),
  );
}
