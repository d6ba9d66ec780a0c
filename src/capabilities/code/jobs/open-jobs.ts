/** Opens the jobs of a service. */
import type { Core } from "../../../capability.ts";
import type { Clock } from "../../../clock.ts";
import type { InsideFetch } from "../../../http/inside.ts";
import { principalOf } from "../calls/acting.ts";
import type { WorkParts } from "../calls/open-runner.ts";
import type { CodeSettings } from "../settings.ts";
import { JobRecords } from "./job-records.ts";
import type { JobSettings } from "./job-settings.ts";
import { ServiceJobs } from "./jobs.ts";

/** What a test can replace. */
export interface ReplacedInJobs {
  /** The clock by which jobs are due. */
  jobClock?: Clock;
}

/** The jobs of one thread. They do not run yet. */
export function openJobs(
  { service, store, isShared, clock, call }: Core,
  { jobs }: CodeSettings,
  { runner, inside, replaced }: WorkParts & { replaced: ReplacedInJobs | undefined },
): ServiceJobs {
  const { newUuid, log, readOnly } = service;
  const clients = new Map<string, Readonly<Record<string, InsideFetch>>>();
  for (const { name, as } of jobs.values()) {
    const client = as && inside({ principal: principalOf(name, as) });
    clients.set(name, client === undefined ? {} : { client, service: client });
  }
  const clientsOf = ({ name }: JobSettings) => clients.get(name) ?? {};
  return new ServiceJobs({
    jobs,
    records: new JobRecords(store),
    store,
    clock: replaced?.jobClock ?? clock,
    isShared,
    isReady: service.hasStarted,
    runner,
    clientsOf,
    newUuid,
    warn: (message) => log.warn(message),
    readOnly,
    wakeLoop: call && (() => void call("wakeJobs").catch(() => {})), // otherwise it looks within a few seconds
  });
}
