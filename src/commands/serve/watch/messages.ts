/** What the watcher and the processes that serve tell each other. */
import type { FileContent } from "../../../config/values.ts";

/** From the watcher to a process. */
export type Order =
  /** Read the configuration. With `fitsStore`, also refuse it where what the store holds does not fit it. */
  | { kind: "read"; flags: Record<string, unknown>; fitsStore: boolean }
  /** Serve what was read, on this port if the configuration leaves it to the service. */
  | { kind: "serve"; port: number }
  /** Answer what was accepted, and end. */
  | { kind: "stop" };

/** From a process to the watcher. */
export type Report =
  | { kind: "read"; content: FileContent; files: readonly ReadFile[] }
  | { kind: "refused"; text: string; files: readonly ReadFile[] }
  | { kind: "listening"; base: string };

/** A file of the configuration, and its state before it was read. */
export type ReadFile = readonly [path: string, stamp: string];
