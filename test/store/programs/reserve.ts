/** Reserves integer ids, says which came last, and waits to be killed. */
import { openStore } from "../../../src/store/open.ts";
import { declaration } from "../contract/fixture.ts";

const store = await openStore({ kind: "sqlite", path: process.argv[2] as string });
await store.migrate([declaration("numbers", { idKind: "integer" })]);
const [first] = await Promise.all([store.reserveIds("numbers", 1_500), store.reserveIds("numbers", 7)]);
process.stdout.write(`${first + 1_506}\n`);
setInterval(() => {}, 1_000);
