/** The operations on the whole service: batches, health checks and descriptions. */
import { type Described, json, type Part, ref } from "./described.ts";
import { answer, type MethodsOf, type OperationPlan } from "./operations.ts";

/** The tag of operations that belong to no collection. */
export const serviceTag = "Service";

/** By method, of the batch. */
export const batchOperations: Record<MethodsOf<"batch">, (described: Described) => OperationPlan> = {
  POST: (described) => ({
    id: "runBatch",
    tag: serviceTag,
    summary: "Run a batch",
    description:
      "Runs several creates, replacements, patches and deletes as one transaction: all succeed, or nothing changes.",
    callers: described.access?.mayWrite(undefined) === true ? "anybody too" : "known",
    parameters: [ref("parameters", "idempotencyKey")],
    requestBody: { required: true, content: json(ref("schemas", "Batch"), exampleBatch(described)) },
    answers: {
      200: answer(described, "The result of each operation.", {
        may: ["Idempotent-Replayed"],
        content: json(ref("schemas", "BatchResults"), exampleResults),
      }),
      204: answer(
        described,
        "An earlier request with this key took effect. The caller cannot see its results.",
        {
          must: ["Idempotent-Replayed"],
        },
      ),
    },
    problems: [400, 405, 406, 409, 412, 413, 415, 422, ...(requiresAny(described) ? [428] : [])],
  }),
};

/** It deletes, so that it fits any collection. */
function exampleBatch({ collections }: Described): Part {
  const [name = "topics"] = collections.keys();
  return { operations: [{ method: "DELETE", path: `/${name}/7` }] };
}

const exampleResults = { results: [{ status: 205, headers: {} }] };

function requiresAny({ collections }: Described): boolean {
  return [...collections.values()].some(({ requirePreconditions }) => requirePreconditions);
}

/** The documents outside the prefix, by path. All have GET only. */
export const documentOperations: Readonly<Record<string, (described: Described) => OperationPlan>> = {
  "/livez": (described) => health(described, ["getLiveness", "Check that the service runs"]),
  "/readyz": (described) => readiness(described, "getReadiness"),
  "/healthz": (described) => readiness(described, "getHealth"),
  "/problems/{slug}": (described) => ({
    ...spoken("getProblemType", "Explain a kind of error"),
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
    answers: {
      200: answer(described, "The meaning of the error code.", {
        content: json(ref("schemas", "ProblemType")),
      }),
    },
    problems: [400, 404],
  }),
  "/openapi.json": (described) => openApi(described, ["getOpenApi", "3.1"]),
  "/openapi-3.2.json": (described) => openApi(described, ["getOpenApi32", "3.2"]),
  "/.well-known/api-catalog": (described) => ({
    ...spoken("getApiCatalog", "List the descriptions of the interface"),
    description: "Returns links to the descriptions of the interface (RFC 9727).",
    answers: {
      200: answer(described, "The links.", {
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
  "/.well-known/api-catalog",
];

/** The ids of these operations, which operations of a collection must not take. */
export const serviceIds = [
  "getCollections",
  "getFrontPage",
  "runBatch",
  "getLiveness",
  "getReadiness",
  "getHealth",
  "getProblemType",
  "getOpenApi",
  "getOpenApi32",
  "getApiCatalog",
];

const text: Part = { type: "string" };

function spoken(id: string, summary: string): Pick<OperationPlan, "id" | "tag" | "summary" | "callers"> {
  return { id, tag: serviceTag, summary, callers: "anybody" };
}

const healthContent: Part = { "application/health+json": { schema: ref("schemas", "Health") } };

function health(described: Described, [id, summary]: [string, string]): OperationPlan {
  return {
    ...spoken(id, summary),
    isFree: true,
    description: "For load balancers and monitoring.",
    answers: { 200: answer(described, "The check passes.", { content: healthContent }) },
    problems: [400],
  };
}

function readiness(described: Described, id: string): OperationPlan {
  const plan = health(described, [id, "Check that the service accepts requests"]);
  const failing = answer(described, "The service is stopping, or its store has failed.", {
    content: healthContent,
  });
  return { ...plan, answers: { ...plan.answers, 503: failing } };
}

function openApi(described: Described, [id, version]: [string, string]): OperationPlan {
  return {
    ...spoken(id, `Get this description as OpenAPI ${version}`),
    description: `Describes the interface in OpenAPI ${version}.`,
    answers: { 200: answer(described, "The description.", { content: json({ type: "object" }) }) },
    problems: [400],
  };
}
