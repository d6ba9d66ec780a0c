/** The endpoints of jobs: administrators see them, and run one now. */
import type { EndpointOf } from "../../../capability.ts";
import {
  closedObject,
  count,
  type Described,
  hasAdministrators,
  json,
  listOf,
  type Part,
  text,
} from "../../../http/openapi/described.ts";
import { jsonResult } from "../../../http/operations/result.ts";
import type { CodeSettings } from "../settings.ts";
import type { ServiceJobs, ShownJob } from "./jobs.ts";

/** What the endpoints need of the open capability. */
interface WithJobs {
  readonly jobs: ServiceJobs | undefined;
}

const time: Part = { type: "string", format: "date-time" };
const timeOrNull: Part = { type: ["string", "null"], format: "date-time" };

const attempt = {
  due: { ...time, description: "The time for which it runs." },
  missed: { ...count, description: "How many times that were missed the run makes up for." },
  attempt: { type: "integer", minimum: 1, description: "Its number, among the attempts for this time." },
  start: time,
};

const lastAttempt = {
  ...attempt,
  end: time,
  result: { enum: ["succeeded", "failed", "interrupted"] },
  message: { type: ["string", "null"], description: "Why it failed." },
};

const job = closedObject({
  name: text,
  cron: text,
  timezone: text,
  next: {
    ...timeOrNull,
    description: "When the job runs next. `null` in a read-only service, which runs no jobs.",
  },
  running: {
    description: "The attempt in progress.",
    anyOf: [closedObject(attempt), { type: "null" }],
  },
  last: {
    description: "The last attempt that has ended.",
    anyOf: [closedObject(lastAttempt), { type: "null" }],
  },
  lastSuccess: { ...timeOrNull, description: "When the last successful attempt ended." },
});

const example: ShownJob = {
  name: "digest",
  cron: "0 7 * * 1",
  timezone: "Europe/Oslo",
  next: "2026-02-09T06:00:00.000Z",
  running: null,
  last: {
    due: "2026-02-02T06:00:00.000Z",
    missed: 0,
    attempt: 1,
    start: "2026-02-02T06:00:00.012Z",
    end: "2026-02-02T06:00:03.480Z",
    result: "succeeded",
    message: null,
  },
  lastSuccess: "2026-02-02T06:00:03.480Z",
};

const exists = (described: Described, { jobs }: CodeSettings) =>
  jobs.size > 0 && hasAdministrators(described);

/** What all these endpoints have. */
const common = { who: "administrators", exists, tag: "Jobs" } as const;

const names = { name: { description: "The name of the job." } };

/** The endpoints. */
export const jobEndpoints: readonly EndpointOf<WithJobs, CodeSettings>[] = [
  {
    ...common,
    path: "/_jobs",
    method: "GET",
    id: "listJobs",
    summary: "List jobs",
    description: "Lists the jobs of the configuration, with their last and their next run.",
    successes: { 200: { description: "The jobs.", content: json(listOf(job), [example]) } },
    handle: async (_, __, { jobs }) => jsonResult(await jobs?.shown()),
  },
  {
    ...common,
    path: "/_jobs/{name}",
    method: "GET",
    names,
    id: "getJob",
    summary: "Read a job",
    description: "Says when the job runs next, and what became of its last run.",
    successes: { 200: { description: "The job.", content: json(job, example) } },
    handle: async (_, asked, { jobs }) => jsonResult(await jobs?.shownJob(asked.names.name as string)),
  },
  {
    ...common,
    path: "/_jobs/{name}/_run",
    method: "POST",
    names,
    id: "runJob",
    summary: "Run a job now",
    description: "Makes the job run now. Its next time does not change.",
    successes: {
      202: { description: "The job, which begins within a few seconds.", content: json(job, example) },
    },
    errors: [409],
    handle: async (_, asked, { jobs }) =>
      jsonResult(await jobs?.runNow(asked.names.name as string), { status: 202 }),
  },
];
