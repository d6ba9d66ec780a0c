/** Clients that go away while their lists wait or are read. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { SlowStatements } from "../../src/store/postgres/list/slow-statements.ts";
import { ceilingMs, until } from "../until.ts";
import { openDatabase, query } from "./databases.ts";

/** One connection, and the reads of lists on it. The database itself ends none of them while a test waits. */
async function openReads(t: TestContext) {
  const { url, releaseLater } = await openDatabase();
  const connections = new Connections({ url, max: 1, connectTimeoutMs: ceilingMs, onIdleError: () => {} });
  t.after(async () => {
    await connections.close();
    releaseLater();
  });
  return { url, connections, reads: new SlowStatements(connections, 2 * ceilingMs) };
}

test("a client that goes away while its list waits for a connection ends neither the service nor the connection", async (t) => {
  const { connections, reads } = await openReads(t);
  const processes = { sql: "select pg_backend_pid()" };
  const free = Promise.withResolvers<void>();
  const busy = connections.use(async (connection) => {
    const { rows } = await connection.run(processes);
    await free.promise;
    return rows;
  });
  const gone = new AbortController();
  const refused = assert.rejects(
    reads.rows({ sql: "select 1" }, { caller: "a", signal: gone.signal }),
    /went away/,
  );
  gone.abort(new Error("The client went away."));
  await new Promise(setImmediate); // an unhandled rejection would end the process
  free.resolve();
  await refused;
  assert.deepEqual(await reads.rows(processes, undefined), await busy);
});

test("a client that goes away while its list is read ends the statement in the database too", async (t) => {
  const { url, reads } = await openReads(t);
  const isRead = async () => {
    const found = await query(url, "select 1 from pg_stat_activity where query = 'select pg_sleep(3600)'");
    return found.rows.length > 0;
  };
  const gone = new AbortController();
  const client = { caller: "a", signal: gone.signal };
  const refused = assert.rejects(reads.rows({ sql: "select pg_sleep(3600)" }, client), /went away/);
  await until("the list is read", isRead);
  gone.abort(new Error("The client went away."));
  await refused;
  await until("the statement has ended", async () => !(await isRead()));
});
