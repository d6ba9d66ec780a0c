/** Clients that go away while their lists wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { SlowStatements } from "../../src/store/postgres/list/slow-statements.ts";
import { ceilingMs } from "../until.ts";
import { openDatabase } from "./databases.ts";

test("a client that goes away while its list waits for a connection ends neither the service nor the connection", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const connections = new Connections({ url, max: 1, connectTimeoutMs: ceilingMs, onIdleError: () => {} });
  t.after(async () => {
    await connections.close();
    releaseLater();
  });
  const reads = new SlowStatements(connections, ceilingMs);
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
