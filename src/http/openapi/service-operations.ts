/** The operations outside collections: batches, the list of collections, the start page, health checks and descriptions. */
import { type Described, json, type Part, ref, text } from "./described.ts";
import { hiddenResult, type MethodsOf, type OperationPlan, operationPart, success } from "./operations.ts";

/** The tag of operations that belong to no collection. */
export const serviceTag = "Service";

/** The tag of webhooks. */
export const webhooksTag = "Webhooks";

/** The operations on the path of batches, by method. */
export const batchOperations: Record<MethodsOf<"batch">, (described: Described) => OperationPlan> = {
  POST: (described) => ({
    id: "runBatch",
    tag: serviceTag,
    summary: "Run a batch",
    description:
      "Runs several creates, replacements, patches and deletes as one transaction: all succeed, or nothing changes.",
    credential: described.access?.mayWrite(undefined) === true ? "optional" : "required",
    parameters: [ref("parameters", "idempotencyKey")],
    requestBody: { required: true, content: json(ref("schemas", "Batch"), exampleBatch(described)) },
    successes: {
      200: success(described, "The result of each operation.", {
        may: ["Idempotent-Replayed"],
        content: json(ref("schemas", "BatchResults"), exampleResults),
      }),
      204: hiddenResult(described),
    },
    problems: [400, 405, 406, 409, 412, 413, 415, 422, ...(requiresAny(described) ? [428] : [])],
  }),
};

/** A delete, because its example fits every collection. */
function exampleBatch({ collections }: Described): Part {
  const [name = "topics"] = collections.keys();
  return { operations: [{ method: "DELETE", path: `/${name}/7` }] };
}

const exampleResults = { results: [{ status: 205, headers: {} }] };

function requiresAny({ collections }: Described): boolean {
  return [...collections.values()].some(({ requirePreconditions }) => requirePreconditions);
}

/** The path items of the prefix (the list of collections) and of the root (the start page). They can be the same path. */
export function rootPaths(described: Described): Record<string, Part> {
  const { prefix } = described.settings;
  const list = { get: operationPart(listCollections(described), described) };
  if (prefix === "") return { "/": list };
  return { [prefix]: list, "/": { get: operationPart(frontPage(described), described) } };
}

const page: Part = { "text/html": { schema: text } };

function listCollections(described: Described): OperationPlan {
  const { access, settings } = described;
  const whose = access === undefined ? "" : " The list has only the collections that the caller can list.";
  return {
    id: "getCollections",
    tag: serviceTag,
    summary: "List the collections",
    description: `Returns the name and the path of each collection, sorted by name.${whose}`,
    credential: "optional",
    isNeverForbidden: true,
    successes: {
      200: success(described, "The collections.", {
        ...(settings.docs ? { may: ["Link"] } : {}),
        content: { ...json(ref("schemas", "CollectionList")), ...(settings.prefix === "" ? page : {}) },
      }),
    },
    problems: [400, 406],
  };
}

function frontPage(described: Described): OperationPlan {
  return {
    id: "getFrontPage",
    tag: serviceTag,
    summary: "Get the console",
    description:
      "Returns the console, or a page of links if it is off, if `Accept` contains `text/html`, as in the requests of browsers.",
    credential: "none",
    successes: { 200: success(described, "The page.", { content: page }) },
    problems: [400, 404],
  };
}

/** The documents outside the prefix, by path. All have GET only. */
export const documentOperations: Readonly<Record<string, (described: Described) => OperationPlan>> = {
  "/livez": (described) => health(described, ["getLiveness", "Check that the service runs"]),
  "/readyz": (described) => readiness(described, "getReadiness"),
  "/healthz": (described) => readiness(described, "getHealth"),
  "/problems/{slug}": (described) => ({
    ...publicOperation("getProblemType", "Explain a kind of error"),
    description: "Returns the meaning of an error code. The `type` of problem details links here.",
    parameters: [
      {
        name: "slug",
        in: "path",
        required: true,
        description: "The error code in lower case, with hyphens.",
        example: "validation-failed",
        schema: text,
      },
    ],
    successes: {
      200: success(described, "The meaning of the error code.", {
        content: json(ref("schemas", "ProblemType")),
      }),
    },
    problems: [400, 404],
  }),
  "/openapi.json": (described) => openApi(described, ["getOpenApi", "3.1"]),
  "/openapi-3.2.json": (described) => openApi(described, ["getOpenApi32", "3.2"]),
  "/asyncapi.json": (described) => ({
    ...publicOperation("getAsyncApi", "Get a description of the streams of events"),
    description: "Describes the streams of events in AsyncAPI 3.1.",
    successes: { 200: success(described, "The description.", { content: json({ type: "object" }) }) },
    problems: [400],
  }),
  "/metrics": (described) => ({
    id: "getMetrics",
    tag: serviceTag,
    summary: "Read the metrics",
    description:
      "Returns the metrics of the service in the text format of Prometheus. Only administrators can read them.",
    credential: "required",
    isNeverForbidden: true, // for others, the path does not exist
    successes: {
      200: success(described, "The metrics.", { content: { "text/plain": { schema: text } } }),
    },
    problems: described.access === undefined ? [400] : [400, 404],
  }),
  "/.well-known/api-catalog": (described) => ({
    ...publicOperation("getApiCatalog", "List the descriptions of the interface"),
    description: "Returns links to the descriptions of the interface (RFC 9727).",
    successes: {
      200: success(described, "The links.", {
        must: ["Link"],
        content: { "application/linkset+json": { schema: { type: "object" } } },
      }),
    },
    problems: [400],
  }),
};

/** The paths that do not exist with `docs: false`. */
export const descriptionPaths: readonly string[] = [
  "/openapi.json",
  "/openapi-3.2.json",
  "/asyncapi.json",
  "/.well-known/api-catalog",
];

/** The ids of these operations. No operation of a collection can have them. */
export const serviceIds = [
  "getCollections",
  "getFrontPage",
  "runBatch",
  "rewind",
  "listEvents",
  "getLiveness",
  "getReadiness",
  "getHealth",
  "getProblemType",
  "getOpenApi",
  "getOpenApi32",
  "getAsyncApi",
  "getApiCatalog",
  "getMetrics",
];

function publicOperation(
  id: string,
  summary: string,
): Pick<OperationPlan, "id" | "tag" | "summary" | "credential"> {
  return { id, tag: serviceTag, summary, credential: "none" };
}

const healthContent: Part = { "application/health+json": { schema: ref("schemas", "Health") } };

function health(described: Described, [id, summary]: [string, string]): OperationPlan {
  return {
    ...publicOperation(id, summary),
    isFree: true,
    description: "For load balancers and monitoring.",
    successes: { 200: success(described, "The check passes.", { content: healthContent }) },
    problems: [400],
  };
}

function readiness(described: Described, id: string): OperationPlan {
  const plan = health(described, [id, "Check that the service accepts requests"]);
  const failing = success(described, "The service is stopping, or its store has failed.", {
    content: healthContent,
  });
  return { ...plan, successes: { ...plan.successes, 503: failing } };
}

function openApi(described: Described, [id, version]: [string, string]): OperationPlan {
  return {
    ...publicOperation(id, `Get this description as OpenAPI ${version}`),
    description: `Describes the interface in OpenAPI ${version}.`,
    successes: { 200: success(described, "The description.", { content: json({ type: "object" }) }) },
    problems: [400],
  };
}
