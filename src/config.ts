import type { Collection } from "./collection/collection.ts";
import type { HttpSettings } from "./http/settings.ts";

/** Where the resources are kept. */
export type StoreAddress = { kind: "sqlite"; path: string };

/** Everything that the program was told, checked and with the defaults filled in. */
export interface Config {
  /** The file that it was read from; `undefined` without one. */
  file: string | undefined;
  store: StoreAddress;
  /** The declared collections, by name. */
  collections: ReadonlyMap<string, Collection>;
  /** Whether collections that nobody declared spring into being. */
  openCollections: boolean;
  http: HttpSettings;
  host: string;
  port: number;
  /** A line for each request, even where stdout is not a terminal. */
  logRequests: boolean;
  /** Listen beyond the loopback addresses without `auth`. */
  insecure: boolean;
  /** Start although existing resources do not fit a changed schema. */
  accept: boolean;
  /** Between turning readiness off and closing the listener, in milliseconds. @default 500 */
  drainDelayMs: number;
  /** Until an orderly stop is forced, in milliseconds. @default 10000 */
  stopTimeoutMs: number;
}
