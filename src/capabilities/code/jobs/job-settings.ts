/** What a configuration says about its jobs. */
import type { Acting } from "../calls/acting.ts";

/** One job. */
export interface JobSettings {
  name: string;
  /** Five fields. */
  cron: string;
  /** A time zone of the IANA database. */
  timezone: string;
  /** The caller of its requests; `undefined`: it has no client. */
  as: Acting | undefined;
  timeoutMs: number;
  /** How often a failed run is tried again. */
  retries: number;
  /** Whether times that were missed become one run. */
  catchUp: boolean;
  /** Whether a run that was interrupted runs again. */
  onCrash: "again" | "skip";
}

/** The jobs, by name. */
export type Jobs = ReadonlyMap<string, JobSettings>;
