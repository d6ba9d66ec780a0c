/**
 * An instance of a service with jobs as a program: `instance.ts <folder of the configuration> <store> <start>`. It sends its port. Its parent
 * moves the clock of the jobs: each message is a Unix time in milliseconds, which the instance sends back.
 */
import { loadConfig } from "../../../../src/config.ts";
import { startServer } from "../../../../src/server.ts";
import { testClock } from "../../webhooks/http/clock.ts";

const [cwd = "", store = "", start] = process.argv.slice(2);
const clock = testClock(Number(start));
const config = await loadConfig({ cwd, flags: { store, port: "0", console: "false" }, env: {} });
process.on("message", (at: number) => {
  clock.moveTo(at);
  setImmediate(() => process.send?.(at));
});
process.on("disconnect", () => process.exit());
const { origin } = await startServer({ ...config, threads: 1 }, { code: { jobClock: clock } });
process.send?.(Number(new URL(origin).port));
