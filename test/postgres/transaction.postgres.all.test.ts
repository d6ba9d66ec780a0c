/** Transactions whose statements are sent without waiting for those before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { smallWrite, transact } from "../../src/store/postgres/connection/transaction.ts";
import { openDatabase } from "./databases.ts";

test("every statement behind one that failed is told of that failure, and not that there was one", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const connections = new Connections({ url, max: 1, connectTimeoutMs: 5_000, onIdleError: () => {} });
  t.after(async () => {
    await connections.close();
    releaseLater();
  });
  const work = transact(connections, smallWrite, async (transaction) => {
    const sent = ["select 1 / 0", "select 1"].map((sql) => transaction.run({ sql }));
    await Promise.allSettled(sent);
    await sent[1];
  });
  await assert.rejects(work, { code: "22012" });
});
