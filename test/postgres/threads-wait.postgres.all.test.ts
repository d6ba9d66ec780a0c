/** Several threads of one service wait together for a PostgreSQL database, and survive the ends of its connections. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "../commands/cli.ts";
import { databaseFor, query } from "../postgres/databases.ts";
import { startProxy } from "../postgres/fault-proxy.ts";
import { type Client, messagesIn, type Served, serveThreads } from "../threads/served.ts";
import { until } from "../until.ts";

const statusesOf = async (clients: readonly Client[], path: string): Promise<Set<number>> => {
  const answers = await Promise.all(clients.map((client) => client.send("GET", path)));
  return new Set(answers.map(({ status }) => status));
};

const untilWell = (service: Served) =>
  until("every thread is ready", async () => {
    const statuses = await statusesOf(service.clients(32), "/readyz");
    return statuses.size === 1 && statuses.has(200);
  });

test("threads wait together for a database that cannot be reached yet", async (t) => {
  const url = await databaseFor(t);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  proxy.refuse();
  const service = await serveThreads(t, 4, { configuration: { store: proxy.urlOf(url) } });
  assert.deepEqual(await statusesOf(service.clients(32), "/readyz"), new Set([503]));
  proxy.heal();
  await untilWell(service);
  const created = await Promise.all(
    service.clients(32).map((client) => client.send("POST", "things", { content: {} })),
  );
  for (const { status, text } of created) assert.equal(status, 201, text);
  const { exitCode, stderr } = await stop(service);
  assert.equal(exitCode, 0);
  const said = messagesIn(stderr).filter(({ msg }) => msg.startsWith("the store cannot be reached yet"));
  assert.equal(said.length, 1, stderr);
});

test("no thread ends because the database ends connections, also those that have just become ready", async (t) => {
  const url = await databaseFor(t);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  const service = await serveThreads(t, 4, { configuration: { store: proxy.urlOf(url) } });
  const clients = service.clients(32);
  const ask = async (n: number) => {
    const asked = clients.map((client, place) =>
      place % 2 === 0
        ? client.send("POST", "things", { content: { n } })
        : client.send("GET", "things?sort=n"),
    );
    for (const { status, text } of await Promise.all(asked))
      assert.ok([200, 201, 503].includes(status), `${status} ${text}`);
  };
  for (let round = 0; round < 20; round++) {
    if (round % 4 === 0) proxy.terminate();
    const end =
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast' and datname = current_database()";
    await Promise.all([ask(round), query(url, end), ask(round), query(url, end)]);
    proxy.heal();
    if (round === 0) assert.ok(proxy.terminated > 0);
  }
  await untilWell(service);
  for (const { status, text } of await Promise.all(
    clients.map((client) => client.send("POST", "things", { content: {} })),
  ))
    assert.equal(status, 201, text);
  assert.equal((await stop(service)).exitCode, 0);
});
