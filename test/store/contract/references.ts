/** Declared references: no write leaves an id without a resource, and deletes follow `onDelete`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { OnDelete, Reference } from "../../../src/collection/references.ts";
import type { Problem } from "../../../src/errors.ts";
import { logStart, placeAfter, toPlace } from "../../../src/store/port/log-place.ts";
import type { Store } from "../../../src/store/port/store.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  number,
  type OpenFixture,
  onStore,
  type Runs,
  rejectsWith,
  scannedIds,
  textOf,
  topic,
  updated,
  user,
} from "./fixture.ts";

const record = (references: readonly Reference[]) => declaration("topics", { references });
const to = (collection: string, onDelete: OnDelete = "restrict", path = "by"): Reference => ({
  path: [path],
  collection,
  onDelete,
});
const declare = (store: Store, ...references: readonly Reference[]) => store.migrate([record(references)]);

const attributesOf = async (store: Store, id: string) => {
  const stored = await store.read(topic(id));
  return stored === undefined ? undefined : JSON.parse(stored.text);
};

/** Loads topics whose texts have 1 MiB each, in half as many characters. */
async function loadWide(
  store: Store,
  count: number,
  attributesOf: (n: number) => Record<string, unknown>,
): Promise<void> {
  const load = await store.load("topics");
  for (let n = 0; n < count; n++) {
    const id = `t${String(n).padStart(2, "0")}`;
    const bare = Buffer.byteLength(textOf(id, { ...attributesOf(n), odd: "", even: "" }));
    const left = 1024 * 1024 - bare;
    const pad = { odd: "x".repeat(left % 2), even: "é".repeat(Math.floor(left / 2)) };
    await load.add([{ id, text: textOf(id, { ...attributesOf(n), ...pad }) }]);
  }
  await load.finish();
}

export function referencesContract(open: OpenFixture, runs: Runs): void {
  test(
    "a delete by another principal is in the history as theirs, with all that follows from it, in the group of the commit",
    onStore(open, async (store) => {
      await declare(store, to("users", "cascade"), to("numbers", "clear", "n"));
      await commit(store, [created(user("kim")), created(user("lee")), created(number("5"))]);
      await commit(store, [created(topic("a"), { by: "kim" }), created(topic("b"), { by: "lee", n: "5" })]);
      const other = { ...deleted(user("kim"), 1), principal: "sweeper" };
      const committed = await commit(store, [other, deleted(user("lee"), 1), created(user("max"))], {
        principal: "ada",
      });
      assert.equal(committed.length, 3);
      await commit(store, [{ ...deleted(number("5"), 1), principal: "sweeper" }, created(topic("c"))]);
      const changesOf = async (name: string, from: number) =>
        (await store.changesAfter(name, toPlace(from), 9)).changes.map(({ id, kind, principal }) =>
          [id, kind, principal].join(" "),
        );
      assert.deepEqual(await changesOf("users", 2), [
        "kim deleted sweeper",
        "lee deleted ada",
        "max created ada",
      ]);
      assert.deepEqual((await changesOf("topics", 2)).toSorted(), [
        "a deleted sweeper",
        "b deleted ada",
        "c created ",
      ]);
      assert.deepEqual(await changesOf("numbers", 1), ["5 deleted sweeper"]);
      const groups = await Promise.all(
        [user("kim"), user("max"), topic("a")].map(
          async (key) => (await store.changesOf(key, { before: 99, limit: 1 }))[0]?.group,
        ),
      );
      assert.ok(groups[0] !== undefined && new Set(groups).size === 1);
    }),
  );

  test(
    "an id that leads nowhere is refused with its place, also in lists",
    onStore(open, async (store) => {
      await declare(store, to("users"), to("numbers", "restrict", "n"));
      await commit(store, [created(user("kim")), created(number("5"))]);
      await commit(store, [created(topic("a"), { by: ["kim", "kim"], n: 5 })]);
      await commit(store, [created(topic("b"), { by: null })]);
      for (const [attributes, pointer] of [
        [{ by: "lee" }, "#/by"],
        [{ by: ["kim", "lee"] }, "#/by/1"],
        [{ by: "kim", n: 6 }, "#/n"],
      ] as const) {
        for (const change of [created(topic("c"), attributes), updated(topic("b"), 1, attributes)]) {
          await assert.rejects(commit(store, [change]), ({ code, attributes }: Problem) => {
            assert.equal(code, "REFERENCE_NOT_FOUND");
            assert.deepEqual(attributes, [pointer]);
            return true;
          });
        }
      }
      await commit(store, [created(topic("c"), { by: "lee" }), created(user("lee"))]);
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b", "c"]);
    }),
  );

  test(
    "restrict keeps what is referred to, until nobody refers to it any more",
    onStore(open, async (store) => {
      await declare(store, to("users"));
      await commit(store, [created(user("kim")), created(topic("a"), { by: ["kim"] })]);
      await rejectsWith("REFERENCED", commit(store, [deleted(user("kim"), 1)]));
      await commit(store, [deleted(user("kim"), 1), updated(topic("a"), 1, { by: [] })]);
      await commit(store, [created(user("lee")), created(topic("b"), { by: "lee" })]);
      await commit(store, [deleted(user("lee"), 1), deleted(topic("b"), 1)]);
      assert.equal(await store.count("users"), 0);
    }),
  );

  test(
    "cascade deletes those that refer, and those that refer to them, in one group; what was read lately is forgotten",
    onStore(open, async (store) => {
      await declare(store, to("users", "cascade"), to("topics", "cascade", "parent"));
      await commit(store, [
        created(user("kim")),
        created(topic("a"), { by: "kim", parent: "c" }),
        created(topic("c"), { parent: "b" }),
        created(topic("b"), { parent: "a" }),
        created(topic("own")),
      ]);
      await commit(store, [updated(topic("own"), 1, { parent: "own" })]);
      for (const id of ["a", "b", "c"]) await store.read(topic(id));
      const { sequence } = await store.list({ collection: "topics", limit: 9 });
      await commit(store, [deleted(user("kim"), 1)]);
      for (const id of ["a", "b", "c"]) assert.equal(await store.read(topic(id)), undefined);
      const changes = (await store.changesAfter("topics", sequence, 9)).changes;
      assert.deepEqual(
        changes.map(({ id, kind, version }) => [id, kind, version]),
        [
          ["a", "deleted", 2],
          ["b", "deleted", 2],
          ["c", "deleted", 2],
        ],
      );
      const users = (await store.changesAfter("users", toPlace(1), 9)).changes;
      assert.notEqual(users[0]?.group, undefined);
      assert.deepEqual(new Set(changes.map(({ group }) => group)), new Set([users[0]?.group]));
      await commit(store, [deleted(topic("own"), 2)]);
      assert.equal(await store.count("topics"), 0);
    }),
  );

  test(
    "clear takes the id out of those that refer, as a new version of each",
    onStore(open, async (store) => {
      await declare(store, to("users", "clear"), to("users", "clear", "readers"));
      await commit(store, [created(user("kim")), created(user("lee"))]);
      await commit(store, [created(topic("a"), { x: 1, by: "kim", readers: ["kim", "lee", "kim"] })]);
      await store.read(topic("a"));
      await commit(store, [deleted(user("kim"), 1)]);
      assert.deepEqual(await attributesOf(store, "a"), { id: "a", x: 1, readers: ["lee"] });
      assert.equal((await store.read(topic("a")))?.version, 3);
    }),
  );

  test(
    "where resources have timestamps, one that a delete clears gets a new one, also where it had none",
    onStore(open, async (store) => {
      const changed = at + 1_500;
      await store.migrate([{ ...record([to("users", "clear")]), timestamps: true }]);
      const times = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: new Date(at).toISOString() };
      await commit(store, [created(user("kim"))]);
      await commit(store, [
        created(topic("a"), { by: "kim", ...times, x: 1 }),
        created(topic("b"), { by: "kim" }),
      ]);
      await commit(store, [deleted(user("kim"), 1)], { at: changed });
      const updatedAt = new Date(changed).toISOString();
      assert.deepEqual(await attributesOf(store, "a"), { id: "a", x: 1, ...times, updatedAt });
      assert.deepEqual(await attributesOf(store, "b"), { id: "b", createdAt: times.updatedAt, updatedAt });
      assert.equal((await store.read(topic("a")))?.updatedAt, changed);
      await commit(store, [created(user("max")), updated(topic("a"), 2, { by: "max", ...times, updatedAt })]);
      await commit(store, [updated(topic("a"), 3, { by: "max", ...times, updatedAt, x: 2 })], {
        at: changed,
      });
      await commit(store, [deleted(user("max"), 1)], { at }); // the clock was set back
      assert.deepEqual(await attributesOf(store, "a"), { id: "a", x: 2, ...times, updatedAt });
      assert.equal((await store.read(topic("a")))?.updatedAt, changed);
      await store.migrate([record([to("users", "clear")])]);
      await commit(store, [created(user("lee"))]);
      await commit(store, [updated(topic("b"), 2, { by: "lee", updatedAt: 7 })]);
      await commit(store, [deleted(user("lee"), 1)], { at: changed });
      assert.deepEqual(await attributesOf(store, "b"), { id: "b", updatedAt: 7 });
    }),
  );

  test(
    "where one that follows is itself restricted, nothing happens, and what follows is bounded",
    onStore(open, async (store) => {
      await declare(store, to("users", "cascade"), to("topics", "restrict", "parent"));
      await commit(store, [
        created(user("kim")),
        created(topic("a"), { by: "kim" }),
        created(topic("b"), { parent: "a" }),
      ]);
      await rejectsWith("REFERENCED", commit(store, [deleted(user("kim"), 1)]));
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b"]);
      assert.equal((await store.list({ collection: "topics", limit: 9 })).total, 2);
      await commit(store, [deleted(topic("b"), 1)]);
      const load = await store.load("topics");
      const ids = Array.from({ length: 10_000 }, (_, n) => `t${n}`);
      await load.add(ids.map((id) => ({ id, text: textOf(id, { by: "kim" }) })));
      await load.finish();
      await assert.rejects(commit(store, [deleted(user("kim"), 1)]), ({ code, message, change }: Problem) => {
        assert.deepEqual([code, change], ["REFERENCED", 0]);
        assert.equal(
          message,
          'Deleting "kim" would change more than 10,000 resources. Delete or change some of them first.',
        );
        return true;
      });
      assert.equal(await store.count("topics"), 10_001);
      await commit(store, [deleted(topic("a"), 1)]);
      await commit(store, [deleted(user("kim"), 1)]);
      assert.equal(await store.count("topics"), 0);
    }),
  );

  for (const onDelete of ["cascade", "clear"] as const) {
    test(
      `what follows a delete by ${onDelete} is bounded in bytes of text, and the bound says what to do`,
      onStore(open, async (store) => {
        await declare(store, to("users", onDelete));
        await commit(store, [created(user("kim"))]);
        await loadWide(store, 16, (n) => ({ by: n % 2 === 0 ? "kim" : ["kim"] }));
        await commit(store, [created(topic("z"), { by: "kim" })]);
        const { sequence } = await store.list({ collection: "topics", limit: 1 });
        await assert.rejects(commit(store, [deleted(user("kim"), 1)]), ({ code, message }: Problem) => {
          assert.equal(code, "REFERENCED");
          assert.match(
            message,
            /^Deleting "kim" would change more than 16 MiB of resources\. Delete or change some of them first\.$/,
          );
          return true;
        });
        assert.equal((await store.list({ collection: "topics", limit: 1 })).sequence, sequence);
        await commit(store, [deleted(topic("z"), 1)]);
        await commit(store, [deleted(user("kim"), 1)]);
        assert.equal(await store.count("topics"), onDelete === "cascade" ? 0 : 16);
        const head = (await store.logHeads(["topics"])).get("topics")?.sequence;
        assert.equal(head, placeAfter(sequence, 1 + 16));
      }),
    );
  }

  test(
    "what went with one delete is not read again with the next, and hides nobody",
    onStore(open, async (store) => {
      await declare(store, to("users", "cascade"));
      await commit(store, [created(user("kim")), created(user("lee"))]);
      await loadWide(store, 16, (n) => ({ by: n < 15 ? ["kim", "lee"] : "lee" }));
      await commit(store, [created(topic("y"), { by: "lee" }), created(topic("z"), { by: "lee" })]);
      await Promise.all(["kim", "lee"].map((id) => commit(store, [deleted(user(id), 1)])));
      assert.deepEqual(await scannedIds(store, "topics"), []);
    }),
  );

  test(
    "those that refer to several that are deleted together all follow, each once",
    onStore(open, async (store) => {
      await declare(store, to("users", "cascade"));
      await commit(store, [created(user("kim")), created(user("lee"))]);
      const load = await store.load("topics");
      const ids = Array.from({ length: 6_000 }, (_, n) => `t${n}`);
      await load.add(ids.map((id) => ({ id, text: textOf(id, { by: ["kim", "lee"] }) })));
      await load.finish();
      await commit(store, [deleted(user("kim"), 1), deleted(user("lee"), 1)]);
      assert.equal(await store.count("topics"), 0);
    }),
  );

  test(
    "deletes at once that together take more with them than one may all happen",
    onStore(open, async (store) => {
      await declare(store, to("users", "cascade"));
      const ids = ["a", "b", "c", "d"];
      await commit(
        store,
        ids.map((id) => created(user(id))),
      );
      await loadWide(store, 40, (n) => ({ by: ids[n % ids.length] }));
      await Promise.all(ids.map((id) => commit(store, [deleted(user(id), 1)])));
      assert.deepEqual(await scannedIds(store, "topics"), []);
      assert.deepEqual(await scannedIds(store, "users"), []);
    }),
  );

  test(
    "a load is held to references: those into its own collection at its end, the others at once",
    onStore(open, async (store) => {
      await declare(store, to("users"), to("topics", "restrict", "parent"));
      const load = await store.load("topics");
      const arrivals = [
        { id: "a", text: textOf("a", { parent: "b" }) },
        { id: "x", text: textOf("x", { by: "kim" }) },
      ];
      const { refused } = await load.add(arrivals);
      assert.deepEqual(refused, [{ position: 1, pointers: ["#/by"], isLost: true }]);
      await load.add([{ id: "b", text: textOf("b", { parent: "a" }) }]);
      await load.finish();
      const other = await store.load("topics");
      await other.add([{ id: "c", text: textOf("c", { parent: "nobody" }) }]);
      await rejectsWith("REFERENCE_NOT_FOUND", other.finish());
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b"]);
      await rejectsWith("REFERENCED", commit(store, [deleted(topic("a"), 1)]));
    }),
  );

  test(
    "references hold for what was there before they were declared, and outlive the store's opening",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(user("kim")), created(topic("a"), { by: "kim" })]);
      await declare(store, to("users"));
      await rejectsWith("REFERENCED", commit(store, [deleted(user("kim"), 1)]));
      const again = await reopen();
      await rejectsWith("REFERENCED", commit(again, [deleted(user("kim"), 1)]));
      await declare(again);
      await commit(again, [deleted(user("kim"), 1)]);
    }),
  );

  test(
    "a reference that leads nowhere takes back everything of its commit and nothing of its neighbours",
    onStore(open, async (store) => {
      await declare(store, to("users"), to("topics", "restrict", "parent"));
      const receipt = { key: "k", fingerprint: "f", answer: "x", expiresAt: Number.MAX_SAFE_INTEGER };
      const lost = created(topic("b"), { by: "nobody" });
      const results = await Promise.allSettled([
        commit(store, [created(topic("a"))]),
        commit(store, [lost, created(user("b"))], { receipt }),
        commit(store, [created(topic("c"), { parent: "a" })]),
        commit(store, [created(topic("d"))]),
      ]);
      assert.deepEqual(
        results.map((result) => (result.status === "fulfilled" ? result.value[0]?.sequence : "rejected")),
        [1, "rejected", 2, 3],
      );
      const { items, total, sequence } = await store.list({ collection: "topics", limit: 9 });
      assert.deepEqual(
        items.map(({ id }) => id),
        ["a", "c", "d"],
      );
      assert.deepEqual([total, sequence, await store.count("users")], [3, 3, 0]);
      assert.equal(await store.receipt("k", 0), undefined);
      await rejectsWith("REFERENCE_NOT_FOUND", commit(store, [created(user("b")), lost]));
      assert.equal(await store.read(user("b")), undefined);
      assert.deepEqual((await store.changesAfter("users", logStart, 9)).changes, []);
    }),
  );

  test("whatever is created, changed and deleted at once, no reference leads nowhere", async () => {
    const step = fc.record({
      kind: fc.constantFrom("user", "topic", "change", "deleteUser", "deleteTopic"),
      id: fc.integer({ min: 0, max: 3 }),
      by: fc.integer({ min: 0, max: 3 }),
      parent: fc.option(fc.integer({ min: 0, max: 3 })),
    });
    const onDelete = fc.constantFrom<OnDelete>("restrict", "cascade", "clear");
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 60 }),
      onDelete,
      onDelete,
      (steps, one, two) =>
        onStore(open, async (store) => {
          await declare(store, to("users", one), to("topics", two, "parent"));
          await Promise.allSettled(
            steps.map(async ({ kind, id, by, parent }) => {
              const attributes = { by: `u${by}`, ...(parent === null ? {} : { parent: [`t${parent}`] }) };
              if (kind === "user") return commit(store, [created(user(`u${id}`))]);
              if (kind === "topic") return commit(store, [created(topic(`t${id}`), attributes)]);
              const key = kind === "deleteUser" ? user(`u${id}`) : topic(`t${id}`);
              const current = await store.read(key);
              if (current === undefined) return undefined;
              if (kind === "change") return commit(store, [updated(key, current.version, attributes)]);
              return commit(store, [deleted(key, current.version)]);
            }),
          );
          const users = new Set(await scannedIds(store, "users"));
          const topics = new Set(await scannedIds(store, "topics"));
          for (const id of topics) {
            const { by, parent = [] } = await attributesOf(store, id);
            assert.ok(by === undefined || users.has(by), `${id} by ${by}`);
            for (const each of parent) assert.ok(topics.has(each), `${id} below ${each}`);
          }
          assert.equal(await store.count("topics"), topics.size);
        })(),
    );
    await fc.assert(property, { numRuns: runs(10) });
  });
}
