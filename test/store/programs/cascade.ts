/** Deletes what sixty megabytes of resources refer to, and says how many of those are left. */
import { openStore } from "../../../src/store/open.ts";
import { commit, created, deleted, topic, user } from "../contract/fixture.ts";

const resources = 60;
const text = "x".repeat(1_000_000);

const store = await openStore({ kind: "sqlite", path: process.argv[2] as string });
const record = { idKind: "uuid", schema: undefined, indexes: [], search: [] } as const;
await store.migrate([
  { ...record, name: "users" },
  { ...record, name: "topics", references: [{ path: ["by"], collection: "users", onDelete: "cascade" }] },
]);
await commit(store, [created(user("kim"))]);
for (let n = 0; n < resources; n++) await commit(store, [created(topic(`t${n}`), { by: "kim", text })]);
await commit(store, [deleted(user("kim"), 1)]);
process.stdout.write(`${await store.count("topics")} left\n`);
await store.close();
