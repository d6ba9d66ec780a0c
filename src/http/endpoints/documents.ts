/** The endpoints of documents outside the prefix: health checks, error codes, descriptions of the interface, pages and metrics. */
import { type ProblemCode, problems } from "../../errors.ts";
import type { StoreHealth } from "../../store/port/store.ts";
import { descriptionOf } from "../describe/descriptions.ts";
import { absence, documentResult, rootPage } from "../documents/root-page.ts";
import type { Endpoint, Success } from "../endpoint/endpoint.ts";
import type { EndpointTable } from "../endpoint/router.ts";
import { type Described, json, type Part, ref, text } from "../openapi/described.ts";
import { type Asked, type Document, notFound, type Result } from "../operations/result.ts";
import { problemSlug } from "../problem.ts";
import { jsonType } from "../protocol/message.ts";
import { STATUS_CODES } from "../protocol/node-http.ts";
import { splitTarget } from "../protocol/target.ts";
import type { Administration, Data, Service, Surface } from "../service.ts";

/** What a row about a document says: its path, the id and the summary of the operation, and what makes the document. */
interface DocumentRow
  extends Pick<
    Endpoint,
    | "path"
    | "id"
    | "summary"
    | "description"
    | "successes"
    | "exists"
    | "names"
    | "parse"
    | "isDescribed"
    | "isFree"
    | "isInApplications"
  > {
  /** `undefined` if it does not exist. */
  document(service: Service, asked: Asked): Document | undefined | Promise<Document | undefined>;
}

/** A row for a document outside the prefix, which every request gets. */
export function publicDocument({ document, ...row }: DocumentRow): Endpoint {
  return {
    method: "GET",
    isOutside: true,
    who: "public",
    formats: "any",
    isAlwaysReady: true,
    ...row,
    async handle(service, asked) {
      const found = await document(service, asked);
      if (found !== undefined) return { kind: "document", document: found };
      return absence(service, splitTarget(asked.request.target).path, asked.request);
    },
  };
}

const healthContent: Part = { "application/health+json": { schema: ref("schemas", "Health") } };

const passes: Success = { description: "The check passes.", content: healthContent };

/** The endpoints. */
export const documentEndpoints: readonly Endpoint[] = [
  {
    path: "/",
    isOutside: true,
    method: "GET",
    who: "public",
    isForBrowsers: true,
    ignoresHeaders: true,
    exists: ({ settings }) => settings.prefix !== "",
    id: "getFrontPage",
    summary: "Get the console",
    description:
      "Returns the console, or a page of links if it is off, if `Accept` contains `text/html`, as in the requests of browsers.",
    successes: {
      200: { description: "The page.", content: { "text/html": { schema: text } } },
    },
    errors: [404],
    handle: (service, { caller, request }) => documentResult(rootPage(service, caller, request)),
  },
  publicDocument({
    path: "/livez",
    id: "getLiveness",
    summary: "Check that the service runs",
    description: "For load balancers and monitoring.",
    isFree: true,
    successes: { 200: passes },
    document: () => healthDocument("pass"),
  }),
  readinessAt("/readyz", "getReadiness"),
  readinessAt("/healthz", "getHealth"),
  publicDocument({
    path: "/problems/{slug}",
    names: {
      slug: {
        description: "The error code in lower case, with hyphens.",
        example: "validation-failed",
        is: isName,
      },
    },
    id: "getProblemType",
    summary: "Explain a kind of error",
    description: "Returns the meaning of an error code. The `type` of problem details links here.",
    successes: {
      200: { description: "The meaning of the error code.", content: json(ref("schemas", "ProblemType")) },
    },
    document: (_, { names }) => problemDocument(names.slug as string),
  }),
  description({
    path: "/openapi.json",
    isInApplications: true,
    id: "getOpenApi",
    summary: "Get this description as OpenAPI 3.1",
    description: "Describes the interface in OpenAPI 3.1.",
  }),
  description({
    path: "/openapi-3.2.json",
    isInApplications: true,
    id: "getOpenApi32",
    summary: "Get this description as OpenAPI 3.2",
    description: "Describes the interface in OpenAPI 3.2.",
  }),
  description({
    path: "/asyncapi.json",
    id: "getAsyncApi",
    summary: "Get a description of the streams of events",
    description: "Describes the streams of events in AsyncAPI 3.1.",
    isDescribed: ({ settings }) => settings.docs && settings.hasFeed,
  }),
  {
    path: "/metrics",
    isOutside: true,
    method: "GET",
    who: "administrators",
    exists: ({ settings }) => settings.metrics,
    formats: "any",
    isAlwaysReady: true,
    id: "getMetrics",
    summary: "Read the metrics",
    description:
      "Returns the metrics of the service in the text format of Prometheus. Only administrators can read them.",
    successes: {
      200: { description: "The metrics.", content: { "text/plain": { schema: text } } },
    },
    handle: readMetrics,
  },
  description({
    path: "/.well-known/api-catalog",
    id: "getApiCatalog",
    summary: "List the descriptions of the interface",
    description: "Returns links to the descriptions of the interface (RFC 9727).",
    successes: {
      200: {
        description: "The links.",
        must: ["Link"],
        content: { "application/linkset+json": { schema: { type: "object" } } },
      },
    },
  }),
  publicDocument({
    ...page("getDocs"),
    isInApplications: true,
    exists: isDocsPath,
    path: "/docs",
    document: (service) => docsFile(service, "docs"),
  }),
  publicDocument({
    ...page("getDocsFile"),
    isInApplications: true,
    exists: isDocsPath,
    path: "/docs/{file}",
    names: { file: { description: "The name of the file." } },
    document: (service, { names }) => docsFile(service, `docs/${names.file}`),
  }),
  publicDocument({
    ...page("getConsoleFile"),
    isInApplications: true,
    path: "/_console/{file}",
    names: {
      file: { description: "The name of the file.", is: (name) => isName(name) && name !== "first-key" },
    },
    // The page for signing in, which sets the cookie, has files too.
    exists: ({ settings }) => settings.console || settings.cookieOrigins !== undefined,
    document: async (service, { names, request }) =>
      (await import("../documents/console.ts")).consoleFile(service, `_console/${names.file}`, request),
  }),
];

/** A page for people or one of its files, which no document describes. */
export function page(id: string) {
  return {
    id,
    summary: "Get a page or one of its files",
    description: "",
    isDescribed: () => false,
    successes: {},
  } as const;
}

/** In an application, a collection can have the path if the service has no descriptions. */
function isDocsPath({ settings }: Pick<Described, "settings">): boolean {
  return settings.docs || settings.pagesBelow === undefined;
}

async function docsFile({ settings }: Surface, name: string): Promise<Document | undefined> {
  return settings.docs ? (await import("../documents/docs-page.ts")).docsFile(name, settings) : undefined;
}

/** A description of the interface. With `docs: false`, its path has methods, but no document. */
function description(
  row: Pick<DocumentRow, "id" | "summary" | "description"> & { path: string } & Partial<DocumentRow>,
): Endpoint {
  return publicDocument({
    isDescribed: ({ settings }) => settings.docs,
    successes: {
      200: { description: "The description.", content: json({ type: "object" }) },
    },
    // The table is the one that this row belongs to.
    document: (service) =>
      service.settings.docs
        ? descriptionOf(service as Service & { endpoints: EndpointTable }, row.path.slice(1))
        : undefined,
    ...row,
  });
}

function readinessAt(path: string, id: string): Endpoint {
  return publicDocument({
    path,
    id,
    summary: "Check that the service accepts requests",
    description: "For load balancers and monitoring.",
    isFree: true,
    successes: {
      200: passes,
      503: { description: "The service is stopping, or its store has failed.", content: healthContent },
    },
    document: (service) =>
      healthDocument(readiness(service), { ...service.store.health(), failing: service.failing() }),
  });
}

function isName(text: string): boolean {
  return text !== "";
}

async function readMetrics({ metrics }: Administration): Promise<Result> {
  if (metrics === undefined) return notFound;
  const { type, text: body } = await metrics.exposition();
  return { kind: "document", document: { status: 200, type, body } };
}

type HealthStatus = "pass" | "warn" | "fail";

/**
 * `fail` if the service is starting or stopping, or cannot use its store. `warn` if only reads work, if its log is too long, if some of its
 * data is damaged or could not be checked, or if a capability cannot work.
 */
function readiness(service: Data & Surface): HealthStatus {
  const { kind, log, data } = service.store.health();
  if (!service.hasStarted() || service.isDraining()) return "fail";
  if (kind === "failed" || kind === "unreachable") return "fail";
  const isImpaired = log === "long" || data !== undefined || service.failing().length > 0;
  return kind === "degraded" || isImpaired ? "warn" : "pass";
}

/**
 * Has no details, because every client can request it. `durability` says whether confirmed writes are on disk. `log` and
 * `data` are present only if writes work. Then they and `failing` are the only reasons for `warn`.
 */
function healthDocument(
  status: HealthStatus,
  {
    kind,
    durability,
    log: length,
    data: state,
    failing = [],
  }: Partial<StoreHealth> & { failing?: readonly string[] } = {},
): Document {
  const [log, data] = kind === "ok" ? [length, state] : [];
  return {
    status: status === "fail" ? 503 : 200,
    type: "application/health+json",
    body: JSON.stringify({
      status,
      durability,
      log,
      data,
      failing: failing.length === 0 ? undefined : failing,
    }), // JSON leaves out undefined members
  };
}

function problemDocument(slug: string): Document | undefined {
  const code = (Object.keys(problems) as ProblemCode[]).find((each) => problemSlug(each) === slug);
  if (code === undefined) return undefined;
  const { status, meaning } = problems[code];
  const body = JSON.stringify({
    type: `/problems/${slug}`,
    title: STATUS_CODES[status],
    status,
    code,
    meaning,
  });
  return { status: 200, type: jsonType, body };
}
