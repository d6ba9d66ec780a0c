/** Jobs of a service that is part of an application. Their functions run in its thread. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { job } from "../../../src/index.ts";
import { start } from "../../http/embedded.ts";
import { until } from "../../until.ts";

test("a job of an application runs in its thread, and ends with it", async (t) => {
  const seen: string[] = [];
  const { app, origin } = await start(t, {
    jobs: {
      digest: job({
        cron: "0 0 1 1 *",
        as: "service",
        run: async ({ client, attempt, signal }) => {
          await client.runs?.create({ attempt });
          seen.push("begun");
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          seen.push("aborted");
          throw signal.reason;
        },
      }),
    },
  });
  const url = `${origin}/api/v1`;
  assert.equal((await fetch(`${url}/_jobs/digest/_run`, { method: "POST" })).status, 202);
  await until("it runs", () => seen.length === 1);
  assert.equal(((await (await fetch(`${url}/runs`)).json()) as unknown[]).length, 1);
  await app.close();
  assert.deepEqual(seen, ["begun", "aborted"]);
});
