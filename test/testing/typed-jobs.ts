/** The types of jobs in a test. `npm run types` checks this file; nothing runs it. */
import { defineConfig } from "../../src/index.ts";
import { start } from "../../src/testing.ts";

const config = defineConfig({
  jobs: {
    digest: { cron: "0 7 * * 1", run: ({ due }) => void due.getTime() },
    // @ts-expect-error No option has this name.
    other: { cron: "0 7 * * 1", catchup: true, run: () => {} },
  },
});

export async function run(): Promise<void> {
  const service = await start(config);
  await service.runJob("digest", new Date(0));
  // @ts-expect-error The configuration has no such job.
  await service.runJob("digset");
  const inline = await start({ jobs: { daily: { cron: "0 7 * * *", run: () => {} } } });
  await inline.runJob("daily");
  // @ts-expect-error The configuration has no such job.
  await inline.runJob("weekly");
  const unknown = await start(config as object);
  await unknown.runJob("any");
}
