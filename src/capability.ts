/**
 * The door between the core and a capability. A capability is a folder of `capabilities/`, and gives one value of this type to
 * `capabilities/all.ts`. The core asks a capability only at these places, and imports nothing else of it. `capabilities/tokens/` is the
 * smallest example.
 */
import type { Access } from "./access/access.ts";
import type { Authenticator } from "./access/authenticate.ts";
import type { AdministratorRule } from "./access/roles.ts";
import type { Rules } from "./access/rules.ts";
import type { ServiceClock } from "./clock.ts";
import type { Collection } from "./collection/collection.ts";
import type { WriteHooks } from "./collection/write-hooks.ts";
import type { CommandLine, CommandRow } from "./command.ts";
import type { StartFault } from "./errors.ts";
import type { Endpoint } from "./http/endpoint/endpoint.ts";
import type { OwnCollection } from "./http/endpoint/router.ts";
import type { Described } from "./http/openapi/described.ts";
import type { Asked, Result } from "./http/operations/result.ts";
import type { JoinCommit, Participant } from "./http/participant.ts";
import type { KeyAdministration, Service, Unfinished } from "./http/service.ts";
import type { HttpSettings, Limits } from "./http/settings.ts";
import type { Mirrored } from "./import/item-reader.ts";
import type { Family, MetricsSource } from "./observe/metrics-source.ts";
import type { WorkTracing } from "./observe/origins.ts";
import type { Option } from "./option.ts";
import type { Vault } from "./secrets.ts";
import type { StoreAddress } from "./store/address.ts";
import type { Store, StoreReader } from "./store/port/store.ts";

/**
 * The face of a capability: what the program must know before it loads any other code of it, such as for `--help`. `Opened`: its open
 * capability. `Replaced`: what a test can put in place of its parts.
 */
export interface Capability<
  Name extends string = string,
  Options extends OptionRows = OptionRows,
  Settings = unknown,
  Opened extends OpenCapability = never,
  Replaced = never,
> {
  /** The name of its folder, and of its settings in `Config`. */
  readonly name: Name;
  /** Its options, by their place in the configuration file. */
  readonly options: Options;
  /** The environment variables with its secrets. Their names begin with `HOLDFAST_`. @default none */
  readonly secrets?: SecretVariables;
  /** The members of a declared collection that it reads. @default none */
  readonly members?: readonly string[];
  /**
   * Where a configuration that is a module can have functions, such as `jobs.*.run`. In a configuration file, `functionMark` of
   * `user-module.ts` is in place of each function, because threads send only plain data. @default nowhere
   */
  readonly functions?: readonly string[];
  /** The declaration of a collection, with what follows from its members of it. Throws StartError; `place` begins a message. */
  declare?(
    declaration: Readonly<Record<string, unknown>>,
    place: string,
  ): Readonly<Record<string, unknown>> | undefined;
  /** A fault of a declaration that `declare` has completed, at the place where the configuration has it. */
  explainFault?(fault: StartFault, declaration: Readonly<Record<string, unknown>>, place: string): StartFault;
  /** Its settings. Throws StartError, also if one of its options has a fault. */
  settings(get: Get<Options>, around: Surroundings): Settings;
  /** Checks that the rest of the configuration fits its settings. Throws StartError. */
  check?(settings: Settings, rest: RestOfConfiguration): void;
  /** Whether callers can authenticate with these settings. @default they cannot */
  isCredential?(settings: Settings): boolean;
  /** The option that makes `HOLDFAST_SECRET` necessary, such as `auth.users`. @default `undefined`: none does */
  encryptsFor?(settings: Settings): string | undefined;
  /** Settings of the HTTP interface that follow from these, such as the origins that can send cookies. @default none */
  forHttp?(
    settings: Settings,
  ): Partial<Pick<HttpSettings, "cookieOrigins" | "profiles" | "hooked" | "consoleTags">>;
  /** The content of a configuration, without what a service for tests would read or send outside the process. Nothing has checked it. @default the same */
  forTests?(content: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Its commands, by name. */
  readonly commands?: Readonly<Record<string, CommandRow<CommandLine<Opened, Settings>>>>;
  /** Loads its code. */
  load(): Promise<Loaded<Settings, Opened, Replaced>>;
}

/** Options, by their place in the configuration file. */
export type OptionRows = Readonly<Record<string, Option<unknown>>>;

/** Returns the checked value of an option. Throws StartError if the value has a fault. */
export type Get<Options extends OptionRows> = <Name extends keyof Options>(
  name: Name,
) => ReturnType<Options[Name]["read"]>;

/** Environment variables with secrets. */
export interface SecretVariables {
  /** The names that a message suggests. */
  readonly names: readonly string[];
  /** Whether a variable is one of them. @default those in `names` */
  has?(variable: string): boolean;
}

/** What the settings of a capability depend on beside its own options. */
export interface Surroundings {
  /** The folder to which relative paths refer. */
  cwd: string;
  /** The environment variables with secrets. */
  env: Readonly<Record<string, string | undefined>>;
  /** The absolute path of the configuration file; `undefined` without one. */
  file: string | undefined;
  /** The content of the configuration file, or the configuration of an application. Nothing has checked it. */
  content: object;
  /** A member of `members` as each collection declares it, by the name of the collection. Nothing has checked the values. */
  declared(member: string): ReadonlyMap<string, unknown>;
  /** Whether the configuration has an option of another capability. Throws StartError if that option has faults. */
  has(option: string): boolean;
  /** Whether the service is for this machine only. Throws StartError if an option that decides it has faults. */
  isLocal(): boolean;
  /** Whether it is part of another application. */
  isEmbedded: boolean;
}

/** What a check compares settings with. */
export interface RestOfConfiguration {
  /** The declared collections, by name. */
  collections: ReadonlyMap<string, Collection>;
  /** The access rules of the declared collections, by name. */
  rules: ReadonlyMap<string, Rules>;
  administrators: readonly AdministratorRule[];
  /** The start of the paths of collections; empty for the root. */
  prefix: string;
  /** Whether clients can create collections that are not declared. */
  openCollections: boolean;
  isLocal: boolean;
  isEmbedded: boolean;
  /** Whether `publicUrl` is set, or the service is local. */
  hasUrl: boolean;
  /** Whether the store keeps the history of resources. */
  hasHistory: boolean;
}

/** The face of a capability, with its exact types. `capabilities/all.ts` makes the types of a configuration file from them. */
export function define<
  const Name extends string,
  const Options extends OptionRows,
  Settings,
  Opened extends OpenCapability,
  Replaced,
>(face: Capability<Name, Options, Settings, Opened, Replaced>) {
  return face;
}

/** The code of a capability. */
export interface Loaded<Settings = never, Opened extends OpenCapability = never, Replaced = never> {
  /** Rows of the table of endpoints. Each handler gets the open capability. */
  readonly endpoints?: readonly EndpointOf<Opened, Settings>[];
  /** Rows that follow from the settings of a service, such as paths that the configuration declares. */
  endpointsFor?(settings: Settings): readonly EndpointOf<Opened, Settings>[];
  /** The `collections` of the open capability, for documents, which are also made without a service. */
  readonly describedCollections?: readonly OwnCollection[];
  /** The descriptions of its metrics, by name. `metrics` of the open capability has their values. */
  readonly families?: Readonly<Record<string, Family>>;
  /** What it does with the content of a store, without being open. */
  readonly inStore?: InStore<Settings>;
  /** What its settings need outside the configuration, such as files and secrets. */
  readonly needs?: readonly Need<Settings>[];
  /** Sentences for `holdfast check` about what is valid, and perhaps a mistake. */
  warnings?(settings: Settings, checked: CheckedConfiguration): Promise<string[]>;
  /** Opens its hooks for a command that writes to a store itself; `undefined` if the configuration has none. Throws StartError. */
  openWriteHooks?(settings: Settings, around: AroundHooks): Promise<OpenWriteHooks | undefined>;
  /** Opens it in this thread, before the store is reached and has its tables. It uses neither the store nor the network. A test can replace parts of it. Throws StartError. */
  open(core: Core, settings: Settings, replaced: Replaced | undefined): Opened | Promise<Opened>;
}

/** What hooks need beside the settings of their capability. */
export interface AroundHooks {
  limits: Limits;
  /** The declared collections, by name. */
  collections(): ReadonlyMap<string, Collection>;
  warn(text: string): void;
}

/** The hooks of all collections. `stop` ends their threads. */
export interface OpenWriteHooks {
  hooks: WriteHooks;
  /** Resolves when they can run. Throws StartError. */
  ready(): Promise<void>;
  isFailing(): boolean;
  stop(): Promise<void>;
}

/** A row of the table of endpoints whose handler gets the open capability. */
export interface EndpointOf<Opened, Settings = unknown>
  extends Omit<Endpoint, "handle" | "parse" | "exists"> {
  /** Whether a service with these settings has it. All endpoints of a path have the same function. @default always */
  readonly exists?: (described: Described, settings: Settings) => boolean;
  /** Like that of every endpoint, with the open capability. */
  parse?(
    service: Service,
    request: Parameters<NonNullable<Endpoint["parse"]>>[1],
    opened: Opened,
  ): ReturnType<NonNullable<Endpoint["parse"]>>;
  handle(service: Service, asked: Asked, opened: Opened): Result | Promise<Result>;
}

/** Something that settings need outside the configuration. `at` is the place of the option, and `require` throws StartError without it. */
export interface Need<Settings> {
  readonly at: readonly string[];
  require(settings: Settings): void | Promise<void>;
}

/** What warnings about settings are made from. */
export interface CheckedConfiguration {
  collections: ReadonlyMap<string, Collection>;
  /** `undefined` without `auth`. */
  access: Access | undefined;
  administrators: readonly AdministratorRule[];
}

/** What a capability does with the content of a store, mostly for commands such as `holdfast restore`. */
export interface InStore<Settings = never> {
  /** Whether the store has something of it that only a secret of the service opens. */
  hasEncrypted?(store: Store): Promise<boolean>;
  /**
   * Stops what both stores would do after a copy or a restore, such as deliveries and sessions. `moved`: the new store takes the place of
   * the other one. `at`: Unix time in milliseconds. Returns what it has done.
   */
  quieten?(
    store: Store,
    how: { made: "copied" | "moved" | "restored"; at: number },
  ): Promise<readonly Done[]>;
  /** Makes new secrets in place of those that a lost secret has encrypted. */
  replaceLost?(store: Store, how: { vault: Vault; now: () => number }): Promise<Replacement>;
  /** Removes what it knows about a resource that is erased. `at`: Unix time in milliseconds. Returns what it has done. */
  erase?(store: Store, id: string, at: number): Promise<string | undefined>;
  /** The attributes of a collection that show something outside it, as `Participant.mirrored` does in a service. */
  mirrored?(store: Store, collection: Collection, settings: Settings): Promise<Mirrored | undefined>;
  /** Sentences for `holdfast check` about what the store keeps of it that the settings no longer have. */
  leftIn?(reader: StoreReader, settings: Settings): Promise<string[]>;
  /** The internal collection whose ids are subjects of callers, so that no API key can have them. */
  subjects?(settings: Settings): string | undefined;
}

/** `{ did: "disabled", count: 2, what: "webhook" }`: disabled 2 webhooks. */
export interface Done {
  did: string;
  count: number;
  what: string;
}

/** What became of things that a lost secret has encrypted. */
export interface Replacement {
  /** What is new, as the operator must know it. */
  replaced?: readonly object[];
  /** Sentences about what nobody can read again. */
  lost?: readonly string[];
}

/** What the core gives to a capability, in each thread. */
export interface Core {
  /** The service. Until all capabilities are open, it lacks what they add. A capability calls `collections()` each time, and keeps no copy of the result. */
  service: Service;
  store: Store;
  /** The address of the store. */
  address: StoreAddress;
  /** Whether several instances can use the store. */
  isShared: boolean;
  /** Whether the environment has a secret of the service. */
  hasSecret: boolean;
  /** Encrypts for the store. Throws an Error before the store is prepared, and if the service has no secret. */
  vault(): Vault;
  /** Whether the service is for this machine only. */
  isLocal: boolean;
  /** What the configuration says about callers. */
  callers: {
    takesKeys: boolean;
    administrators: readonly AdministratorRule[];
    /** The roles that administrators can give to keys. */
    keyRoles: readonly string[];
  };
  /** Calls a method of this capability in the main thread. `undefined` in the main thread. */
  call: ((method: string, ...args: (string | undefined)[]) => Promise<unknown>) | undefined;
  /** The clock of the service, and how to wait for its times. */
  clock: ServiceClock;
  /** Whether this is a service of `holdfast/testing`. There, work that waits for a change or a time begins when the test says so, as far as this is possible (`inTests`, `runDue`). */
  isForTests: boolean;
  /** Shows a text on the terminal of the operator, if there is one. Other outputs are often kept. */
  showOnTerminal(text: string): void;
  /** Whether metrics are on. */
  isMetered: boolean;
  /** Aborted when the service begins to end: it ends its streams, and waits for the requests in progress. */
  stopping: AbortSignal;
  /** `undefined` without an SDK of OpenTelemetry. */
  tracing: WorkTracing | undefined;
}

/** An open capability. The core reads these places once, at the start. */
export interface OpenCapability {
  /**
   * Prepares the store before the service is ready. After UNAVAILABLE, it is called again, so it must be repeatable. Throws StartError and
   * the errors of the store.
   */
  prepare?(thread: ThreadWork): Promise<void>;
  /** Begins its work, when the whole service is open. The store can still be out of reach until `service.hasStarted()`. */
  start?(thread: ThreadWork): void;
  /** Ends its work. The store is still open. */
  stop?(): Promise<void>;
  /** Its internal collections that administrators use with the paths of a collection, with what takes part in their writes. */
  readonly collections?: readonly (OwnCollection & { participant: Participant })[];
  /** What takes part in the writes of declared collections, by the name of the collection. */
  readonly participants?: ReadonlyMap<string, Participant>;
  /** Functions that take part in the writes of declared collections. Only one capability can have it. */
  readonly writeHooks?: WriteHooks | undefined;
  /** The store as requests read it, such as with lists that refuse what is not complete. */
  overStore?<S extends Service["store"]>(store: S): S;
  /** What the service still does in a collection; `undefined` if nothing. Only one capability can have it. */
  readonly unfinished?: ((collection: string) => Promise<Unfinished | undefined>) | undefined;
  /** Adds changes to each commit. Only one capability can have it. */
  readonly joinCommit?: JoinCommit | undefined;
  /** Opens a further kind of credential. Called once, after the first try to reach the store, even if that failed. Throws StartError. */
  openAuthenticator?(): Promise<Authenticator | undefined>;
  /** What it adds to the administration of API keys. Only one capability can have it. */
  readonly aboutKeys?: Pick<KeyAdministration, "isOfUser" | "note">;
  /** What the main thread does for one other thread, by name. Called once for each of them. */
  methods?(): Readonly<Record<string, (...args: never[]) => unknown>>;
  /** A link for the first person who administers the service; `undefined` if somebody does already. Throws the errors of the store. */
  firstLink?(): Promise<string | undefined>;
  /** What the operator sees at the start, by a short name. */
  readonly announced?: Readonly<Record<string, string>>;
  readonly metrics?: MetricsSource | readonly MetricsSource[] | undefined;
  /** Whether it cannot work now, so that readiness warns. @default it works */
  isFailing?(): boolean;
  /** What a service for tests can do because of it: functions, by the names of members of `TestService`. */
  readonly inTests?: Readonly<Record<string, (...args: never[]) => unknown>>;
  /** In a service for tests, does what is due now, because the clock was moved. Throws an Error that says what has failed. */
  runDue?(): Promise<void>;
}

/** What a capability may do in its thread. */
export interface ThreadWork {
  /** Whether it does the work of the whole service here. Only one thread does, and none of a service that is read-only. */
  works: boolean;
}
