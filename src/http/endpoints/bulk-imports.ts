/** The endpoint that imports many resources into a collection. */
import type { CollectionEndpoint } from "../endpoint/endpoint.ts";
import { type About, asMany } from "../openapi/about.ts";
import { hasAdministrators, json, type Part, ref } from "../openapi/described.ts";
import { operationIds, schemaNames } from "../openapi/names.ts";
import { type importParameters, parseImport } from "../operations/import-parameters.ts";
import type { Import } from "../operations/operation.ts";
import { importTypeNames, requireImportType } from "../protocol/content-types.ts";
import { beginImport, isForTask } from "../tasks/task-begin.ts";
import { acceptedTask } from "./tasks.ts";

const parameters: Readonly<Record<(typeof importParameters)[number], { description: string; schema: Part }>> =
  {
    dryRun: {
      description: "Checks everything, writes nothing, and returns the report.",
      schema: { type: "boolean", default: false },
    },
    skipInvalid: {
      description: "Imports the valid resources even if others are invalid.",
      schema: { type: "boolean", default: false },
    },
    delimiter: {
      description: "The character between the cells of CSV, or `tab`.",
      schema: { type: "string", default: "," },
    },
    at: {
      description:
        'Where the list of resources is, if the body is one JSON object: names with dots between them, such as `data.items`. With ".", the object itself is the resource.',
      schema: { type: "string" },
    },
    on: {
      description:
        "The attributes of a unique key, with commas between them. If a resource of the collection has the same values, that of the body changes it. Otherwise, that of the body is a new resource.",
      schema: { type: "string" },
    },
    id: {
      description:
        "The member of each item that is the id of its resource, such as `_id`: names with dots between them. With `none`, each resource gets a new id.",
      schema: { type: "string", default: "id" },
    },
    ids: {
      description:
        "Gives resources new ids if theirs do not fit the collection, and rewrites the references to them: `replace`, or `keep-in:` with the name of an attribute that keeps the old id. Otherwise, such resources are invalid.",
      schema: { type: "string" },
    },
  };

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
    ...Object.entries(parameters).map(([name, each]) => ({ name, in: "query", ...each })),
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
    return (await import("../imports/imports.ts")).performImport(service, parsed, request);
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
