/** What a configuration says about its code. */

import type { RouteSettings } from "./routes/route-options.ts";

/** The settings of the code of a configuration. */
export interface CodeSettings {
  /** The path of the module that the workers import; `undefined` if the functions are in this thread, as in an application. */
  module: string | undefined;
  /** How long one call of a hook can take, in milliseconds of processor time. */
  hookMs: number;
  /** The limit of the heap of a worker, in MiB. */
  memoryMb: number;
  /** The code of each collection that has some, by name. */
  collections: ReadonlyMap<string, CollectionCode>;
  /** The routes, by name. */
  routes: ReadonlyMap<string, RouteSettings>;
  /** The configuration itself; `undefined` if workers import it. */
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
