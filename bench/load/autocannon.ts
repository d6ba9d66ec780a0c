/**
 * Makes load with autocannon, if wrk is not installed.
 *
 * As a program it reads a `LoadPlan` as JSON from the file in its argument and prints a `LoadResult`.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type LoadPlan, type LoadResult, serial } from "./plan.ts";
import { readRequest } from "./requests.ts";

/** The part of autocannon that is used here. It has no types. */
type Autocannon = (options: {
  url: string;
  connections: number;
  duration: number;
  requests?: readonly object[];
  setupClient?: (client: { setRequests(requests: readonly object[]): void }) => void;
}) => Promise<{
  requests: { total: number };
  duration: number;
  latency: { p50: number; p99: number };
  errors: number;
  statusCodeStats: Record<string, { count: number }>;
}>;

/** Runs a plan in this process. */
export async function runAutocannon(plan: LoadPlan): Promise<LoadResult> {
  const autocannon = createRequire(`${process.cwd()}/bench/opponents/package.json`)(
    "autocannon",
  ) as Autocannon;
  const requests = plan.requests.map(toRequest);
  // Each client builds its requests before it begins, so a part of them is enough for one.
  const step = Math.max(1, Math.floor(requests.length / plan.connections));
  const run = (ms: number) => {
    let first = 0;
    return autocannon({
      url: `http://127.0.0.1:${plan.port}`,
      connections: plan.connections,
      duration: ms / 1000,
      setupClient(client) {
        client.setRequests(requests.slice(first, first + step));
        first = (first + step) % requests.length;
      },
    });
  };
  if (plan.warmUpMs > 0) await run(plan.warmUpMs);
  const said = await run(plan.durationMs);
  const counts = Object.entries(said.statusCodeStats).map(([status, { count }]) => [status, count] as const);
  return {
    perSecond: said.requests.total / said.duration,
    answers: said.requests.total,
    p50: said.latency.p50,
    p99: said.latency.p99,
    statuses: { ...Object.fromEntries(counts), ...(said.errors > 0 ? { failed: said.errors } : {}) },
  };
}

let number = Math.floor(Math.random() * 90_000_000);

function toRequest(text: string): object {
  const { "Content-Length": _, Host: __, ...headers } = readRequest(text).headers;
  const { method, path, body } = readRequest(text);
  const request = { method, path, headers, ...(body === "" ? {} : { body }) };
  const parts = JSON.stringify({ headers, ...(body === "" ? {} : { body }) });
  if (!parts.includes(serial)) return request;
  // All places of one request get the same number.
  const setupRequest = (one: object) =>
    Object.assign(one, JSON.parse(parts.replaceAll(serial, String(++number).padStart(8, "0"))));
  return { ...request, setupRequest };
}

if (import.meta.main) {
  const plan = JSON.parse(readFileSync(process.argv[2] as string, "utf8")) as LoadPlan;
  process.stdout.write(JSON.stringify(await runAutocannon(plan)));
}
