/** Reserves integer ids, creates and deletes a resource with the last one, prints this id, and waits to be killed. */
import { openStore } from "../../../src/store/open.ts";
import { commit, created, declaration } from "../contract/fixture.ts";

const store = await openStore({ kind: "sqlite", path: process.argv[2] as string });
await store.migrate([declaration("numbers", { idKind: "integer" })]);
const [first] = await Promise.all([store.reserveIds("numbers", 1_500), store.reserveIds("numbers", 7)]);
const key = { collection: "numbers", id: String(first + 1_506) };
await commit(store, [created(key)]);
await commit(store, [{ key, expect: 1, next: undefined }]);
process.stdout.write(`${key.id}\n`);
setInterval(() => {}, 1_000);
