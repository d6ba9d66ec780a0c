/** A consumer misses nothing while the service is killed. The short form is `consumer-kill`. */
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { databaseFor } from "../../postgres/databases.ts";
import { proveKills } from "./consumers/kills.ts";

/** `npm run prove -- kills` repeats it more often. */
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 100);

test("SQLite: a service with a consumer that fails at random is killed, and no change is missing", async (t) => {
  await proveKills(t, `sqlite:${join(makeFolder(), "store.db")}`, kills);
});

test("PostgreSQL: a service with a consumer that fails at random is killed, and no change is missing", async (t) => {
  await proveKills(t, await databaseFor(t), kills);
});
