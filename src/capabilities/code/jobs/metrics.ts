/** The metrics of jobs. */
import type { Family, MetricsSource } from "../../../observe/metrics-source.ts";
import type { ServiceJobs } from "./jobs.ts";

/** Every metric, by name. */
export const jobFamilies = {
  holdfast_job_last_success_timestamp_seconds: {
    type: "gauge",
    across: "first",
    labels: ["name"],
    help: "When each job last succeeded, as Unix time; absent before its first success",
  },
} as const satisfies Record<string, Family>;

/** What a monitor reads of functions, and of jobs if there are any. */
export function withJobs(
  functions: MetricsSource,
  jobs: Pick<ServiceJobs, "successes"> | undefined,
): MetricsSource {
  if (jobs === undefined) return functions;
  return {
    name: functions.name,
    families: { ...functions.families, ...jobFamilies },
    counted: () => functions.counted(),
    stored: async () => {
      const successes = [...(await jobs.successes())];
      return () => ({
        holdfast_job_last_success_timestamp_seconds: successes.map(([name, value]) => ({
          labels: { name },
          value,
        })),
      });
    },
  };
}
