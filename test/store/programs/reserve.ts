/** Reserves integer ids, says which came last, and waits to be killed. */
import { openStore } from "../../../src/store/open.ts";

const store = await openStore({ kind: "sqlite", path: process.argv[2] as string });
await store.migrate([{ name: "numbers", idKind: "integer", schema: undefined, indexes: [], search: [] }]);
const [first] = await Promise.all([store.reserveIds("numbers", 1_500), store.reserveIds("numbers", 7)]);
process.stdout.write(`${first + 1_506}\n`);
setInterval(() => {}, 1_000);
