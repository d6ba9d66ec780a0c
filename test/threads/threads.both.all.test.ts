/** Several threads of one service answer requests on the same port, over one PostgreSQL database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "../commands/cli.ts";
import { until } from "../until.ts";
import { requestsByThread, serveThreads } from "./served.ts";

for (const threads of [2, 4]) {
  test(`connections spread over ${threads} threads, and each thread sees what the others wrote`, async (t) => {
    const service = await serveThreads(t, threads);
    assert.match(service.output().stdout, new RegExp(`^ {2}threads {5}${threads}$`, "m"));
    const clients = service.clients(64);
    for (const [n, client] of clients.entries()) {
      const created = await client.send("POST", "things", { content: { n } });
      assert.equal(created.status, 201, created.text);
      const { location = "" } = created.headers;
      const others = clients.slice(0, 16).map((other) => other.send("GET", String(location)));
      for (const answer of await Promise.all(others)) assert.equal(answer.text, created.text);
      const list = await clients[(n + 1) % clients.length]?.send("GET", "things?limit=100");
      assert.equal((JSON.parse(list?.text ?? "") as unknown[]).length, n + 1);
    }
    await until("every request is counted", async () => {
      const counts = await requestsByThread(service);
      assert.deepEqual(
        [...counts.keys()],
        Array.from({ length: threads }, (_, index) => index),
      );
      return [...counts.values()].reduce((sum, each) => sum + each) === 64 * 18;
    });
    const used = [...(await requestsByThread(service)).values()].filter((count) => count > 0);
    assert.equal(used.length, threads); // the system spreads 64 connections by chance: one in 10^7 runs leaves a thread out
    assert.equal((await stop(service)).exitCode, 0);
  });
}
