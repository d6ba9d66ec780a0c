/** Builds the settings of HTTP and of authentication from the values of several options, and reads the files that they name. */
import { resolve } from "node:path";
import type { AuthSettings } from "../access/authenticate.ts";
import { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import type { HttpSettings, Limits, TlsFiles } from "../http/settings.ts";
import type { KeyPair } from "../http/wire/tls.ts";
import { type MailSettings, smtpPasswordVariable } from "../users/mail/mail-settings.ts";
import type { FileContent, Get, OutsideFile } from "./option-values.ts";

/** The sources of credentials; `undefined` without `auth`. Throws StartError if `auth` names no source. */
export function authOf(content: FileContent, get: Get, cwd: string): AuthSettings | undefined {
  if (content.auth === undefined) return undefined;
  const keys = get("auth.keys");
  const jwt = get("auth.jwt");
  if (!keys && jwt === undefined) {
    throw new StartError(
      "auth names no source of credentials, so no caller could authenticate. Add keys: true or jwt, or remove auth.",
    );
  }
  const administrators = get("auth.administrators");
  const keyRoles = get("auth.keyRoles");
  const settings = { keys, jwt, ...(administrators && { administrators }), ...(keyRoles && { keyRoles }) };
  if (jwt?.jwks.kind !== "file") return settings;
  return { ...settings, jwt: { ...jwt, jwks: { kind: "file", path: resolve(cwd, jwt.jwks.path) } } };
}

/** How the service sends mail, with the password from the environment; `undefined` without `mail`. */
export function mailOf(get: Get, env: OutsideFile["env"]): MailSettings | undefined {
  const settings = get("mail");
  return settings && { ...settings, password: env[smtpPasswordVariable] || undefined };
}

/** The settings of HTTP. Throws StartError if one of their options has faults. */
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
    hasFeed: get("history").keep !== "none",
    hasKeys: auth?.keys === true && (auth.administrators ?? []).length > 0,
    console: get("console"),
    docs: get("docs"),
    compression: get("compression"),
    metrics: get("metrics") === "administrators",
    info: { title: get("info.title"), version: get("info.version"), description: get("info.description") },
    limits: limitsOf(get),
  };
}

/** The files of certificate and key, with absolute paths. */
export function tlsOf(files: TlsFiles | undefined, cwd: string): TlsFiles | undefined {
  return files && { cert: resolve(cwd, files.cert), key: resolve(cwd, files.key) };
}

function limitsOf(get: Get): Limits {
  return {
    bodyBytes: get("limits.body"),
    importBytes: get("limits.import"),
    rewindBytes: get("limits.rewind"),
    targetBytes: get("limits.target"),
    headerBytes: get("limits.headers"),
    jsonDepth: get("limits.jsonDepth"),
    jsonMembers: get("limits.jsonMembers"),
    patchOperations: get("limits.patchOperations"),
    batch: get("limits.batch"),
    page: get("limits.page"),
    queryMs: get("limits.queryMs"),
    collections: get("limits.collections"),
    streams: get("limits.streams"),
    streamsPerCaller: get("limits.streamsPerCaller"),
    headersTimeoutMs: get("limits.headersTimeoutMs"),
    requestTimeoutMs: get("limits.requestTimeoutMs"),
    handlerTimeoutMs: get("limits.handlerTimeoutMs"),
    keepAliveTimeoutMs: get("limits.keepAliveTimeoutMs"),
  };
}

/** The options that name files. Each function throws StartError if its option has faults. */
export interface FileOptions {
  tls: () => TlsFiles | undefined;
  auth: () => AuthSettings | undefined;
}

/**
 * Checks the key set of the issuer, and returns the certificate with its key. Skips files that the configuration does not
 * name. Throws StartError with the faults of all files.
 */
export async function readFiles({ tls, auth }: FileOptions, now: number): Promise<KeyPair | undefined> {
  const faults = new StartFaults();
  await faults.wait(["auth", "jwt", "jwks"], async () => {
    const settings = auth();
    if (settings === undefined) return;
    const { requireSources } = await import("../access/authenticate.ts");
    await requireSources(settings);
  });
  const pair = await faults.wait(["tls"], async () => {
    const files = tls();
    if (files === undefined) return undefined;
    const { readKeyPair } = await import("../http/wire/tls.ts");
    return readKeyPair(files, now);
  });
  faults.throwIfAny();
  return pair();
}

/** Like `readFiles`, for a configuration without faults. */
export function readFilesOf(
  { auth, http: { tls } }: { auth: AuthSettings | undefined; http: { tls: TlsFiles | undefined } },
  now: number,
): Promise<KeyPair | undefined> {
  return readFiles({ auth: () => auth, tls: () => tls }, now);
}
