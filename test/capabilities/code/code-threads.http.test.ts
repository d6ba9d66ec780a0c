/** `code.threads`: several workers run routes, consumers and jobs. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { startFor } from "../../http/service.ts";
import { until } from "../../until.ts";

/** The first call keeps its thread busy until the second one has run. */
const source = (file: string) => `
import { existsSync, writeFileSync } from "node:fs";
import { defineConfig, route } from "holdfast";

export default defineConfig({
  code: { threads: 2 },
  collections: { notes: {} },
  routes: {
    busy: route({ path: "busy", access: "public", run: async ({ client }) => {
      await client.notes.create({ is: "begun" });
      while (!existsSync(${JSON.stringify(file)}));
      return "ended";
    } }),
    other: route({ path: "other", access: "public", run: () => {
      writeFileSync(${JSON.stringify(file)}, "");
      return "ended";
    } }),
  },
});
`;

test("with two threads, a call runs while another one keeps its thread busy", async (t) => {
  const { send } = await startFor(t, { module: source(join(makeFolder(), "other")), isWatched: false });
  const get = async (name: string) => (await send({ path: `/api/v1/${name}` }, { mayFail: true })).status;
  const busy = get("busy");
  const notes = async () => (await send({ path: "/api/v1/notes" })).json as unknown[];
  await until("the first call is busy", async () => (await notes()).length > 0);
  assert.deepEqual([await get("other"), await busy], [200, 200]);
});
