/** The endpoints that write to several collections: batches and rewinds. */
import type { RewindReport } from "../../rewind/attempt.ts";
import { type Endpoint, hiddenResult } from "../endpoint/endpoint.ts";
import { performBatch } from "../many/batch.ts";
import { performRewind } from "../many/rewind.ts";
import { beginRewind } from "../many/tasks/rewind-task.ts";
import { isForTask } from "../many/tasks/task-begin.ts";
import { type Described, hasAdministrators, json, type Part, ref } from "../openapi/described.ts";
import { acceptedTask } from "./tasks.ts";

export const batchEndpoint: Endpoint = {
  path: "/_batch",
  method: "POST",
  who: "writers",
  isKeyed: true,
  id: "runBatch",
  summary: "Run a batch",
  description:
    "Runs several creates, replacements, patches and deletes as one commit: all succeed, or nothing changes.",
  parameters: [ref("parameters", "idempotencyKey")],
  body: (described) => ({ required: true, content: json(ref("schemas", "Batch"), exampleBatch(described)) }),
  successes: {
    200: {
      description: "The result of each operation.",
      may: ["Idempotent-Replayed"],
      content: json(ref("schemas", "BatchResults"), { results: [{ status: 205, headers: {} }] }),
    },
    204: hiddenResult,
  },
  errors: (described) => [405, 412, ...(requiresAny(described) ? [428] : [])],
  handle: (service, asked) => performBatch({ service, operation: asked, request: asked.request }),
};

/** A delete, because its example fits every collection. */
function exampleBatch({ collections }: Described): Part {
  const [name = "topics"] = collections().keys();
  return { operations: [{ method: "DELETE", path: `/${name}/7` }] };
}

function requiresAny({ collections }: Described): boolean {
  return [...collections().values()].some(({ requirePreconditions }) => requirePreconditions);
}

const exampleReport: RewindReport = {
  to: "2026-01-31T08:30:00.000Z",
  dryRun: true,
  created: 1,
  replaced: 2,
  deleted: 0,
  collections: [{ name: "topics", created: 1, replaced: 2, deleted: 0 }],
  misfits: { first: [], more: false },
};

export const rewindEndpoint: Endpoint = {
  path: "/_rewind",
  method: "POST",
  who: "administrators",
  exists: hasAdministrators,
  isKeyed: true,
  id: "rewind",
  summary: "Go back in time",
  description:
    "Returns collections to their state at an earlier time, with new versions, in one commit. With `Prefer: respond-async`, the rewind becomes a task, which can be larger. Only administrators can rewind.",
  parameters: [ref("parameters", "idempotencyKey"), ref("parameters", "preferAsync")],
  body: () => ({
    required: true,
    content: json(ref("schemas", "Rewind"), { to: "2026-01-31T08:30:00.000Z", max: 100, dryRun: true }),
  }),
  successes: {
    200: {
      description: "What the rewind did.",
      may: ["Idempotent-Replayed"],
      content: json(ref("schemas", "RewindReport"), exampleReport),
    },
    202: acceptedTask,
    204: hiddenResult,
  },
  handle: (service, asked) => {
    const write = { service, operation: asked, request: asked.request };
    return isForTask(service, asked) ? beginRewind(write) : performRewind(write);
  },
};
