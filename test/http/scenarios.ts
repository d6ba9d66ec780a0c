/** Runs tables of scenarios: the state before, one request, and its whole response. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { check, type Expected } from "./check.ts";
import type { Request, Service } from "./service.ts";

/** One row of a table. `<id>` anywhere becomes the id of the resource in `given`. */
export interface Scenario extends Request {
  name: string;
  /** Attributes of a resource that is created in `topics` first. */
  given?: Record<string, unknown>;
  status: number;
  responseHeaders?: Expected["headers"];
  json?: unknown;
  problem?: Expected["problem"];
  violations?: Expected["violations"];
  /** Headers that the response must not have. */
  absent?: readonly string[];
  /** Whether the resource in `given` must still have its first version. */
  unchanged?: boolean;
}

/** Declares one test for each scenario. `service` is called when the test runs. */
export function runScenarios(service: () => Service, scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) test(scenario.name, () => runScenario(service(), scenario));
}

async function runScenario(service: Service, scenario: Scenario): Promise<void> {
  const made = scenario.given === undefined ? undefined : await service.create("topics", scenario.given);
  const filled = fill(scenario, made?.id ?? "<id>");
  const absent = Object.fromEntries((filled.absent ?? []).map((name) => [name, undefined]));
  const answer = await service.send(toRequest(filled));
  const { status, json, problem, violations } = filled;
  check(answer, {
    status,
    headers: { ...filled.responseHeaders, ...absent },
    json,
    ...(problem === undefined ? {} : { problem }),
    ...(violations === undefined ? {} : { violations }),
  });
  if (!scenario.unchanged || made === undefined) return;
  const after = await service.send({ path: made.path });
  assert.equal(after.headers.etag, '"1"');
  assert.deepEqual(after.json, made.body);
}

function toRequest({ method, path, headers, body, content }: Scenario): Request {
  return {
    path,
    ...(method === undefined ? {} : { method }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(content === undefined ? {} : { content }),
  };
}

function fill<T>(value: T, id: string): T;
function fill(value: unknown, id: string): unknown {
  if (typeof value === "string") return value.replaceAll("<id>", id);
  if (Array.isArray(value)) return value.map((item) => fill(item, id));
  if (value === null || typeof value !== "object" || value instanceof RegExp || value instanceof Uint8Array)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, id)]));
}
