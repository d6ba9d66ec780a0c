/** The operation that imports many resources into a collection. */
import type { importParameters } from "../operations/import-parameters.ts";
import { type About, asMany } from "./about.ts";
import { json, type Part, ref } from "./described.ts";
import { operationIds, schemaNames } from "./names.ts";
import { type MethodsOf, type OperationPlan, success } from "./operations.ts";

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
  };

/** The operations on the path of imports, by method. */
export const importOperations: Record<MethodsOf<"import">, (about: About) => OperationPlan> = {
  POST: (about) => ({
    id: operationIds(about.names).import,
    tag: about.tag,
    summary: `Import ${asMany(about)}`,
    description:
      "Creates all resources in the body, or none. Resources keep their ids. Only administrators can import.",
    credential: "required",
    isNeverForbidden: true, // for others, the path does not exist
    parameters: [
      ...about.path,
      ...Object.entries(parameters).map(([name, each]) => ({ name, in: "query", ...each })),
    ],
    requestBody: { required: true, content: contentOf(about) },
    successes: {
      200: success(about.described, "The report of the import.", {
        content: json(ref("schemas", "ImportReport"), exampleReport),
      }),
    },
    problems: [400, ...unknown(about), 406, 413, 415],
  }),
};

/** The status 404, if the collection can be unknown. With `auth`, the path also exists only for administrators. */
function unknown({ path, described }: About): number[] {
  return path.length > 0 || described.access !== undefined ? [404] : [];
}

function contentOf({ names, version, examples }: About): Part {
  const input = ref("schemas", schemaNames(names).input);
  const lines = version === "3.2" ? { itemSchema: input } : { schema: { type: "string" } };
  return {
    "application/x-ndjson": lines,
    ...json({ type: "array", items: input }, examples && [examples.input]),
    "text/csv": { schema: { type: "string" } },
  };
}

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
};
