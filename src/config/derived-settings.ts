/** Builds the settings of HTTP and of authentication from the values of several options, and reads the files that they name. */
import { resolve } from "node:path";
import type { AuthSettings } from "../access/authenticate.ts";
import {
  encryptsFor,
  haveCredentials,
  readingOf,
  requireNeeds,
  type SettingsOfCapabilities,
  type SettingsReading,
  settingsForHttp,
  settingsIn,
} from "../capabilities/all.ts";
import type { Config } from "../config.ts";
import { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import type { HttpSettings, Limits, TlsFiles } from "../http/settings.ts";
import type { KeyPair } from "../http/wire/tls.ts";
import type { SecretSources } from "../open-vault.ts";
import type { FileContent, Get } from "./option-values.ts";

/** The option `auth`; `undefined` without it. Throws StartError if it names no source of credentials. */
export function authOf(
  content: FileContent,
  get: Get,
  capabilities: SettingsReading,
): AuthSettings | undefined {
  if (content.auth === undefined) return undefined;
  const keys = get("auth.keys");
  if (!keys && !haveCredentials(capabilities)) {
    throw new StartError(
      "auth names no source of credentials, so no caller could authenticate. Add keys: true, jwt or users, or remove auth.",
    );
  }
  const administrators = get("auth.administrators");
  const keyRoles = get("auth.keyRoles");
  return {
    keys,
    ...(administrators && { administrators }),
    ...(keyRoles && { keyRoles }),
  };
}

/** The settings of HTTP. Throws StartError if one of their options has faults. */
export function httpOf(
  get: Get,
  {
    cwd,
    auth,
    capabilities,
    isEmbedded,
  }: { cwd: string; auth: AuthSettings | undefined; capabilities: SettingsReading; isEmbedded: boolean },
): HttpSettings {
  return {
    prefix: get("prefix"),
    pagesBelow: isEmbedded ? get("prefix") : undefined,
    hosts: get("hosts"),
    corsOrigins: get("cors.origins") ?? (auth === undefined ? ["loopback"] : []),
    rate: get("limits.rate"),
    tls: tlsOf(get("tls"), cwd),
    trustProxy: get("trustProxy"),
    requireTls: get("requireTls"),
    hstsIncludesSubDomains: get("hsts").includeSubDomains,
    showPrincipal: get("history").showPrincipal,
    hasFeed: get("history").keep !== "none",
    hasKeys: auth?.keys === true && (auth.administrators ?? []).length > 0,
    cookieOrigins: undefined,
    profiles: undefined,
    hooked: new Set(),
    consoleTags: {},
    ...settingsForHttp(capabilities),
    ofCapabilities: { ...settingsIn(capabilities) },
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

/** The options that need something outside the configuration. Each function throws StartError if its option has faults. */
export interface FileOptions {
  tls: () => TlsFiles | undefined;
  capabilities: SettingsReading;
  secrets: () => SecretSources;
}

/**
 * Checks what capabilities need outside the configuration and whether a secret is missing, and returns the certificate with its key. Skips files that the
 * configuration does not name. Throws StartError with all faults.
 */
export async function readFiles(
  { tls, capabilities, secrets }: FileOptions,
  now: number,
): Promise<KeyPair | undefined> {
  const faults = new StartFaults();
  await requireNeeds(capabilities, faults);
  await faults.wait([], async () => {
    const option = encryptsFor(capabilities);
    if (option === undefined) return;
    const { missingSecret, needsSecret } = await import("../open-vault.ts");
    if (needsSecret(secrets())) throw missingSecret(option);
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
  config: Pick<Config, "http" | "secrets" | "isLocal" | "store"> & SettingsOfCapabilities,
  now: number,
): Promise<KeyPair | undefined> {
  const secrets = () => ({ ...config, isSqlite: config.store.kind === "sqlite" });
  return readFiles({ capabilities: readingOf(config), tls: () => config.http.tls, secrets }, now);
}
