/**
 * Makes one checked configuration from file, environment and flags. Flags win over the environment, the environment
 * over the file, and the file over the defaults. All faults are collected and reported together.
 */
import type { KeyObject } from "node:crypto";
import { resolve } from "node:path";
import { type Access, compileAccess } from "./access/access.ts";
import type { AuthSettings } from "./access/authenticate.ts";
import { defaultKeyRoles, type NamedRole, rolesOfAdministrators } from "./access/roles.ts";
import {
  checkSettings,
  readSettings,
  type SettingsOfCapabilities,
  settingsForHttp,
  settingsIn,
} from "./capabilities/all.ts";
import type { Collection } from "./collection/collection.ts";
import { requireDeletable } from "./collection/expiry.ts";
import { type Declared, readCollections } from "./config/declared-collections.ts";
import { authOf, httpOf, readFiles, tlsOf } from "./config/derived-settings.ts";
import { type FoundFile, namedFile, type OnFile, readConfigFile } from "./config/file.ts";
import {
  type FileContent,
  type Get,
  type OutsideFile,
  readGiven,
  readOptions,
  requireKnownVariables,
  type ShownOption,
  secretsOf,
  shownOptions,
  variablesOfOptions,
  withKnownOptions,
} from "./config/option-values.ts";
import type { OptionName } from "./config/options.ts";
import { StartFaults } from "./errors/start-faults.ts";
import { StartError } from "./errors.ts";
import { isLoopback } from "./http/protocol/hosts.ts";
import type { HttpSettings } from "./http/settings.ts";
import { isObject } from "./json/values.ts";
import { hostAndPort, type MetricsPlace } from "./observe/place.ts";
import { readAddress, type StoreAddress } from "./store/address.ts";
import type { History } from "./store/port/options.ts";

/** A complete configuration: checked, and with all defaults. It has the settings of each capability, by the name of the capability. */
export interface Config extends SettingsOfCapabilities {
  /** The configuration file; `undefined` without one. */
  file: string | undefined;
  /** The content of the file; empty without a file. */
  content: FileContent;
  /** The flags, the variables and the folder that it was made with. */
  outside: Outside;
  /** Every option as administrators see it, without secrets. */
  options: readonly ShownOption[];
  store: StoreAddress;
  /** The declared collections, by name. */
  collections: ReadonlyMap<string, Collection>;
  /** Whether clients can create collections that are not declared. */
  openCollections: boolean;
  /** The access rules; `undefined` without `auth`. */
  access: Access | undefined;
  /** The roles that the configuration names, with each place. */
  roles: readonly NamedRole[];
  /** The roles that administrators can give to keys over HTTP. */
  keyRoles: readonly string[];
  history: History;
  /** The sources of credentials; `undefined` without `auth`. */
  auth: AuthSettings | undefined;
  /** The secrets in `HOLDFAST_SECRET`; empty without that variable. */
  secrets: readonly KeyObject[];
  /** Whether the service is for this machine only. */
  isLocal: boolean;
  /**
   * The address of the service for its users, without a path. A local service has `http://localhost:<port>`, which is `undefined`
   * while it has to find a free port (`withPort`). `undefined` also if it is neither local nor given.
   */
  publicUrl: string | undefined;
  http: HttpSettings;
  host: string;
  port: number;
  /** How many threads answer requests: 1 to 16. `auto`: as many as fit the processors. */
  threads: number | "auto";
  /** Where the metrics are served; `undefined`: nothing is counted. */
  metrics: MetricsPlace | undefined;
  /** Whether to log a line about each request even without a terminal. */
  logRequests: boolean;
  /** Whether to listen on any address without authentication. */
  insecure: boolean;
  /** Whether to refuse every write. */
  readOnly: boolean;
  /** Whether to start even if stored resources do not fit the configuration. */
  accept: boolean;
  /** Time between turning readiness off and closing the listener, in milliseconds. */
  drainDelayMs: number;
  /** The time limit of a graceful stop, in milliseconds. */
  stopTimeoutMs: number;
}

/** The sources of a configuration outside the file, as plain data. `env` has only variables of options. */
export type Outside = Pick<ConfigSources, "flags" | "env" | "cwd">;

/** What a configuration is made of, as plain data that threads can send. */
export type ConfigOrigin = Pick<Config, "file" | "content" | "outside">;

/** Where a configuration comes from. */
export interface ConfigSources extends OutsideFile {
  /** The folder of the configuration file, to which relative paths refer. */
  cwd: string;
  /** The time limit for the top level of a configuration module, in milliseconds. @default 10000 */
  fileDeadlineMs?: number;
  /**
   * Whether to report the faults of the files that the configuration names, if the configuration itself has faults.
   * Otherwise these files are not read here, but when the program starts. @default false
   */
  reportsFiles?: boolean;
  /**
   * Called with the path of each file before it is read: the configuration file, and the files outside packages that it
   * imports. Also called for files that do not exist.
   */
  onFile?: OnFile;
}

/** Reads and checks the configuration. Throws StartError with all faults, in the order of the file. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const { cwd, fileDeadlineMs: deadlineMs = 10_000, onFile = () => {} } = sources;
  const faults = new StartFaults();
  faults.read([], () => requireKnownVariables(sources.env));
  const given = readGiven(sources, faults);
  const named = namedFile(sources);
  const found = await faults.wait([], () => readConfigFile(cwd, { named, deadlineMs, onFile }));
  return readConfig(faults.valueOf(found), { ...sources, given, faults });
}

/** What a configuration is made of. `remakeConfig` makes the same configuration of it, in another thread. */
export function originOf({ file, content, outside }: Config): ConfigOrigin {
  return { file, content, outside };
}

/** The configuration that `originOf` was called with. Reads no file and imports no module. */
export async function remakeConfig({ file, content, outside }: ConfigOrigin): Promise<Config> {
  const faults = new StartFaults();
  const found = { file, content, faults: new StartFaults(file) };
  return readConfig(found, { ...outside, given: readGiven(outside, faults), faults });
}

/**
 * The configuration of a service in another application. Of its variables, only secrets count. `encrypts`: the application serves https
 * itself. Throws StartError with all faults.
 */
export async function compileConfig(
  content: FileContent,
  cwd: string,
  env: Outside["env"] = {},
  { encrypts = false }: { encrypts?: boolean } = {},
): Promise<Config> {
  const file = { file: undefined, content, faults: new StartFaults() };
  const outside = { flags: {}, env: secretsOf(env), cwd, given: new Map(), faults: new StartFaults() };
  return readConfig(file, { ...outside, application: { encrypts } });
}

/** The same configuration on another port. */
export function withPort(config: Config, port: number): Config {
  const { isLocal, publicUrl } = config;
  const isKnown = !isLocal || port === 0;
  return { ...config, port, publicUrl: isKnown ? publicUrl : `http://localhost:${port}` };
}

interface Reading extends Pick<ConfigSources, "flags" | "env" | "cwd" | "reportsFiles"> {
  given: ReturnType<typeof readGiven>;
  /** The faults found so far, to which faults outside the file are added. */
  faults: StartFaults;
  /** The application that serves it, at an address that the configuration does not know. @default the service listens itself */
  application?: { encrypts: boolean };
}

async function readConfig({ file, content, faults: ofFile }: FoundFile, outside: Reading): Promise<Config> {
  const { flags, cwd, given, faults } = outside;
  const known = withKnownOptions(content, ofFile);
  const get = readOptions(given, known, ofFile);
  const store = faults.read(["store"], () => readAddress(get("store"), { cwd, as: "store" }));
  const declared = await readCollections(known, get, ofFile);
  const { application } = outside;
  const isEmbedded = application !== undefined;
  // The plugin looks at the address of each request.
  const isLocal = () => application?.encrypts !== true && isLocalService(get);
  const has = (option: string) => isSet(get(option as OptionName));
  const around = {
    cwd,
    env: secretsOf(outside.env),
    file: file === undefined ? undefined : resolve(cwd, file),
    content,
    declared: (member: string) => membersIn(known, member),
    has,
    isLocal,
    isEmbedded,
  };
  const capabilities = readSettings(get, around, (read) => ofFile.read([], read));
  const auth = ofFile.read(["auth"], () => authOf(known, get, capabilities));
  faults.read(["host"], () => requireSafeHost(get("host"), flags, () => known.auth !== undefined));
  faults.read(["requireTls"], () => requireReachable(get));
  faults.read(["metrics"], () => requireUsableMetrics(get, known.auth !== undefined));
  const secrets = await faults.wait([], () => secretsIn(outside.env));
  const rest = () => ({
    ...declared(),
    administrators: auth()?.administrators ?? [],
    prefix: get("prefix"),
    openCollections: get("openCollections") ?? declared().collections.size === 0,
    isLocal: isLocal(),
    isEmbedded,
    hasUrl: isLocal() || get("publicUrl") !== undefined,
    hasHistory: get("history").keep !== "none",
  });
  checkSettings(capabilities, rest, (check) => ofFile.read([], check));
  ofFile.read(["docs"], () => isEmbedded && requireFreeDocs(declared(), get));
  ofFile.read([], () => requireDeletable(declared().collections, settingsForHttp(capabilities).profiles));
  faults.read([], () => ofFile.throwIfAny());
  if (outside.reportsFiles === true && faults.isAny) {
    const tls = () => tlsOf(get("tls"), cwd);
    const sources = () => ({
      secrets: secrets(),
      isLocal: isLocal(),
      isSqlite: store().kind === "sqlite",
    });
    await faults.wait([], () => readFiles({ tls, capabilities, secrets: sources }, Date.now()));
  }
  faults.throwIfAny(content);
  const openCollections = get("openCollections") ?? declared().collections.size === 0;
  const config = {
    file,
    content,
    outside: { flags, env: variablesOfOptions(outside.env), cwd },
    store: store(),
    ...accessOf(declared(), auth(), openCollections),
    openCollections,
    history: get("history").keep,
    auth: auth(),
    secrets: secrets(),
    isLocal: isLocal(),
    publicUrl: get("publicUrl"),
    ...settingsIn(capabilities),
    http: httpOf(get, { cwd, auth: auth(), capabilities, isEmbedded }),
    ...programOf(get, flags),
  };
  const { corsOrigins } = config.http;
  const shown = shownOptions({ file, content: known, outside }, get, { ...config, corsOrigins, cwd });
  return withPort({ ...config, options: shown }, config.port);
}

/** A member of each declared collection, as far as the declarations are valid. */
function membersIn({ collections }: FileContent, member: string): ReadonlyMap<string, unknown> {
  const declared = Object.entries(isObject(collections) ? collections : {});
  return new Map(
    declared.flatMap(([name, each]) =>
      isObject(each) && each[member] !== undefined ? [[name, each[member]]] : [],
    ),
  );
}

/** Whether an option has a value. An empty list is the default of every list. */
function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

/** Reads the secrets. Without them, this loads no code. */
async function secretsIn({ HOLDFAST_SECRET }: Outside["env"]): Promise<readonly KeyObject[]> {
  return HOLDFAST_SECRET === undefined ? [] : (await import("./secrets.ts")).readSecrets(HOLDFAST_SECRET);
}

/**
 * Whether only this machine can reach the service. A loopback address alone does not show it, because a proxy on the same machine
 * passes on requests of others.
 */
function isLocalService(get: Get): boolean {
  const forOthers = [get("publicUrl"), get("tls"), get("trustProxy")[0], get("hosts")[0]];
  return isLoopback(get("host")) && forOthers.every((each) => each === undefined);
}

/** In an application, the pages are below the prefix, as the collections. Throws StartError if one of these has the path of `/docs`. */
function requireFreeDocs({ collections }: Declared, get: Get): void {
  if (!get("docs") || get("prefix") === "" || !collections.has("docs")) return;
  throw new StartError(
    `docs: the page for trying requests would have the path ${get("prefix")}/docs of the collection "docs". Set docs to false, or choose another name for the collection.`,
  );
}

function accessOf(
  { collections, rules, roles }: Declared,
  auth: AuthSettings | undefined,
  openCollections: boolean,
): Pick<Config, "collections" | "access" | "roles" | "keyRoles"> {
  if (auth === undefined) return { collections, access: undefined, roles, keyRoles: [] };
  const { administrators = [], keyRoles = defaultKeyRoles(roles, administrators) } = auth;
  const access = compileAccess(collections, rules, { openCollections, administrators });
  return { collections, access, roles: [...roles, ...rolesOfAdministrators(administrators)], keyRoles };
}

function programOf(get: Get, flags: OutsideFile["flags"]) {
  return {
    host: get("host"),
    port: get("port"),
    threads: get("threads"),
    metrics: get("metrics"),
    logRequests: get("log") === "requests",
    insecure: flags.insecure === true,
    readOnly: get("readOnly") || flags.readOnly === true,
    accept: flags.accept === true,
    drainDelayMs: get("drainDelayMs"),
    stopTimeoutMs: get("stopTimeoutMs"),
  };
}

/** Throws StartError if no request could meet `requireTls`. */
function requireReachable(get: Get): void {
  if (!get("requireTls") || get("tls") !== undefined || get("trustProxy").length > 0) return;
  throw new StartError(
    "requireTls: the service would refuse every request. Configure tls, or trustProxy with the address of the proxy that terminates TLS.",
  );
}

/** Throws StartError if no caller could read the metrics, or if they need the address of the service itself. */
function requireUsableMetrics(get: Get, hasAuth: boolean): void {
  const place = get("metrics");
  if (place === undefined) return;
  if (place === "administrators") {
    if (!hasAuth || get("auth.administrators") !== undefined) return;
    throw new StartError(
      "metrics: no caller could read them, because the service has no administrators. Add auth.administrators, or give the metrics a port, such as metrics: 9464.",
    );
  }
  const isTaken = place.port !== 0 && place.port === get("port") && place.host === get("host");
  if (!isTaken) return;
  throw new StartError(
    `metrics: the service itself listens on ${hostAndPort(place)}. Choose another port, or "administrators" to serve them at /metrics of the service.`,
  );
}

/** Throws StartError if the service listens on the network without authentication. */
function requireSafeHost(host: string, { insecure }: OutsideFile["flags"], hasAuth: () => boolean): void {
  if (insecure === true || isLoopback(host) || hasAuth()) return;
  throw new StartError(
    `host: anyone who can reach ${host} could read and change everything, because auth is not configured. Configure auth, or add --insecure if you want that.`,
  );
}
