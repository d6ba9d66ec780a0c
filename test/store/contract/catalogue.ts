import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { defineCollection } from "../../../src/collection/declaration.ts";
import { StartError } from "../../../src/errors.ts";
import { isDeclared, recordOf } from "../../../src/store/port/record.ts";
import { until } from "../../until.ts";
import {
  commit,
  created,
  declaration,
  deleted,
  number,
  type OpenFixture,
  onStore,
  rejectsWith,
  topic,
  updated,
  user,
} from "./fixture.ts";

const named = {
  type: "object",
  properties: { name: { type: "string", maxLength: 50 }, author: { type: "string" } },
};

export function catalogueContract(open: OpenFixture): void {
  test(
    "a declaration that was read again is the one that was declared, so a start changes nothing",
    onStore(open, async (store, reopen) => {
      const options = { unique: ["name"], indexes: ["name"], references: { author: "users" } };
      const record = recordOf(await defineCollection("books", { ...options, schema: named }));
      await store.migrate([record]);
      assert.ok(isDeclared(store.collections().get("books"), record));
      assert.ok(isDeclared((await reopen()).collections().get("books"), record));
    }),
  );

  test(
    "collections are known by name with their kind of id and schema, also after reopening",
    onStore(open, async (store, reopen) => {
      const schema = '{"type":"object"}';
      await store.migrate([
        declaration("topics", { schema, timestamps: true }),
        declaration("blog-posts_2", { idKind: "integer" }),
      ]);
      const expected = new Map([
        ["topics", "uuid"],
        ["users", "uuid"],
        ["numbers", "integer"],
        ["blog-posts_2", "integer"],
      ]);
      assert.deepEqual([...(await store.collectionNames())].sort(), [...expected.keys()].sort());
      for (const known of [store.collections(), (await reopen()).collections()]) {
        assert.deepEqual(new Map([...known].map(([name, { idKind }]) => [name, idKind])), expected);
        assert.equal(known.get("topics")?.schema, schema);
        assert.equal(known.get("users")?.schema, undefined);
        assert.equal(known.get("topics")?.timestamps, true);
        assert.equal(known.get("users")?.timestamps ?? false, false);
      }
    }),
  );

  test(
    "the size of a collection has its texts, their history, its indexes and its words",
    onStore(open, async (store) => {
      const sizeOf = async (name: string, least: number) => {
        let bytes = 0;
        await until(`${name} has ${least} bytes`, async () => {
          bytes = (await store.sizes([name])).get(name) ?? 0;
          return bytes >= least;
        });
        return bytes;
      };
      const empty = await sizeOf("topics", 1);
      const text = () => randomBytes(200_000).toString("hex"); // no store can compress it to less than half
      await commit(store, [created(topic("a"), { text: text() })]);
      const one = await sizeOf("topics", empty + 200_000);
      await commit(store, [updated(topic("a"), 1, { text: text() })]);
      assert.ok((await sizeOf("topics", one + 200_000)) < one + 2_000_000, "it is about the size");
      assert.deepEqual([...(await store.sizes(["absent"]))], []);
      assert.ok((await sizeOf("users", 1)) <= empty, "another collection does not count");

      const plain = await sizeOf("users", 1);
      const path = ["name"] as const;
      const indexes = [[{ path, descending: false }]];
      await store.migrate([declaration("users", { indexes, search: [path] })]);
      await commit(store, [created(user("b"), { name: "Ada" })]);
      await sizeOf("users", plain + 3 * 4_096);
    }),
  );

  test(
    "a store has a secret of its own, which stays",
    onStore(open, async (store, reopen) => {
      const secret = await store.secret();
      assert.equal(secret.length, 18);
      assert.deepEqual(await (await reopen()).secret(), secret);
      const other = await open();
      try {
        assert.notDeepEqual(await other.store.secret(), secret);
      } finally {
        await other.cleanup();
      }
    }),
  );

  test(
    "migrating changes the schema only, and keeps resources and collections that the plan does not name",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"))]);
      await store.migrate([{ name: "topics", idKind: "uuid", schema: "{}", indexes: [], search: [] }]);
      await store.migrate([declaration("topics")]);
      await store.migrate([]);
      assert.equal(store.collections().get("topics")?.schema, undefined);
      assert.equal(store.collections().size, 3);
      assert.equal((await store.read(topic("a")))?.version, 1);
    }),
  );

  test(
    "names of collections that mean something elsewhere are only names, and case counts",
    onStore(open, async (store) => {
      const names = ["constructor", "toString", "Topics", "TOPICS", "select", "meta", "resources_1"];
      await Promise.all(names.map((name) => store.migrate([declaration(name)])));
      for (const name of names) {
        await commit(store, [created({ collection: name, id: name }, { name })]);
        assert.equal(await store.count(name), 1);
      }
      assert.equal(await store.count("topics"), 0);
      assert.equal(store.collections().get("valueOf"), undefined);
    }),
  );

  test(
    "the kind of id may change while a collection is empty, and not while it has resources",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"))]);
      const plan = [declaration("added"), declaration("topics", { idKind: "integer" })] as const;
      await assert.rejects(store.migrate(plan), StartError);
      assert.equal(store.collections().get("topics")?.idKind, "uuid");
      assert.equal(store.collections().has("added"), false);
      await commit(store, [deleted(topic("a"), 1)]);
      await store.migrate(plan);
      await commit(store, [created(topic("10")), created(topic("9"))]);
      const { items } = await store.list({ collection: "topics", limit: 2 });
      assert.deepEqual(
        items.map(({ id }) => id),
        ["9", "10"],
      );
    }),
  );

  test(
    "integer ids are never given twice, and are above every id that is or was in the collection",
    onStore(open, async (store, reopen) => {
      assert.equal(await store.reserveIds("numbers", 1), 1);
      assert.equal(await store.reserveIds("numbers", 3), 2);
      assert.equal(await store.reserveIds("numbers", 1), 5);
      await commit(store, [created(number("5"))]);
      const again = await reopen();
      assert.equal(await again.reserveIds("numbers", 1), 6);
      await commit(again, [created(number("8")), created(number("-3")), created(number("text"))]);
      assert.equal(await again.reserveIds("numbers", 2), 9);
      await commit(again, [created(number("5000"))]);
      await commit(again, [deleted(number("5000"), 1)]);
      assert.equal(await again.reserveIds("numbers", 2_000), 5_001);
      assert.equal(await again.reserveIds("numbers", 1), 7_001);
    }),
  );

  test(
    "ids reserved at the same time are different",
    onStore(open, async (store) => {
      const firsts = await Promise.all(Array.from({ length: 300 }, () => store.reserveIds("numbers", 7)));
      const ids = firsts.flatMap((first) => Array.from({ length: 7 }, (_, n) => first + n));
      assert.equal(new Set(ids).size, 2_100);
    }),
  );

  test(
    "a collection that has the greatest integer as an id has none left to give",
    onStore(open, async (store) => {
      await commit(store, [created(number(String(Number.MAX_SAFE_INTEGER)))]);
      await rejectsWith("UNAVAILABLE", store.reserveIds("numbers", 1));
      assert.equal(await store.count("numbers"), 1);
    }),
  );

  test(
    "a store that works says so",
    onStore(open, async (store) => {
      assert.equal(store.health().kind, "ok"); // whatever it says of its durability
    }),
  );
}
