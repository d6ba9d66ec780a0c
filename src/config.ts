/**
 * From file, environment and flags to one checked configuration. Flags win over the environment, the environment
 * over the file, the file over the defaults. Whatever is not understood keeps the program from starting.
 */
import { type Access, compileAccess, type Declarations, requireNoAccess } from "./access/access.ts";
import type { AuthSettings } from "./access/settings.ts";
import type { Collection } from "./collection/collection.ts";
import { requireTargets } from "./collection/refers.ts";
import { defineCollection } from "./collection/schema.ts";
import { authOf } from "./config/auth.ts";
import { readConfigFile } from "./config/file.ts";
import { httpOf } from "./config/http.ts";
import { requireKnownVariables, requireOptionNames } from "./config/option-names.ts";
import { requireOwnPath } from "./config/own-paths.ts";
import {
  createLookup,
  type FileContent,
  inFile,
  requireKnownOptions,
  requirePlainObject,
} from "./config/values.ts";
import { StartError } from "./errors.ts";
import { isLoopback } from "./http/hosts.ts";
import type { HttpSettings } from "./http/settings.ts";
import { readAddress, type StoreAddress } from "./store/address.ts";
import type { History } from "./store/history.ts";

/** Everything that the program was told, checked and with the defaults filled in. */
export interface Config {
  /** The file that it was read from; `undefined` without one. */
  file: string | undefined;
  store: StoreAddress;
  /** The declared collections, by name. */
  collections: ReadonlyMap<string, Collection>;
  /** Whether collections that nobody declared spring into being. */
  openCollections: boolean;
  /** Who may do what; `undefined` where nobody is asked who they are. */
  access: Access | undefined;
  history: History;
  /** Where credentials come from; `undefined` where nobody is asked for one. */
  auth: AuthSettings | undefined;
  http: HttpSettings;
  host: string;
  port: number;
  /** A line for each request, even where stderr is not a terminal. */
  logRequests: boolean;
  /** Listen beyond the loopback addresses without authentication. */
  insecure: boolean;
  /** Nothing is written, whatever is asked. */
  readOnly: boolean;
  /** Start although existing resources do not fit a changed schema. */
  accept: boolean;
  /** Between turning readiness off and closing the listener, in milliseconds. */
  drainDelayMs: number;
  /** Until an orderly stop is forced, in milliseconds. */
  stopTimeoutMs: number;
}

/** Where a configuration comes from. */
export interface ConfigSources {
  /** The command line's flags by camel-case name; those of commands that mean no option are ignored. */
  flags: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the file is looked for and the store's path begins. */
  cwd: string;
  /** Until a configuration file that is a module must be done, in milliseconds. @default 10000 */
  fileDeadlineMs?: number;
}

/** Reads and checks the configuration. Throws StartError, in one line, for anything that is wrong with it. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const { flags, env, cwd } = sources;
  requireKnownVariables(env);
  const named = flags.config ?? env.HOLDFAST_CONFIG;
  const { file, content } = await readConfigFile(cwd, {
    named: named === undefined ? undefined : String(named),
    deadlineMs: sources.fileDeadlineMs ?? 10_000,
  });
  return compileConfig(content, { flags, env, cwd, file });
}

/** Checks what a file says, and fills in the rest. Throws StartError, in one line, for anything that is wrong with it. */
export async function compileConfig(
  content: FileContent,
  { flags, env, cwd, file }: Omit<ConfigSources, "fileDeadlineMs"> & { file: string | undefined },
): Promise<Config> {
  requireKnownOptions(content, file);
  const get = createLookup({ flags, env, content, file });
  const collections = await collectionsOf(content, get("prefix"), file);
  const auth = authOf(content, get, { cwd, file });
  const openCollections = get("openCollections") ?? collections.size === 0;
  const config: Config = {
    file,
    store: readAddress(get("store"), { cwd, as: "store" }),
    collections,
    openCollections,
    access: accessOf(content, { file, auth, collections, openCollections }),
    history: get("history").keep,
    auth,
    http: httpOf(get, { cwd, auth }),
    ...programOf(get, flags),
  };
  requireSafeHost(config);
  requireReachable(config);
  return config;
}

/** How the program runs. */
function programOf(get: ReturnType<typeof createLookup>, flags: ConfigSources["flags"]) {
  return {
    host: get("host"),
    port: get("port"),
    logRequests: get("log") === "requests",
    insecure: flags.insecure === true,
    readOnly: get("readOnly") || flags.readOnly === true,
    accept: flags.accept === true,
    drainDelayMs: get("drainDelayMs"),
    stopTimeoutMs: get("stopTimeoutMs"),
  };
}

async function collectionsOf(
  { collections: declared = {} }: FileContent,
  prefix: string,
  file: string | undefined,
): Promise<Map<string, Collection>> {
  try {
    const all = Object.entries(requirePlainObject(declared, "collections"));
    const collections = new Map(
      await Promise.all(
        all.map(async ([name, each]) => [name, await collectionOf(name, each, prefix)] as const),
      ),
    );
    requireTargets(collections);
    return collections;
  } catch (error) {
    throw inFile(error, file);
  }
}

async function collectionOf(name: string, declaration: unknown, prefix: string): Promise<Collection> {
  const at = `collections.${name}`;
  const checked = requirePlainObject(declaration, at);
  requireOptionNames(checked, at, "collection");
  requireOwnPath(name, prefix);
  return defineCollection(name, checked);
}

/** Rules are for whoever is known: without `auth` nobody is. Throws StartError. */
function accessOf(
  { collections: declared = {} }: FileContent,
  { file, auth, ...known }: Pick<Config, "file" | "auth" | "collections" | "openCollections">,
): Access | undefined {
  const declarations = declared as Declarations; // each is an object, since collections were made of them
  try {
    if (auth !== undefined) return compileAccess(known.collections, declarations, known);
    requireNoAccess(known.collections, declarations);
    return undefined;
  } catch (error) {
    throw inFile(error, file);
  }
}

/** A service that refuses every request is a mistake. */
function requireReachable({ http: { requireTls, tls, trustProxy } }: Config): void {
  if (!requireTls || tls !== undefined || trustProxy.length > 0) return;
  throw new StartError(
    "requireTls: no request can come encrypted without tls, or trustProxy with the address of the proxy that encrypts.",
  );
}

/** Beyond this machine, a service that asks nobody who they are is open to all. */
function requireSafeHost({ host, insecure, auth }: Config): void {
  if (insecure || auth !== undefined || isLoopback(host)) return;
  throw new StartError(
    `host: on ${host} anybody in reach could read and change everything, since nobody is asked who they are. Configure auth, or say --insecure if that is what you want.`,
  );
}
