/** The deletes of expired resources, and one that others keep from being deleted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Expiry } from "../../src/expiry/expired.ts";
import { withMethods } from "../../src/store/port/store.ts";
import { machineTime } from "../until.ts";
import {
  commit,
  created,
  declaration,
  deleted,
  onStore,
  rejectsWith,
  topic,
  user,
} from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const expires = { path: ["until"], descending: false, as: "date", expires: true } as const;
const past = { until: "2020-01-01T00:00:00.000Z" };

test(
  "an expired resource that cannot be deleted does not hold up others, and keeps its values",
  onStore(openSqliteFixture, async (store) => {
    await store.migrate([
      declaration("users", { indexes: [[expires]], unique: [{ path: ["code"], ignoreCase: false }] }),
      declaration("topics", { references: [{ path: ["by"], collection: "users", onDelete: "cascade" }] }),
      declaration("numbers", {
        idKind: "integer",
        references: [{ path: ["t"], collection: "topics", onDelete: "restrict" }],
      }),
    ]);
    const warnings: string[] = [];
    const expiry = new Expiry({
      store,
      collections: () => new Map([["users", { expires }]]),
      now: machineTime,
      warn: (text) => warnings.push(text),
    });
    await commit(store, [
      created(user("stuck"), { ...past, code: "s" }),
      ...Array.from({ length: 150 }, (_, n) => created(user(`u${n}`), { ...past, code: `c${n}` })),
      created(user("live"), { code: "l" }),
    ]);
    // A topic that a number refers to: with "restrict", it cannot be deleted with its user.
    await commit(store, [created(topic("t"), { by: "stuck" })]);
    const number = { collection: "numbers", id: "1" };
    await commit(store, [{ key: number, expect: "absent", next: '{"id":1,"t":"t"}' }]);

    const take = (code: string, id: string) =>
      expiry.commit({ changes: [created(user(id), { code })], at: machineTime() });
    await rejectsWith("UNIQUE_VIOLATION", take("s", "taker"));
    assert.deepEqual(await take("c7", "taker"), [{ version: 1, sequence: 154 }]);
    assert.equal(await store.read(user("u7")), undefined);
    // The error of a change of the commit itself is not about the holder.
    const own = [created(user("other"), { code: "c8" }), deleted(topic("t"), 1)];
    await rejectsWith("REFERENCED", expiry.commit({ changes: own, at: machineTime() }));
    assert.ok(await store.read(user("u8")));

    await expiry.sweep();
    assert.equal(await store.count("users"), 3);
    await expiry.sweep();
    assert.deepEqual(warnings, [
      'the expired resource users/stuck cannot be deleted: Other resources refer to "t": delete or change them first.',
    ]);
    await commit(store, [deleted(number, 1)]);
    await expiry.sweep();
    assert.equal(await store.count("users"), 2);
    assert.equal(await store.read(topic("t")), undefined);
  }),
);

test(
  "a value is free if others delete its expired holder before it is read",
  onStore(openSqliteFixture, async (store) => {
    await store.migrate([
      declaration("users", { indexes: [[expires]], unique: [{ path: ["code"], ignoreCase: false }] }),
    ]);
    await commit(store, [created(user("a"), { ...past, code: "a" })]);
    const read: typeof store.read = async (key) => {
      await commit(store, [deleted(user("a"), 1)]);
      return store.read(key);
    };
    const expiry = new Expiry({
      store: withMethods(store, { read }),
      collections: () => new Map([["users", { expires }]]),
      now: machineTime,
      warn: assert.fail,
    });
    const changes = [created(user("taker"), { code: "a" })];
    assert.equal((await expiry.commit({ changes, at: machineTime() }))[0]?.version, 1);
  }),
);
