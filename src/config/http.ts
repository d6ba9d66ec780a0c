/** Reads the options that are about the wire. */
import { resolve } from "node:path";
import type { AuthSettings } from "../access/settings.ts";
import type { HttpSettings, Limits } from "../http/settings.ts";
import type { TlsFiles } from "../http/wire/tls.ts";
import type { Get } from "./values.ts";

/** How the service speaks HTTP. Throws StartError for what is wrong with an option. */
export function httpOf(
  get: Get,
  { cwd, auth }: { cwd: string; auth: AuthSettings | undefined },
): HttpSettings {
  return {
    prefix: get("prefix"),
    hosts: get("hosts"),
    corsOrigins: get("cors.origins") ?? (auth === undefined ? ["loopback"] : []),
    rate: get("limits.rate"),
    tls: tlsOf(get("tls"), cwd),
    trustProxy: get("trustProxy"),
    requireTls: get("requireTls"),
    showPrincipal: get("history").showPrincipal,
    docs: get("docs"),
    compression: get("compression"),
    info: { title: get("info.title"), version: get("info.version"), description: get("info.description") },
    limits: limitsOf(get),
  };
}

/** The files of certificate and key. Relative paths begin at the working directory, like the path of the store. */
export function tlsOf(files: TlsFiles | undefined, cwd: string): TlsFiles | undefined {
  return files && { cert: resolve(cwd, files.cert), key: resolve(cwd, files.key) };
}

function limitsOf(get: Get): Limits {
  return {
    bodyBytes: get("limits.body"),
    targetBytes: get("limits.target"),
    headerBytes: get("limits.headers"),
    jsonDepth: get("limits.jsonDepth"),
    jsonMembers: get("limits.jsonMembers"),
    patchOperations: get("limits.patchOperations"),
    batch: get("limits.batch"),
    page: get("limits.page"),
    queryMs: get("limits.queryMs"),
    collections: get("limits.collections"),
    headersTimeoutMs: get("limits.headersTimeoutMs"),
    requestTimeoutMs: get("limits.requestTimeoutMs"),
    handlerTimeoutMs: get("limits.handlerTimeoutMs"),
    keepAliveTimeoutMs: get("limits.keepAliveTimeoutMs"),
  };
}
