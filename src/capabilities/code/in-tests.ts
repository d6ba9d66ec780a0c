/** What a service for tests can do because of code. There, consumers and jobs were not started: they run when a test says so. */
import type { OpenCapability } from "../../capability.ts";
import { shortJson } from "../../collection/messages.ts";
import { CallTurns } from "./consumers/call-turns.ts";
import type { Consumers } from "./consumers/consumers.ts";
import type { ServiceJobs } from "./jobs/jobs.ts";

/** The members of the open capability that belong to tests. What fails in the code rejects, after everything else is done. */
export function membersForTests({
  consumers,
  jobs,
}: {
  consumers: Consumers | undefined;
  jobs: ServiceJobs | undefined;
}): Pick<OpenCapability, "inTests" | "runDue"> {
  // Work of one kind waits for earlier work of this kind.
  const [turnsOfConsumers, turnsOfJobs] = [new CallTurns(1), new CallTurns(1)];
  return {
    inTests: {
      consume: () => turnsOfConsumers.run(async () => throwIfAny((await consumers?.handleAll()) ?? [])),
      runJob: (name: string, time?: number | Date) => {
        const due = time === undefined ? undefined : Number(time);
        if (Number.isNaN(due))
          throw new TypeError("time must be a Unix time in milliseconds, or a valid Date.");
        if (jobs?.has(name) !== true) throw unknownJob(name, jobs?.names ?? []);
        return turnsOfJobs.run(async () => throwIfAny(await jobs.runAt(name, due)));
      },
    },
    runDue: () => turnsOfJobs.run(async () => throwIfAny((await jobs?.runDue()) ?? [])),
  };
}

function unknownJob(name: unknown, names: readonly string[]): Error {
  const known = names.length === 0 ? "It has no jobs." : `Its jobs: ${names.join(", ")}.`;
  return new Error(`The configuration has no job ${shortJson(name)}. ${known}`);
}

function throwIfAny(failures: readonly string[]): void {
  if (failures.length > 0) throw new Error(failures.join("\n"));
}
