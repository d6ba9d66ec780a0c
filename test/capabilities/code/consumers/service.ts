/**
 * The service as a program whose consumers have a fast clock: `service.ts <store> <start> <folder>`. The folder has the configuration. A second
 * lasts 10 ms, counted from `start` (Unix time in milliseconds), so that all services of one test agree.
 */
import { systemClock } from "../../../../src/clock.ts";
import { loadConfig } from "../../../../src/config.ts";
import { startServer } from "../../../../src/server.ts";
import { machineTime } from "../../../until.ts";

const speed = 100;
const [store = "", start, cwd = ""] = process.argv.slice(2);
const config = await loadConfig({ flags: { store, port: "0" }, env: {}, cwd });
const now = () => Number(start) + (machineTime() - Number(start)) * speed;
const { until } = systemClock(machineTime);
const clock = {
  now,
  until: (at: number, signal: AbortSignal) => until(machineTime() + Math.max(0, at - now()) / speed, signal),
};
const { origin } = await startServer({ ...config, threads: 1 }, { code: { clock } });
process.stdout.write(`listens on ${origin}\n`);
