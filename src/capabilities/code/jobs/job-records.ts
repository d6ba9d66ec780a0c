/** What the store keeps of jobs. */
import { openCollection } from "../../../collection/collection.ts";
import { put, Records, remove, type Versioned } from "../../../records.ts";
import type { Change } from "../../../store/port/commit.ts";
import type { ServingStore } from "../../../store/port/store.ts";
import type { JobSettings } from "./job-settings.ts";

/** The internal collection of jobs. The id is the name of the job. */
const jobsName = "_jobs";

/** What the store keeps of a job. All times are Unix times in milliseconds, by the clock of the store. */
export interface JobRecord {
  /** The pattern and the time zone from which `due` follows. */
  cron: string;
  timezone: string;
  /** The first time of the pattern that no run has begun for. */
  due: number;
  /** The run that is in progress, or that waits until it is tried again; `null` without such a run. */
  run: JobRun | null;
  /** What became of the last attempt; `null` before it. */
  last: JobAttempt | null;
  /** When the last success ended; `null` before it. */
  succeededAt: number | null;
}

/** A run: all attempts for one time. */
export interface JobRun {
  /** The time for which it runs. */
  due: number;
  missed: number;
  /** The number of the attempt that is in progress, or comes next. */
  attempt: number;
  /** How many attempts were interrupted. */
  interruptions: number;
  /** When the attempt can begin. */
  from: number;
  /** Who is at work on it; `null` while it waits. */
  holder: string | null;
  /** When the attempt in progress began; `null` while it waits. */
  start: number | null;
}

/** An attempt that has ended. */
export interface JobAttempt {
  due: number;
  missed: number;
  attempt: number;
  start: number;
  end: number;
  result: "succeeded" | "failed" | "interrupted";
  /** Why it failed; `null` after a success. */
  message: string | null;
}

/** The records of the jobs of one store. */
export class JobRecords extends Records {
  constructor(store: ServingStore) {
    super(store, [openCollection(jobsName)]);
  }

  /** The record of a job; `undefined` if the store has none. */
  job(name: string): Promise<Versioned<JobRecord> | undefined> {
    return this.read(jobsName, name);
  }

  /** All records, by the names of the jobs. */
  async all(): Promise<ReadonlyMap<string, Versioned<JobRecord>>> {
    const { records } = await this.list<JobRecord & { id: string }>({ collection: jobsName, limit: 1_000 });
    return new Map(records.map((each) => [each.value.id, each]));
  }
}

/**
 * Forgets when jobs are due and what ran, after a store was copied or restored: the times until now are not missed ones. Returns how many jobs
 * there were.
 */
export async function forgetJobs(store: ServingStore, at: number): Promise<number> {
  const records = new JobRecords(store);
  const all = [...(await records.all())];
  await records.commit(
    all.map(([name, { version }]) => remove(jobsName, name, version)),
    at,
  );
  return all.length;
}

/** A change that writes the record of a job. `before` is what was read. */
export function putJob(name: string, before: Versioned<JobRecord> | undefined, next: JobRecord): Change {
  return put(jobsName, name, before?.version, next);
}

/** Whether a record follows from the pattern that the job has now. */
export function isOf({ cron, timezone }: JobSettings, record: JobRecord): boolean {
  return record.cron === cron && record.timezone === timezone;
}
