/** Reads the option `jobs`. */
import { collectionName } from "../../../collection/collection.ts";
import { mustBe, shortJson } from "../../../collection/messages.ts";
import { isTimeZone } from "../../../collection/time-zones.ts";
import { readMembers } from "../../../errors/start-faults.ts";
import { StartError } from "../../../errors.ts";
import { isObject } from "../../../json/values.ts";
import { type MemberReader, membersOf, simply } from "../../../members.ts";
import type { Reader } from "../../../option.ts";
import { truth, wholeNumber } from "../../../readers.ts";
import { readActing } from "../calls/acting.ts";
import { requireFunction } from "../code-options.ts";
import type { Job } from "./job.ts";
import type { JobSettings, Jobs } from "./job-settings.ts";
import { requirePattern } from "./schedule.ts";

/** The most jobs of a service. */
const mostJobs = 100;

const hourMs = 3_600_000;

/** The value of the option, before `readJobs` checks its members. */
export const givenJobs: Reader<GivenJobs, Readonly<Record<string, Job>>> = (value) => {
  if (isObject(value)) return value;
  throw new Error('must be an object such as { digest: { cron: "0 7 * * 1", run: async () => {} } }');
};

/** The jobs as the configuration has them. Nothing has checked them. */
type GivenJobs = Readonly<Record<string, unknown>>;

/** The jobs without their functions, for administrators. */
export function shownJobs(given: GivenJobs): object {
  const withoutRun = ({ run: _, ...others }: Record<string, unknown>) => others;
  return Object.fromEntries(
    Object.entries(given).map(([name, job]) => [name, withoutRun(job as Record<string, unknown>)]),
  );
}

/** The checked jobs. Throws StartError with the faults of all. */
export function readJobs(given: GivenJobs): Jobs {
  const count = Object.keys(given).length;
  if (count > mostJobs)
    throw new StartError(`jobs has ${count} jobs. A service can have at most ${mostJobs}.`);
  return new Map(readMembers(given, readJob));
}

function readJob(value: unknown, name: string): JobSettings {
  const place = `jobs.${name}`;
  if (!collectionName.test(name))
    throw new StartError(
      `${place}: the name of a job has a letter, then letters, digits, "_" and "-", up to 63 characters.`,
    );
  const { run: _, ...given } = membersOf<Omit<JobSettings, "name"> & { run: undefined }>(value, place, {
    cron,
    timezone,
    as: readActing,
    timeoutMs: simply(wholeNumber(1, hourMs)),
    retries: simply(wholeNumber(0, 5)),
    catchUp: simply(truth),
    onCrash: simply(onCrash),
    run,
  });
  return { ...usual, ...given, name };
}

const usual = {
  cron: "",
  timezone: "UTC",
  as: undefined,
  timeoutMs: 300_000,
  retries: 0,
  catchUp: true,
  onCrash: "again",
} as const;

const cron: MemberReader<string> = (value, place) => {
  const example = `such as "0 7 * * 1": every Monday at 7:00`;
  if (value === undefined)
    throw new StartError(`${place} is missing. It says when the job runs, ${example}.`);
  if (typeof value !== "string") throw mustBe(place, `a text with five fields, ${example}`, value);
  try {
    requirePattern(value);
    return value;
  } catch (error) {
    throw new StartError(`${place} is ${shortJson(value)}. ${(error as Error).message}`);
  }
};

const timezone: MemberReader<string> = (value, place) => {
  if (value === undefined || (typeof value === "string" && isTimeZone(value))) return value;
  throw mustBe(place, 'the name of a time zone such as "Europe/Oslo"', value);
};

const onCrash: Reader<JobSettings["onCrash"]> = (value) => {
  if (value === "again" || value === "skip") return value;
  throw new Error('must be "again" or "skip"');
};

const run: MemberReader<undefined> = (value, place) => {
  if (value === undefined)
    throw new StartError(`${place} is missing. It is the function that does the work.`);
  requireFunction(value, place);
  return undefined;
};
