/**
 * The door between the core and a capability. A capability is a folder of `capabilities/`, and gives one value of this type to
 * `capabilities/all.ts`. The core asks a capability only at these places, and imports nothing else of it. `capabilities/tokens/` is the
 * smallest example.
 */
import type { Authenticator } from "./access/authenticate.ts";
import type { CommandLine, CommandRow } from "./command.ts";
import type { Endpoint } from "./http/endpoint/endpoint.ts";
import type { OwnCollection } from "./http/endpoint/router.ts";
import type { Asked, Result } from "./http/operations/result.ts";
import type { Participant } from "./http/participant.ts";
import type { Service } from "./http/service.ts";
import type { Family, MetricsSource } from "./observe/metrics-source.ts";
import type { WorkTracing } from "./observe/origins.ts";
import type { Option } from "./option.ts";
import type { Vault } from "./secrets.ts";
import type { Store } from "./store/port/store.ts";

/** The face of a capability: what the program must know before it loads any other code of it, such as for `--help`. */
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
  /** Its settings. Throws StartError, also if one of its options has a fault. */
  settings(get: Get<Options>, around: Surroundings): Settings;
  /** Whether callers can authenticate with these settings. @default they cannot */
  isCredential?(settings: Settings): boolean;
  readonly commands?: Readonly<Record<string, CommandRow<CommandLine<Opened>>>>;
  /** Loads its code. */
  load(): Promise<Loaded<Settings, Opened, Replaced>>;
}

/** Options, by their place in the configuration file. */
export type OptionRows = Readonly<Record<string, Option<unknown>>>;

/** Returns the checked value of an option. Throws StartError if the value has a fault. */
export type Get<Options extends OptionRows> = <Name extends keyof Options>(
  name: Name,
) => ReturnType<Options[Name]["read"]>;

/** What the settings of a capability depend on beside its own options. */
export interface Surroundings {
  /** The folder to which relative paths refer. */
  cwd: string;
  /** Whether people sign in to the service. Throws StartError if that option has faults. */
  hasUsers(): boolean;
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
  readonly endpoints?: readonly EndpointOf<Opened>[];
  /** Its internal collections that administrators use with the paths of a collection, as documents describe them. */
  readonly describedCollections?: readonly OwnCollection[];
  /** Its metrics, by name. */
  readonly families?: Readonly<Record<string, Family>>;
  readonly inStore?: InStore;
  /** The files that its settings name. `at` is the place of their option, and `require` throws StartError if one cannot be used. */
  readonly files?: { at: readonly string[]; require(settings: Settings): Promise<void> };
  /** Opens it in this thread, before the store is prepared. It uses neither the store nor the network. A test can replace parts of it. Throws StartError. */
  open(core: Core, settings: Settings, replaced: Replaced | undefined): Opened | Promise<Opened>;
}

/** A row of the table of endpoints whose handler gets the open capability. */
export interface EndpointOf<Opened> extends Omit<Endpoint, "handle"> {
  handle(service: Service, asked: Asked, opened: Opened): Result | Promise<Result>;
}

/** What a capability does with a store in which no service runs. */
export interface InStore {
  /** Whether the store has something of it that only a secret of the service opens. */
  hasEncrypted?(store: Store): Promise<boolean>;
  /** Keeps a copy from acting as the store that it was made of. `at`: Unix time in milliseconds. Returns what it has done. */
  quieten?(store: Store, how: { made: "copied" | "restored"; at: number }): Promise<Done | undefined>;
  /** Replaces what a lost secret has encrypted. Returns what the operator must know of each. */
  replaceLost?(store: Store, how: { vault: Vault; now: () => number }): Promise<readonly object[]>;
}

/** `{ did: "disabled", count: 2, what: "webhook" }`: disabled 2 webhooks. */
export interface Done {
  did: string;
  count: number;
  what: string;
}

/** What the core gives to a capability, in each thread. */
export interface Core {
  /** The service, while it opens. It gets what capabilities add when all of them are open. */
  service: Service;
  store: Store;
  /** Whether several instances can use the store. */
  isShared: boolean;
  /** `undefined` without `HOLDFAST_SECRET`. Throws an Error before the store is prepared. */
  vault(): Vault | undefined;
  /** Whether a monitor can read what it counts. */
  isMetered: boolean;
  /** `undefined` without an SDK of OpenTelemetry. */
  tracing: WorkTracing | undefined;
}

/** An open capability. The core reads these places once, at the start. */
export interface OpenCapability {
  /** Prepares the store before the service is ready. Throws StartError and the errors of the store. */
  prepare?(thread: ThreadWork): Promise<void>;
  /** Begins its work, when the whole service is open. */
  start?(thread: ThreadWork): void;
  /** Ends its work. The store is still open. */
  stop?(): Promise<void>;
  /** Its internal collections that administrators use with the paths of a collection. */
  readonly collections?: readonly (OwnCollection & { participant: Participant })[];
  /** Opens a further kind of credential, when the store is prepared or cannot be reached yet. Throws StartError. */
  openAuthenticator?(): Promise<Authenticator | undefined>;
  readonly metrics?: MetricsSource | undefined;
}

/** What a capability may do in its thread. */
export interface ThreadWork {
  /** Whether it does the work of the whole service here. Only one thread does, and none of a service that is read-only. */
  works: boolean;
}
