import assert from "node:assert/strict";
import { test } from "node:test";
import { type Problem, StartError } from "../../../src/errors.ts";
import { toPlace } from "../../../src/store/port/log-place.ts";
import { ceilingMs, until } from "../../until.ts";
import {
  commit,
  created,
  declaration,
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
    "a load finds the holders of unique values, and replaces resources with new versions",
    onStore(open, async (store, reopen) => {
      const unique = { path: ["email"], ignoreCase: false } as const;
      await store.migrate([declaration("topics", { unique: [unique] })]);
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("b"), { email: "y" })]);
      const load = await store.load("topics");
      const [x, none, y] = await load.holders(unique, ['"x"', '"z"', '"y"']);
      assert.equal(none, undefined);
      assert.deepEqual([x?.id, x?.version], ["a", 1]);
      assert.equal(x?.text, textOf("a", { email: "x" }));
      const replacing = (id: string, email: string, version = 1) => ({
        id,
        text: textOf(id, { email, n: 1 }),
        replaces: version,
      });
      const isNew = { id: "c", text: textOf("c", { email: "z" }) };
      const taken = replacing("b", "z");
      assert.deepEqual(await load.add([replacing("a", "x"), isNew, taken]), {
        refused: [{ position: 2, pointers: ["#/email"] }],
        reused: [],
      });
      const after = await load.holders(unique, ['"x"', '"z"', '"y"']);
      assert.deepEqual(
        after.map((each) => [each?.id, each?.version]),
        [
          ["a", 2],
          ["c", 1],
          ["b", y?.version],
        ],
      );
      await load.finish();
      const again = await reopen();
      const { items } = await again.list({ collection: "topics", limit: 9 });
      assert.deepEqual(
        items.map(({ id, version, text }) => [id, version, text]),
        [
          ["a", 2, replacing("a", "x").text],
          ["b", 1, textOf("b", { email: "y" })],
          ["c", 1, isNew.text],
        ],
      );
      const { changes } = await again.changesAfter("topics", toPlace(2), 9);
      assert.deepEqual(
        changes.map(({ id, kind, superseded }) => [id, kind, superseded]),
        [
          ["a", "updated", textOf("a", { email: "x" })],
          ["c", "created", undefined],
        ],
      );
    }),
  );

  test(
    "what was loaded is there after finish and in the change log, and only an id that was used before has a version above 1",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("old"))]);
      await commit(store, [deleted(topic("old"), 1)]);
      const load = await store.load("topics");
      assert.deepEqual(await load.add([arrival("b"), arrival("old")]), { refused: [], reused: [1] });
      assert.deepEqual(await load.add([arrival("a")]), { refused: [], reused: [] });
      await load.finish();
      const again = await reopen();
      const { items, total, sequence } = await again.list({ collection: "topics", limit: 9 });
      assert.deepEqual(
        items.map(({ id, version, text }) => [id, version, text]),
        [
          ["a", 1, arrival("a").text],
          ["b", 1, arrival("b").text],
          ["old", 3, arrival("old").text],
        ],
      );
      assert.deepEqual([total, sequence], [3, 5]);
      const logged = (await again.changesAfter("topics", toPlace(2), 9)).changes;
      assert.deepEqual(
        logged.map(({ id, version, kind, superseded }) => [id, version, kind, superseded]),
        [
          ["b", 1, "created", undefined],
          ["old", 3, "created", undefined],
          ["a", 1, "created", undefined],
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
      const refused = (await Promise.all(batches)).map((each) => each.refused);
      assert.deepEqual(refused, [
        [
          { position: 1, pointers: [] },
          { position: 2, pointers: [] },
        ],
        [{ position: 0, pointers: [] }],
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
    "other writes wait for a load, whether it finishes or is cancelled",
    onStore(
      open,
      async (store) => {
        await commit(store, [created(topic("before"))]);
        for (const [end, id] of [
          ["finish", "first"],
          ["cancel", "second"],
        ] as const) {
          const load = await store.load("topics");
          let isWritten = false;
          const waiting = commit(store, [created(topic(`while ${id}`))]).then(() => {
            isWritten = true;
          });
          const reserving = store.reserveIds("numbers", 1);
          await load.add([arrival(id)]);
          await rejectsWith("UNAVAILABLE", store.load("users"));
          assert.equal((await store.read(topic("before")))?.version, 1);
          assert.ok(!isWritten);
          await load[end]();
          await waiting;
          assert.ok((await reserving) > 0);
          await assert.rejects(load.add([arrival("late")]));
        }
        await commit(store, [created(topic("after"))]);
        assert.deepEqual(await scannedIds(store, "topics"), [
          "after",
          "before",
          "first",
          "while first",
          "while second",
        ]);
      },
      // A busy machine can take longer than the default.
      { importWaitMs: ceilingMs },
    ),
  );

  test(
    "writes that arrive between many loads are all there, also if the loads are cancelled",
    onStore(open, async (store) => {
      await store.migrate([declaration("numbers", { idKind: "integer" })]);
      const ids = Array.from({ length: 60 }, (_, n) => `w${n}`);
      const numbers: number[] = [];
      let isOver = false;
      const loading = (async () => {
        for (let n = 0; !isOver; n++) {
          const load = await store.load("topics");
          const added = load.add([arrival(`load ${n}`)]);
          if (n % 2 === 0) await load.cancel();
          else await Promise.all([added, load.finish()]);
        }
      })();
      for (let n = 0; n < ids.length; n += 3) {
        const some = ids.slice(n, n + 3);
        await Promise.all(some.map((id) => commit(store, [created(topic(id))])));
        numbers.push(await store.reserveIds("numbers", 1));
        await store.migrate([declaration(`made${n}`)]);
      }
      isOver = true;
      await loading;
      const all = new Set(await scannedIds(store, "topics"));
      assert.deepEqual(
        ids.filter((id) => !all.has(id)),
        [],
      );
      assert.equal(new Set(numbers).size, numbers.length);
      assert.ok(numbers.length === 20 && store.collections().has("made57"));
    }),
  );

  test(
    "a write that waits too long for a load is refused and never written",
    onStore(
      open,
      async (store) => {
        const load = await store.load("numbers");
        await rejectsWith("UNAVAILABLE", commit(store, [created(number("5"))]));
        await rejectsWith("UNAVAILABLE", store.reserveIds("numbers", 1));
        await load.finish();
        assert.deepEqual(await scannedIds(store, "numbers"), []);
        // On a busy machine, a store can notice the end of the load later than its writes can wait.
        await until("a write is accepted", () =>
          commit(store, [created(number("5"))]).then(
            () => true,
            (error: Problem) => {
              if (error.code !== "UNAVAILABLE") throw error;
              return false;
            },
          ),
        );
      },
      { importWaitMs: 20 },
    ),
  );

  test(
    "the refusal of a write says when the load will end, from what it has added and what is left",
    onStore(
      open,
      async (store) => {
        const retryAfter = async (length?: number) => {
          const load = await store.load("topics", length === undefined ? {} : { length });
          await load.add([arrival("a")]);
          const refused = await commit(store, [created(topic("b"))]).catch((error: Problem) => error);
          await load.cancel();
          return (refused as Problem).headers["retry-after"];
        };
        assert.equal(await retryAfter(1 + arrival("a").text.length), "1", "everything is added");
        assert.equal(await retryAfter(Number.MAX_SAFE_INTEGER), "3600", "the most that a refusal says");
        assert.equal(await retryAfter(), "1", "as long as the write has waited");
      },
      { importWaitMs: 20 },
    ),
  );

  test(
    "a load that is tried out writes nothing, and says what finish would say",
    onStore(open, async (store) => {
      const load = await store.load("topics");
      await load.add([arrival("a")]);
      await load.tryOut();
      assert.deepEqual(await scannedIds(store, "topics"), []);
      await store.migrate([
        declaration("topics", {
          references: [{ path: ["in"], collection: "topics", onDelete: "restrict" }],
        }),
      ]);
      const lost = await store.load("topics");
      await lost.add([{ id: "b", text: textOf("b", { in: "gone" }) }]);
      await rejectsWith("REFERENCE_NOT_FOUND", lost.tryOut());
      await commit(store, [created(topic("c"))]);
      assert.deepEqual(await scannedIds(store, "topics"), ["c"]);
    }),
  );

  test(
    "the history names who loaded, and listeners learn of it",
    onStore(open, async (store) => {
      const noticed = Promise.withResolvers<void>();
      const end = store.onCommit((names) => names.includes("topics") && noticed.resolve());
      const load = await store.load("topics", { principal: "ada" });
      await load.add([arrival("a")]);
      await load.finish();
      await noticed.promise;
      end();
      const [change] = await store.changesOf(topic("a"), { before: 9, limit: 1 });
      assert.equal(change?.principal, "ada");
    }),
  );

  test(
    "a load reserves integer ids, and a cancelled one gives them back",
    onStore(open, async (store) => {
      const cancelled = await store.load("numbers");
      assert.equal(await cancelled.reserveIds(5), 1);
      await cancelled.add([{ id: "9", text: '{"id":9}' }]);
      assert.equal(await cancelled.reserveIds(1), 10);
      await cancelled.cancel();
      const load = await store.load("numbers");
      assert.equal(await load.reserveIds(2), 1);
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
      assert.equal(await cancelled.reserveIds(3), 1);
      await cancelled.add([{ id: "1", text: '{"id":1}' }]);
      assert.equal(await store.count("made"), 0);
      await cancelled.cancel();
      assert.equal(store.collections().get("made"), undefined);
      await (await store.load(record)).add([{ id: "1", text: '{"id":1}' }]);
      const again = await reopen();
      assert.equal(again.collections().get("made"), undefined);
      await again.migrate([declaration("other")]); // takes the same place
      await commit(again, [created({ collection: "other", id: "o" })]);
      const load = await again.load(record);
      assert.equal(await load.reserveIds(1), 1);
      assert.deepEqual(await load.add([{ id: "1", text: '{"id":1}' }]), { refused: [], reused: [] });
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
      await load.next(declaration("made", { idKind: "integer" }));
      assert.equal(await load.reserveIds(1), 1);
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
      const users = declaration("users", { idKind: "integer" });
      await assert.rejects(load.next(users), StartError);
      await assert.rejects(load.add([arrival("b")]), StartError);
      await assert.rejects(load.finish(), StartError);
      assert.deepEqual(await scannedIds(store, "topics"), []);
      await commit(store, [created(topic("c"))]);
      assert.deepEqual(await scannedIds(store, "topics"), ["c"]);
    }),
  );

  test(
    "thousands of resources arrive whole",
    onStore(open, async (store) => {
      const load = await store.load("topics");
      const ids = Array.from({ length: 2_000 }, (_, n) => `t${String(n).padStart(5, "0")}`);
      const batches = Array.from({ length: 2 }, (_, n) => ids.slice(n * 1_000, (n + 1) * 1_000));
      await Promise.all(batches.map((batch) => load.add(batch.map(arrival))));
      await load.finish();
      assert.deepEqual(await scannedIds(store, "topics"), ids);
      assert.equal(await store.count("topics"), 2_000);
    }),
  );
}
