/** Several threads of one service wait together for a PostgreSQL database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "../commands/cli.ts";
import { openDatabase } from "../postgres/databases.ts";
import { startProxy } from "../postgres/fault-proxy.ts";
import { type Client, messagesIn, serveThreads } from "../threads/served.ts";
import { until } from "../until.ts";

const statusesOf = async (clients: readonly Client[], path: string): Promise<Set<number>> => {
  const answers = await Promise.all(clients.map((client) => client.send("GET", path)));
  return new Set(answers.map(({ status }) => status));
};

test("threads wait together for a database that cannot be reached yet", async (t) => {
  const { url, release } = await openDatabase();
  t.after(release);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  proxy.refuse();
  const service = await serveThreads(t, 4, { configuration: { store: proxy.urlOf(url) } });
  assert.deepEqual(await statusesOf(service.clients(32), "/readyz"), new Set([503]));
  proxy.heal();
  await until("every thread is ready", async () => {
    const statuses = await statusesOf(service.clients(32), "/readyz");
    return statuses.size === 1 && statuses.has(200);
  });
  const created = await Promise.all(
    service.clients(32).map((client) => client.send("POST", "things", { content: {} })),
  );
  for (const { status, text } of created) assert.equal(status, 201, text);
  const { exitCode, stderr } = await stop(service);
  assert.equal(exitCode, 0);
  const said = messagesIn(stderr).filter(({ msg }) => msg.startsWith("the store cannot be reached yet"));
  assert.equal(said.length, 1, stderr);
});
