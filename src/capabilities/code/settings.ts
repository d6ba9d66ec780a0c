/** What a configuration says about its code. */
import type { ConsumerSettings } from "./consumers/consumer-settings.ts";
import type { Jobs } from "./jobs/job-settings.ts";
import type { RouteSettings } from "./routes/route-options.ts";

/** The settings of the code of a configuration. */
export interface CodeSettings {
  /** The path of the module that the workers import; `undefined` if the functions run in this thread, as in an application. */
  module: string | undefined;
  /** How long one call of a hook can take, in milliseconds of processor time. */
  hookMs: number;
  /** The limit of the heap of a worker, in MiB. */
  memoryMb: number;
  /** How many workers run routes, consumers and jobs, beside each thread of the service. */
  threads: number;
  /** The code of each collection that has some, by name. */
  collections: ReadonlyMap<string, CollectionCode>;
  /** The computed attributes of each collection that has some, by name. */
  computed: ReadonlyMap<string, ComputedAttributes>;
  /** The consumers of all collections. */
  consumers: readonly ConsumerSettings[];
  jobs: Jobs;
  /** The routes, by name. */
  routes: ReadonlyMap<string, RouteSettings>;
  /** The configuration of an application; `undefined` if there is a configuration file. */
  functions: object | undefined;
}

/** The code of one collection. */
export interface CollectionCode {
  /** Whether it has `before`. */
  hasBefore: boolean;
  hasValidate: boolean;
  /** The relations that the hooks get. */
  with: readonly string[];
}

/** The computed attributes of one collection, by name, in the order of the configuration. */
export type ComputedAttributes = ReadonlyMap<string, ComputedAttribute>;

/** How one attribute is computed. */
export interface ComputedAttribute {
  /** The attributes that its function gets. */
  from: readonly string[];
  /** Raised when the function changes. */
  version: number;
  /** The schema of its values. */
  schema: unknown;
}
