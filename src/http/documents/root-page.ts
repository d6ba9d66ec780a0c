/** What a browser gets at the root, and at unknown paths outside the prefix. Pages are loaded on first use. */
import type { Caller } from "../caller/admit.ts";
import { type Document, notFound, type Result } from "../operations/result.ts";
import { prefersHtml } from "../protocol/accept.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { canHavePage } from "../route.ts";
import type { Callers, Data, Surface } from "../service.ts";

/** The console; without it, a page that names the collections. */
export async function rootPage(
  service: Data & Callers & Surface,
  caller: Caller,
  request: HttpRequest,
): Promise<Document> {
  const page = service.settings.console
    ? await (await import("./console.ts")).consolePage(service)
    : undefined;
  return page ?? (await pages()).frontPageOf(service, caller, request);
}

/** The result for an unknown path: a page for a browser outside the prefix, otherwise no content. */
export function absence(
  service: Surface,
  path: string | undefined,
  request: HttpRequest,
): Result | Promise<Result> {
  const isOutside = path !== undefined && service.settings.prefix !== "";
  if (!isOutside || !canHavePage(service, request)) return notFound;
  return documentResult(pages().then(({ absentPageOf }) => absentPageOf(service, path)));
}

/** If the prefix is the root, it has both the list of collections and the page. */
export function isRootPage(service: Surface, request: HttpRequest): boolean {
  return service.settings.prefix === "" && canHavePage(service, request) && prefersHtml(request);
}

const pages = () => import("./front-page.ts");

/** A document as a result. */
export async function documentResult(document: Promise<Document>): Promise<Result> {
  return { kind: "document", document: await document };
}
