/** The target of a request: the path, the query string and the host that it names (RFC 9112 §3.2). */
import type { HttpRequest } from "./message.ts";

const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/** The path and the raw query string of a request target. */
export function splitTarget(target: string): { path: string; query: string } {
  const local = target.startsWith("/") ? target : target.replace(absoluteForm, "");
  const mark = local.indexOf("?");
  return mark === -1
    ? { path: local, query: "" }
    : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

/** The host of the request, with its port if there is one. `createHostCheck` checks its form. */
export function hostOf({ target, headers }: HttpRequest): string {
  return authorityOf(target) ?? headers.host ?? "";
}

/** Whether the target contains its host, as requests to a proxy do. */
export function isAbsolute(target: string): boolean {
  return authorityOf(target) !== undefined;
}

/** The authority of an absolute-form target. It replaces the Host header (RFC 9112 §3.2.2). */
function authorityOf(target: string): string | undefined {
  return target.startsWith("/") ? undefined : absoluteForm.exec(target)?.[1];
}
