/** A service that stops lets its routes end, and keeps none of them for ever. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";
import { until } from "../../until.ts";

const source = `
import { defineConfig, route } from "holdfast";

const aborted = (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason.message)));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const begun = (client) => client.notes.create({ is: "begun" });

export default defineConfig({
  collections: { notes: {} },
  routes: {
    short: route({ method: "POST", path: "short", access: "public", run: async ({ client }) => {
      await begun(client);
      await pause(500);
      return (await client.notes.create({ is: "ended" })).is;
    } }),
    waits: route({ method: "POST", path: "waits", access: "public", timeoutMs: 60_000, run: async ({ client, signal }) => {
      await begun(client);
      return aborted(signal);
    } }),
    hangs: route({ method: "POST", path: "hangs", access: "public", timeoutMs: 60_000, run: async ({ client }) => {
      await begun(client);
      await new Promise(() => {});
    } }),
  },
});
`;

interface Answer {
  status: number;
  json: unknown;
}

test("routes in progress end while the service stops", async (t) => {
  const service = await startFor(t, { module: source, isWatched: false });
  /** Not with `send`, whose connections end with the service. */
  const post = async (name: string): Promise<Answer> => {
    const response = await fetch(`${service.origin}/api/v1/${name}`, { method: "POST" });
    return { status: response.status, json: await response.json() };
  };
  const answers = ["short", "waits", "hangs"].map(post);
  const notes = async () => (await service.send({ path: "/api/v1/notes" })).json as unknown[];
  await until("all routes have begun", async () => (await notes()).length === 3);
  const stopped = service.stop();
  const [short, waits, hangs] = (await Promise.all(answers)) as [Answer, Answer, Answer];
  assert.deepEqual([short.status, short.json], [200, "ended"]);
  assert.deepEqual([waits.status, waits.json], [200, "The service stops."]);
  assert.deepEqual([hangs.status, (hangs.json as { code: string }).code], [503, "OUTCOME_UNKNOWN"]);
  await stopped;
});
