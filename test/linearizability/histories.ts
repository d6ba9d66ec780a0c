/** Records histories: what clients that use one resource at the same time over HTTP did, and what they learned. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { openConnection } from "../http/connection.ts";
import { pause } from "../until.ts";
import type { Call, Outcome, Recorded } from "./checker.ts";

/** A request of a client. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  content: unknown;
}

/** A response. */
export interface Received {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** The service that the clients use. */
export interface Target {
  port: number;
  /** Sends a request of the client with this number. */
  send(client: number, request: Sent): Promise<Received>;
}

/** The name of the collection of a history. It has ids of its own, so that the id of its resource is known before the create. */
export const collectionOf = (history: number): string => `histories${history}`;

/** The clients of each history. */
export const clients = 8;
const operationsPerClient = 4;

/** The next request of a client. `guarded` sends the version that it last saw in If-Match. */
interface Step {
  kind: "read" | "update" | "delete";
  guarded: boolean;
  /** When the client disconnects without waiting for the response; `undefined` if it waits. */
  cutAfterMs: number | undefined;
  pauseMs: number;
}

/** Most pauses are 0, so that operations overlap. Some operations come after the response to the create. */
const pauses = fc.constantFrom(0, 0, 0, 1, 2, 4);
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 45, arbitrary: fc.constant("read" as const) },
    { weight: 50, arbitrary: fc.constant("update" as const) },
    { weight: 5, arbitrary: fc.constant("delete" as const) },
  ),
  guarded: fc.boolean(),
  cutAfterMs: fc.oneof(
    { weight: 14, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(1, 4, 12) },
  ),
  pauseMs: pauses,
});
const steps = fc.array(step, { minLength: operationsPerClient, maxLength: operationsPerClient });
const plan = fc.array(steps, { minLength: clients - 1, maxLength: clients - 1 });

/** Records histories one after the other. `seed` decides the requests of the clients, but not their timing. */
export async function recordHistories(
  target: Target,
  { seed, histories }: { seed: number; histories: number },
): Promise<Recorded[][]> {
  const plans = fc.sample(plan, { seed, numRuns: histories });
  const recorded: Recorded[][] = [];
  for (const [n, one] of plans.entries())
    recorded.push(await record(target, `/api/v1/${collectionOf(n)}`, one));
  return recorded;
}

/** One client creates the resource. The others use it before and after the create. */
async function record(
  target: Target,
  collection: string,
  plans: readonly (readonly Step[])[],
): Promise<Recorded[]> {
  const history: Recorded[] = [];
  let moment = 0;
  let nextValue = 1;
  const perform = async (client: number, call: Call, cutAfterMs?: number) => {
    const calledAt = ++moment;
    const outcome = await (cutAfterMs === undefined
      ? send(target, client, { collection, call })
      : sendAndLeave(target, { collection, call }, cutAfterMs));
    const answeredAt = outcome.kind === "unknown" ? Infinity : ++moment;
    history.push({ client, call, outcome, calledAt, answeredAt });
    return outcome;
  };
  const runClient = async (client: number, steps: readonly Step[]) => {
    let seen = 1;
    for (const [n, { kind, guarded, cutAfterMs, pauseMs }] of steps.entries()) {
      // Half of the operations find the resource made, however slow the machine.
      if (n === operationsPerClient / 2) await creation;
      if (pauseMs > 0) await pause(pauseMs);
      const ifMatch = guarded ? { ifMatch: seen } : {};
      const call: Call =
        kind === "read"
          ? { kind }
          : kind === "delete"
            ? { kind, ...ifMatch }
            : { kind, value: nextValue++, ...ifMatch };
      const outcome = await perform(client, call, cutAfterMs);
      if (outcome.kind === "read" || outcome.kind === "written") seen = outcome.version;
    }
  };
  const creation = perform(0, { kind: "create", value: nextValue++ });
  await Promise.all([creation, ...plans.map((steps, n) => runClient(n + 1, steps))]);
  return history;
}

async function send(
  target: Target,
  client: number,
  { collection, call }: { collection: string; call: Call },
): Promise<Outcome> {
  return toOutcome(call, await target.send(client, toRequest(collection, call)));
}

/** Sends the whole request, and closes the connection without waiting for the response. */
async function sendAndLeave(
  { port }: Target,
  { collection, call }: { collection: string; call: Call },
  cutAfterMs: number,
): Promise<Outcome> {
  const { method, path, headers, content } = toRequest(collection, call);
  const body = content === undefined ? "" : JSON.stringify(content);
  const fields = Object.entries({
    Host: `127.0.0.1:${port}`,
    ...headers,
    ...(content === undefined
      ? {}
      : { "Content-Type": "application/json", "Content-Length": String(body.length) }),
  });
  const connection = await openConnection(port);
  connection.write(
    `${method} ${path} HTTP/1.1\r\n${fields.map((field) => `${field.join(": ")}\r\n`).join("")}\r\n${body}`,
  );
  await pause(cutAfterMs);
  connection.close();
  return { kind: "unknown" };
}

function toRequest(collection: string, call: Call): Sent {
  const path = `${collection}/1`;
  const ifMatch = "ifMatch" in call ? call.ifMatch : undefined;
  const headers: Record<string, string> = ifMatch === undefined ? {} : { "If-Match": `"${ifMatch}"` };
  if (call.kind === "create")
    return { method: "POST", path: collection, headers, content: { value: call.value } };
  if (call.kind === "update") return { method: "PUT", path, headers, content: { id: 1, value: call.value } };
  return { method: call.kind === "read" ? "GET" : "DELETE", path, headers, content: undefined };
}

function toOutcome(call: Call, answer: Received): Outcome {
  if (answer.status === 404) return { kind: "absent" };
  if (answer.status === 412) return { kind: "failed precondition" };
  const expected = { create: 201, read: 200, update: 200, delete: 205 }[call.kind];
  assert.equal(answer.status, expected, `${call.kind}: ${answer.text}`);
  if (call.kind === "delete") return { kind: "deleted" };
  const version = Number(/^"(\d+)"$/.exec(String(answer.headers.etag ?? ""))?.[1]);
  const { id, value } = JSON.parse(answer.text) as { id: number; value: number };
  assert.equal(id, 1);
  if (call.kind === "read") return { kind: "read", version, value };
  assert.equal(value, call.value, "a write is answered with what was written");
  return { kind: "written", version };
}

/** A history as text. */
export function show(history: readonly Recorded[]): string {
  const lines = history
    .toSorted((one, other) => one.calledAt - other.calledAt)
    .map(
      ({ client, call, outcome, calledAt, answeredAt }) =>
        `${calledAt}-${answeredAt} client ${client}: ${JSON.stringify(call)} -> ${JSON.stringify(outcome)}`,
    );
  return `\n${lines.join("\n")}`;
}
