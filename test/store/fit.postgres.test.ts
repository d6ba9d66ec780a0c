/** The checks of resources against their declaration judge one state of the store, although others write meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { checkNames, findMisfits } from "../../src/fit.ts";
import { commit, created, declaration, topic, user } from "./contract/fixture.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

for (const [kind, open] of [
  ["SQLite", openSqliteFixture],
  ["PostgreSQL", openPostgresFixture],
] as const)
  test(`on ${kind}, a reference to a resource that is created during the check is no misfit`, async (t) => {
    const { store, cleanup } = await open();
    t.after(cleanup);
    await store.migrate(["topics", "users"].map((name) => declaration(name)));
    await commit(store, [
      created(user("a")),
      created(topic("a"), { by: "a" }),
      created(topic("b"), { by: "no" }),
    ]);
    const references = [{ path: ["by"], collection: "users", onDelete: "restrict" }] as const;
    let isFirst = true;
    const scanEach: typeof store.scanEach = async function* (...asked) {
      for await (const each of store.scanEach(...asked)) {
        if (isFirst) await commit(store, [created(user("c")), created(topic("c"), { by: "c" })]);
        isFirst = false;
        yield each;
      }
    };
    const collection = { ...openCollection("topics"), references };
    const found = await findMisfits({ scanEach }, collection, { names: checkNames, maxListed: 9 });
    const { checked, count, first } = found.get("references") ?? {};
    assert.deepEqual([checked, count, first?.map(({ id }) => id)], [2, 1, ["b"]]);
  });
