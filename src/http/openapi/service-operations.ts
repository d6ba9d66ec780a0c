/** The operations of the service as a whole: several writes at once, and what it says of itself. */
import { type Described, type Part, ref } from "./described.ts";
import { answer, json, type MethodsOf, type OperationPlan } from "./operations.ts";

/** What the operations that belong to no collection are grouped under. */
export const serviceTag = "Service";

/** By method, of the batch. */
export const batchOperations: Record<MethodsOf<"batch">, (described: Described) => OperationPlan> = {
  POST: (described) => ({
    id: "runBatch",
    tag: serviceTag,
    summary: "Carry out several operations",
    description: "Carries out creates, replacements, patches and deletes: all of them, or none.",
    callers: described.access?.mayWrite(undefined) === true ? "anybody too" : "known",
    parameters: [ref("parameters", "idempotencyKey")],
    requestBody: { required: true, content: json(ref("schemas", "Batch")) },
    answers: {
      200: answer(described, "What came of each operation.", {
        may: ["Idempotent-Replayed"],
        content: json(ref("schemas", "BatchResults")),
      }),
      204: answer(described, "An earlier try took effect. This caller may not see its results.", {
        must: ["Idempotent-Replayed"],
      }),
    },
    problems: [400, 405, 406, 409, 412, 413, 415, 422, ...(requiresAny(described) ? [428] : [])],
  }),
};

function requiresAny({ collections }: Described): boolean {
  return [...collections.values()].some(({ requirePreconditions }) => requirePreconditions);
}

/** What the service says of itself, by path outside the prefix; all of it is read with GET. */
export const documentOperations: Readonly<Record<string, (described: Described) => OperationPlan>> = {
  "/livez": (described) => health(described, ["getLiveness", "Whether the program runs"]),
  "/readyz": (described) => readiness(described, "getReadiness"),
  "/healthz": (described) => readiness(described, "getHealth"),
  "/problems/{slug}": (described) => ({
    ...spoken("getProblemType", "What a kind of problem means"),
    description: "What the `type` of a problem leads to.",
    parameters: [
      { name: "slug", in: "path", required: true, description: "The code in lower case.", schema: text },
    ],
    answers: { 200: answer(described, "What it means.", { content: json(ref("schemas", "ProblemType")) }) },
    problems: [400, 404],
  }),
  "/openapi.json": (described) => openApi(described, ["getOpenApi", "3.1"]),
  "/openapi-3.2.json": (described) => openApi(described, ["getOpenApi32", "3.2"]),
  "/.well-known/api-catalog": (described) => ({
    ...spoken("getApiCatalog", "Where the interface is described"),
    description: "A set of links to what describes the interface (RFC 9727).",
    answers: {
      200: answer(described, "The links.", {
        must: ["Link"],
        content: { "application/linkset+json": { schema: { type: "object" } } },
      }),
    },
    problems: [400],
  }),
};

/** Those that are not there where the service describes nothing. */
export const descriptionPaths: readonly string[] = [
  "/openapi.json",
  "/openapi-3.2.json",
  "/.well-known/api-catalog",
];

/** The names of these operations that a collection's could have too. */
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
    description: "For whatever watches over the service. Needs no credential.",
    answers: { 200: answer(described, "It passes.", { content: healthContent }) },
    problems: [400],
  };
}

function readiness(described: Described, id: string): OperationPlan {
  const plan = health(described, [id, "Whether requests are taken"]);
  const failing = answer(described, "The service is stopping, or its store has failed.", {
    content: healthContent,
  });
  return { ...plan, answers: { ...plan.answers, 503: failing } };
}

function openApi(described: Described, [id, version]: [string, string]): OperationPlan {
  return {
    ...spoken(id, `This description, as OpenAPI ${version}`),
    description: `Describes the interface in OpenAPI ${version}.`,
    answers: { 200: answer(described, "The description.", { content: json({ type: "object" }) }) },
    problems: [400],
  };
}
