/** The endpoint that imports many resources into a collection. */
import { importOptions } from "../../import/options.ts";
import type { CollectionEndpoint } from "../endpoint/endpoint.ts";
import { beginImport } from "../many/tasks/import-task.ts";
import { isForTask } from "../many/tasks/task-begin.ts";
import { type About, asMany } from "../openapi/about.ts";
import { hasAdministrators, json, type Part, ref } from "../openapi/described.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { parseImport } from "../operations/import-parameters.ts";
import type { Import } from "../operations/operation.ts";
import { importTypeNames, requireImportType } from "../protocol/content-types.ts";
import { acceptedTask } from "./tasks.ts";

const noIds = { count: 0, first: [] };

const exampleReport = {
  dryRun: false,
  complete: true,
  resources: 2,
  invalid: 0,
  imported: 2,
  errors: [],
  generatedIds: noIds,
  replacedIds: noIds,
  stringIds: noIds,
  reusedIds: noIds,
};

export const importEndpoint: CollectionEndpoint<Import> = {
  path: "/{collection}/_import",
  method: "POST",
  who: "administrators",
  exists: hasAdministrators,
  content: { types: importTypeNames, require: requireImportType, limit: "importBytes" },
  id: ({ names }) => operationIds(names).import,
  summary: (about) => `Import ${asMany(about)}`,
  description:
    "Creates all resources in the body, or none. Resources keep their ids. With `Prefer: respond-async`, the import becomes a task, which can be larger. Only administrators can import.",
  parameters: [
    ...Object.entries(importOptions).map(([name, { description, schema }]) => ({
      name,
      in: "query",
      description,
      schema,
    })),
    ref("parameters", "preferAsync"),
  ],
  body: (about) => ({ required: true, content: contentOf(about) }),
  successes: {
    200: {
      description: "The report of the import.",
      content: json(ref("schemas", "ImportReport"), exampleReport),
    },
    202: acceptedTask,
  },
  parse(_, { route: { collection, query }, caller, request }) {
    // Administrators see every attribute.
    return {
      collection,
      asked: parseImport(query, { ...collection, visibility: undefined }, request),
      caller,
    };
  },
  // The code is loaded here, because few services import while they run.
  handle: async (service, asked) => {
    const { parsed, request } = asked;
    if (isForTask(service, asked)) return beginImport(service, parsed, request);
    return (await import("../many/imports.ts")).performImport(service, parsed, request);
  },
};

function contentOf({ names, version, examples }: About): Part {
  const input = ref("schemas", schemaNames(names).input);
  const lines = version === "3.2" ? { itemSchema: input } : { schema: { type: "string" } };
  return {
    "application/x-ndjson": lines,
    ...json({ type: "array", items: input }, examples && [examples.input]),
    "text/csv": { schema: { type: "string" } },
  };
}
