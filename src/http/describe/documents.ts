/** The documents outside the prefix: health checks, the meanings of error codes, and the descriptions of the interface. */
import { type ProblemCode, problems } from "../../errors.ts";
import type { StoreHealth } from "../../store/port/store.ts";
import type { Document } from "../operations/result.ts";
import { problemSlug } from "../problem.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import { STATUS_CODES } from "../protocol/node-http.ts";
import type { Service } from "../service.ts";

/** The document with this name (a path without its first slash); `undefined` if it does not exist. */
export async function documentOf(
  service: Service,
  name: string,
  request: HttpRequest,
): Promise<Document | undefined> {
  if (name === "livez") return healthDocument("pass");
  if (name === "readyz" || name === "healthz")
    return healthDocument(readiness(service), service.store.health());
  if (name.startsWith("problems/")) return problemDocument(name.slice("problems/".length));
  // The rest is loaded on first use, because few clients request it.
  if (name.startsWith("_console/"))
    return (await import("../documents/console.ts")).consoleFile(service, name, request);
  if (!service.settings.docs) return undefined;
  if (!name.startsWith("docs")) return (await import("./descriptions.ts")).descriptionOf(service, name);
  return (await import("../documents/docs-page.ts")).docsFile(name);
}

type HealthStatus = "pass" | "warn" | "fail";

/**
 * `fail` if the service is starting or stopping, or cannot use its store. `warn` if only reads work, if its log is too long, or if
 * some of its data is damaged.
 */
function readiness(service: Service): HealthStatus {
  const { kind, log, data } = service.store.health();
  if (!service.hasStarted() || service.isDraining()) return "fail";
  if (kind === "failed" || kind === "unreachable") return "fail";
  return kind === "degraded" || log === "long" || data === "damaged" ? "warn" : "pass";
}

/**
 * Has no details, because every client can request it. `durability` says whether confirmed writes are on disk. `log` and
 * `data` are present only if writes work. Then they are the only reasons for `warn`.
 */
function healthDocument(
  status: HealthStatus,
  { kind, durability, log: length, data: state }: Partial<StoreHealth> = {},
): Document {
  const [log, data] = kind === "ok" ? [length, state] : [];
  return {
    status: status === "fail" ? 503 : 200,
    type: "application/health+json",
    body: JSON.stringify({ status, durability, log, data }), // JSON leaves out undefined members
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
