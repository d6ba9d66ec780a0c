import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { proveKills } from "./consumers/kills.ts";

test("a service with a consumer that fails at random is killed three times, and no change is missing", async (t) => {
  await proveKills(t, `sqlite:${join(makeFolder(), "store.db")}`, 3);
});
