/**
 * Makes one checked configuration from file, environment and flags. Flags win over the environment, the environment
 * over the file, the file over the defaults. If there are faults, the program does not start, and reports all of them.
 */
import { type Access, compileAccess } from "./access/access.ts";
import type { NamedRole } from "./access/roles.ts";
import type { AuthSettings } from "./access/settings.ts";
import type { Collection } from "./collection/collection.ts";
import { authOf } from "./config/auth.ts";
import { type Declared, readCollections } from "./config/collections.ts";
import { type FoundFile, type OnFile, readConfigFile } from "./config/file.ts";
import { readFiles } from "./config/files.ts";
import { httpOf, tlsOf } from "./config/http.ts";
import { requireKnownVariables } from "./config/option-names.ts";
import {
  type FileContent,
  type Get,
  type OutsideFile,
  readGiven,
  readOptions,
  withKnownOptions,
} from "./config/values.ts";
import { StartFaults } from "./errors/start-faults.ts";
import { StartError } from "./errors.ts";
import { isLoopback } from "./http/hosts.ts";
import type { HttpSettings } from "./http/settings.ts";
import { readAddress, type StoreAddress } from "./store/address.ts";
import type { History } from "./store/history.ts";

/** Everything that the program was told, checked and with the defaults filled in. */
export interface Config {
  /** The file that it was read from; `undefined` without one. */
  file: string | undefined;
  /** The content of the file; empty without one. */
  content: FileContent;
  store: StoreAddress;
  /** The declared collections, by name. */
  collections: ReadonlyMap<string, Collection>;
  /** Whether collections that nobody declared spring into being. */
  openCollections: boolean;
  /** Who may do what; `undefined` where nobody is asked who they are. */
  access: Access | undefined;
  /** The roles that rules and attributes name, with each place. */
  roles: readonly NamedRole[];
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
export interface ConfigSources extends OutsideFile {
  /** The folder in which the file is looked for and the store's path begins. */
  cwd: string;
  /** Until a configuration file that is a module must be done, in milliseconds. @default 10000 */
  fileDeadlineMs?: number;
  /**
   * Whether faults of the files that the configuration names are reported together with its own faults. If it has none
   * itself, its files are not read here: the program reads them when it starts. @default false
   */
  reportsFiles?: boolean;
  /**
   * Called with the path of each file that the configuration is read from, before it is read: the configuration file, and
   * what it imports from outside of packages. Files that are missing are named too, since they may appear.
   */
  onFile?: OnFile;
}

/** Reads and checks the configuration. Throws StartError with all faults, in the order of the file. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const { flags, env, cwd, fileDeadlineMs: deadlineMs = 10_000, onFile = () => {} } = sources;
  const faults = new StartFaults();
  faults.read([], () => requireKnownVariables(env));
  const given = readGiven(sources, faults);
  const path = flags.config ?? env.HOLDFAST_CONFIG;
  const named = path === undefined ? undefined : String(path);
  const found = await faults.wait([], () => readConfigFile(cwd, { named, deadlineMs, onFile }));
  return readConfig(faults.valueOf(found), { ...sources, given, faults });
}

/** Checks the content of a file, and fills in the rest. Throws StartError with all faults. */
export async function compileConfig(content: FileContent, cwd: string): Promise<Config> {
  const found = { file: undefined, content, faults: new StartFaults() };
  const [flags, given, faults] = [{}, new Map(), new StartFaults()];
  return readConfig(found, { flags, cwd, given, faults });
}

interface Outside extends Pick<ConfigSources, "flags" | "cwd" | "reportsFiles"> {
  given: ReturnType<typeof readGiven>;
  /** The faults found so far, to which faults outside the file are added. */
  faults: StartFaults;
}

async function readConfig({ file, content, faults: ofFile }: FoundFile, outside: Outside): Promise<Config> {
  const { flags, cwd, given, faults } = outside;
  const known = withKnownOptions(content, ofFile);
  const get = readOptions(given, known, ofFile);
  const store = faults.read(["store"], () => readAddress(get("store"), { cwd, as: "store" }));
  const declared = await readCollections(known, get, ofFile);
  const auth = ofFile.read(["auth"], () => authOf(known, get, cwd));
  faults.read(["host"], () => requireSafeHost(get("host"), flags, () => known.auth !== undefined));
  faults.read(["requireTls"], () => requireReachable(get));
  faults.read([], () => ofFile.throwIfAny());
  if (outside.reportsFiles === true && faults.isAny) {
    const tls = () => tlsOf(get("tls"), cwd);
    await faults.wait([], () => readFiles({ tls, auth }, Date.now()));
  }
  faults.throwIfAny(content);
  const openCollections = get("openCollections") ?? declared().collections.size === 0;
  return {
    file,
    content,
    store: store(),
    ...accessOf(declared(), auth(), openCollections),
    openCollections,
    history: get("history").keep,
    auth: auth(),
    http: httpOf(get, { cwd, auth: auth() }),
    ...programOf(get, flags),
  };
}

/** The declared collections, and who may do what with them. */
function accessOf(
  { collections, rules, roles }: Declared,
  auth: AuthSettings | undefined,
  openCollections: boolean,
): Pick<Config, "collections" | "access" | "roles"> {
  const access = auth === undefined ? undefined : compileAccess(collections, rules, { openCollections });
  return { collections, access, roles };
}

/** How the program runs. */
function programOf(get: Get, flags: OutsideFile["flags"]) {
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

/** A service that refuses every request is a mistake. */
function requireReachable(get: Get): void {
  if (!get("requireTls") || get("tls") !== undefined || get("trustProxy").length > 0) return;
  throw new StartError(
    "requireTls: the service would refuse every request. Configure tls, or trustProxy with the address of the proxy that terminates TLS.",
  );
}

/** Beyond this machine, a service that asks nobody who they are is open to all. */
function requireSafeHost(host: string, { insecure }: OutsideFile["flags"], isAsked: () => boolean): void {
  if (insecure === true || isLoopback(host) || isAsked()) return;
  throw new StartError(
    `host: anyone who can reach ${host} could read and change everything, because auth is not configured. Configure auth, or add --insecure if you want that.`,
  );
}
