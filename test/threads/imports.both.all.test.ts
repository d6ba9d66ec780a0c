/** Imports, rewinds and other writes that several threads get at the same time wait for each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "../commands/cli.ts";
import { machineTime } from "../until.ts";
import { threadsToTry } from "./count.ts";
import { type Client, serveThreads } from "./served.ts";

const imports = 8;
const resources = 300;

/** No request gives up its wait for the others. */
const patient = { limits: { handlerTimeoutMs: 600_000 } };

const listed = async (client: Client, path: string): Promise<number> =>
  Number((await client.send("GET", `${path}?limit=1`)).headers["x-total-count"]);

for (const threads of threadsToTry(2, 4)) {
  test(`imports and creates at the same time all take effect with ${threads} threads`, async (t) => {
    const service = await serveThreads(t, threads, { configuration: patient });
    const clients = service.clients(imports * 2);
    const [one] = clients as [Client];
    assert.equal((await one.send("POST", "things", { content: {} })).status, 201);
    const answers = await Promise.all(
      clients.map((client, n) => {
        const items = Array.from({ length: resources }, (_, index) => ({ id: `${n}-${index}` }));
        if (n % 2 === 0) return client.send("POST", "things/_import", { content: items });
        return client.send("POST", "things", { content: { n } });
      }),
    );
    for (const { status, text } of answers) assert.ok(status < 300, text);
    for (const client of clients.slice(0, 8))
      assert.equal(await listed(client, "things"), 1 + imports + imports * resources);
    assert.equal((await stop(service)).exitCode, 0);
  });

  test(`rewinds and creates at the same time all take effect with ${threads} threads`, async (t) => {
    const service = await serveThreads(t, threads, { configuration: patient });
    const clients = service.clients(imports * 2);
    const [one] = clients as [Client];
    for (const name of ["things", "others"])
      assert.equal((await one.send("POST", name, { content: {} })).status, 201);
    const to = new Date(machineTime()).toISOString();
    const answers = await Promise.all(
      clients.map((client, n) => {
        const content = { to, collections: ["others"], max: 1 };
        if (n % 2 === 0) return client.send("POST", "_rewind", { content });
        return client.send("POST", "things", { content: { n } });
      }),
    );
    for (const { status, text } of answers) assert.ok(status < 300, text);
    for (const client of clients.slice(0, 8)) assert.equal(await listed(client, "things"), 1 + imports);
    assert.equal((await stop(service)).exitCode, 0);
  });
}
