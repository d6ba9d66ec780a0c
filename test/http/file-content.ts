/** The content of a configuration file with the same meaning as the options of a service, for its other threads. */
import type { StoreAddress } from "../../src/store/open.ts";
import type { ServiceOptions } from "./service.ts";

/** Whether other threads can have the same options: some are functions, or memory of the test. */
export function canHaveThreads(options: ServiceOptions): boolean {
  const { now, heartbeatMs, turnBudget, counting, webhookParts, auth } = options;
  const parts = [now, heartbeatMs, turnBudget, counting, webhookParts, auth?.jwt, auth?.users];
  return parts.every((part) => part === undefined);
}

/** The content of the file. */
export function fileContent(address: StoreAddress, options: ServiceOptions): Record<string, unknown> {
  const { collections, openCollections, prefix, hosts, tls, trustProxy, requireTls, docs, metrics } = options;
  const { compression, info, readOnly, auth, drainDelayMs, corsOrigins, console = false } = options;
  const { hstsIncludesSubDomains: includeSubDomains } = options;
  const { history, showPrincipal, webhooks = { allow: ["127.0.0.0/8"] }, rate, limits = {} } = options;
  const { bodyBytes, importBytes, rewindBytes, targetBytes, headerBytes, ...others } = limits;
  const bytes = {
    body: bodyBytes,
    import: importBytes,
    rewind: rewindBytes,
    target: targetBytes,
    headers: headerBytes,
  };
  const content = {
    store: address.kind === "sqlite" ? `sqlite:${address.path}` : address.url,
    prefix: prefix === "" ? "/" : prefix,
    ...{ collections, openCollections, hosts, tls, trustProxy, requireTls, docs, compression },
    ...{ info, readOnly, webhooks, drainDelayMs, console },
    hsts: includeSubDomains === undefined ? undefined : { includeSubDomains },
    cors: { origins: corsOrigins ?? ["loopback"] },
    metrics: metrics === "administrators" ? metrics : metrics && `${metrics.host}:${metrics.port}`,
    history: showPrincipal === true ? { ...Object(history), showPrincipal } : history,
    auth: auth && { keys: auth.keys, administrators: auth.administrators, keyRoles: auth.keyRoles },
    limits: { ...bytes, ...others, rate },
  };
  return JSON.parse(JSON.stringify(content)); // without the undefined ones
}
