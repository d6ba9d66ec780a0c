/** Code runs at a lower priority than the threads that answer requests, so it slows others less. */
import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const module = `
import { getPriority } from "node:os";
import { defineConfig, route } from "holdfast";

export default defineConfig({
  collections: { notes: { hooks: { before: ({ resource }) => ({ ...resource, priority: getPriority() }) } } },
  routes: { priority: route({ path: "priority", access: "public", run: () => getPriority() }) },
});
`;

const skip = process.platform !== "linux" && "only Linux has priorities of threads";

test("hooks and routes run at a lower priority", { skip }, async (t) => {
  const { send, create } = await startFor(t, { module, isWatched: false });
  const { body } = await create("notes", {});
  const { json: ofRoute } = await send({ path: "/api/v1/priority" });
  const expected = Math.min(19, getPriority() + 10); // nice(1): a higher number is a lower priority
  assert.deepEqual([body.priority, ofRoute], [expected, expected]);
});
