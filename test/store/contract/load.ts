import assert from "node:assert/strict";
import { test } from "node:test";
import { StartError } from "../../../src/errors.ts";
import {
  commit,
  created,
  deleted,
  number,
  type OpenFixture,
  onStore,
  rejectsWith,
  scannedIds,
  textOf,
  topic,
} from "./fixture.ts";

const arrival = (id: string) => ({ id, text: textOf(id, { from: "outside" }) });

export function loadContract(open: OpenFixture): void {
  test(
    "what was loaded is there after finish, with versions above every one before, and in the change log",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("old"))]);
      await commit(store, [deleted(topic("old"), 1)]);
      const load = await store.load("topics");
      assert.deepEqual(await load.add([arrival("b"), arrival("old")]), []);
      assert.deepEqual(await load.add([arrival("a")]), []);
      await load.finish();
      const again = await reopen();
      const { items, total, sequence } = await again.list({ collection: "topics", limit: 9 });
      assert.deepEqual(
        items.map(({ id, version, text }) => [id, version, text]),
        [
          ["a", 5, arrival("a").text],
          ["b", 3, arrival("b").text],
          ["old", 4, arrival("old").text],
        ],
      );
      assert.deepEqual([total, sequence], [3, 5]);
      const logged = (await again.changesAfter("topics", 2, 9)).changes;
      assert.deepEqual(
        logged.map(({ id, version, kind, superseded }) => [id, version, kind, superseded]),
        [
          ["b", 3, "created", undefined],
          ["old", 4, "created", undefined],
          ["a", 5, "created", undefined],
        ],
      );
    }),
  );

  test(
    "ids that are taken are told by their position and left as they were",
    onStore(open, async (store) => {
      await commit(store, [created(topic("b"))]);
      const load = await store.load("topics");
      const batches = [
        load.add([arrival("a"), arrival("b"), arrival("a")]),
        load.add([arrival("b"), arrival("c")]),
      ];
      assert.deepEqual(await Promise.all(batches), [
        [
          { position: 1, pointer: undefined },
          { position: 2, pointer: undefined },
        ],
        [{ position: 0, pointer: undefined }],
      ]);
      await load.finish();
      assert.equal((await store.read(topic("b")))?.text, textOf("b"));
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b", "c"]);
    }),
  );

  test(
    "a load that is cancelled leaves the store as it was, and so does one that is never ended",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("a"))]);
      const before = await store.list({ collection: "topics", limit: 9 });
      const cancelled = await store.load("topics");
      await cancelled.add([arrival("b")]);
      assert.deepEqual(await store.list({ collection: "topics", limit: 9 }), before);
      await cancelled.cancel();
      await cancelled.cancel();
      assert.deepEqual(await store.list({ collection: "topics", limit: 9 }), before);
      const abandoned = await store.load("topics");
      await abandoned.add([arrival("c")]);
      const again = await reopen();
      assert.deepEqual(await again.list({ collection: "topics", limit: 9 }), before);
      await commit(again, [created(topic("d"))]);
    }),
  );

  test(
    "nobody else writes while a load is under way, and afterwards everybody may",
    onStore(open, async (store) => {
      const earlier = commit(store, [created(topic("before"))]);
      const load = await store.load("topics");
      await earlier;
      await rejectsWith("UNAVAILABLE", commit(store, [created(topic("meanwhile"))]));
      await rejectsWith("UNAVAILABLE", store.load("users"));
      assert.equal((await store.read(topic("before")))?.version, 1);
      await load.finish();
      await assert.rejects(load.add([arrival("late")]));
      await commit(store, [created(topic("after"))]);
      assert.equal(await store.count("topics"), 2);
    }),
  );

  test(
    "integer ids may be reserved during a load, and a cancelled one gives them back",
    onStore(open, async (store) => {
      const cancelled = await store.load("numbers");
      assert.equal(await store.reserveIds("numbers", 5), 1);
      await cancelled.add([{ id: "9", text: '{"id":9}' }]);
      assert.equal(await store.reserveIds("numbers", 1), 10);
      await cancelled.cancel();
      const load = await store.load("numbers");
      assert.equal(await store.reserveIds("numbers", 2), 1);
      await load.add([{ id: "7", text: '{"id":7}' }]);
      await load.finish();
      assert.equal(await store.reserveIds("numbers", 1), 8);
      assert.equal((await store.read(number("7")))?.id, "7");
    }),
  );

  test(
    "a load may make its collection, and nothing of it is left when that is cancelled or never ended",
    onStore(open, async (store, reopen) => {
      const record = {
        name: "made",
        idKind: "integer",
        schema: '{"type":"object"}',
        indexes: [],
        search: [],
      } as const;
      const cancelled = await store.load(record);
      assert.equal(await store.reserveIds("made", 3), 1);
      await cancelled.add([{ id: "1", text: '{"id":1}' }]);
      assert.equal(await store.count("made"), 0);
      await cancelled.cancel();
      assert.equal(store.collections().get("made"), undefined);
      await (await store.load(record)).add([{ id: "1", text: '{"id":1}' }]);
      const again = await reopen();
      assert.equal(again.collections().get("made"), undefined);
      await again.migrate([{ name: "other", idKind: "uuid", schema: undefined, indexes: [], search: [] }]); // takes the same place
      await commit(again, [created({ collection: "other", id: "o" })]);
      const load = await again.load(record);
      assert.equal(await again.reserveIds("made", 1), 1);
      assert.deepEqual(await load.add([{ id: "1", text: '{"id":1}' }]), []);
      await load.finish();
      assert.equal(again.collections().get("made")?.schema, record.schema);
      assert.deepEqual(await scannedIds(again, "made"), ["1"]);
      assert.equal(await again.reserveIds("made", 1), 2);
    }),
  );

  test(
    "a load may take a schema over, and one that cannot be as given is refused and leaves the store to others",
    onStore(open, async (store) => {
      const record = {
        name: "topics",
        idKind: "uuid",
        schema: '{"type":"object"}',
        indexes: [],
        search: [],
      } as const;
      await (await store.load(record)).cancel();
      assert.equal(store.collections().get("topics")?.schema, undefined);
      await (await store.load(record)).finish();
      assert.equal(store.collections().get("topics")?.schema, record.schema);
      await commit(store, [created(topic("a"))]);
      await assert.rejects(store.load({ ...record, idKind: "integer" }), StartError);
      await commit(store, [created(topic("b"))]);
      assert.equal(store.collections().get("topics")?.idKind, "uuid");
    }),
  );

  test(
    "a load can continue with a collection that it creates",
    onStore(open, async (store) => {
      const load = await store.load("topics");
      await load.add([arrival("a")]);
      await load.next({ name: "made", idKind: "integer", schema: undefined, indexes: [], search: [] });
      assert.equal(await store.reserveIds("made", 1), 1);
      await load.add([{ id: "1", text: '{"id":1}' }]);
      await load.finish();
      assert.equal(store.collections().get("made")?.idKind, "integer");
      assert.deepEqual([await scannedIds(store, "topics"), await scannedIds(store, "made")], [["a"], ["1"]]);
    }),
  );

  test(
    "a load whose next collection is refused cannot finish, and leaves the store to others",
    onStore(open, async (store) => {
      await commit(store, [created({ collection: "users", id: "u" })]);
      const load = await store.load("topics");
      await load.add([arrival("a")]);
      const users = { name: "users", idKind: "integer", schema: undefined, indexes: [], search: [] } as const;
      await assert.rejects(load.next(users), StartError);
      await assert.rejects(load.add([arrival("b")]), StartError);
      await assert.rejects(load.finish(), StartError);
      assert.deepEqual(await scannedIds(store, "topics"), []);
      await commit(store, [created(topic("c"))]);
      assert.deepEqual(await scannedIds(store, "topics"), ["c"]);
    }),
  );

  test(
    "ten thousand resources arrive whole",
    onStore(open, async (store) => {
      const load = await store.load("topics");
      const ids = Array.from({ length: 10_000 }, (_, n) => `t${String(n).padStart(5, "0")}`);
      const batches = Array.from({ length: 10 }, (_, n) => ids.slice(n * 1_000, (n + 1) * 1_000));
      await Promise.all(batches.map((batch) => load.add(batch.map(arrival))));
      await load.finish();
      assert.deepEqual(await scannedIds(store, "topics"), ids);
      assert.equal(await store.count("topics"), 10_000);
    }),
  );
}
