/**
 * Checks that short histories are linearizable. Each history is of one resource that eight clients use at the same time over
 * HTTP. Some clients disconnect early, so that they never learn the outcome. HOLDFAST_SEED repeats the requests of the clients,
 * but not their timing.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { type Answer, jsonType, type Service, startService } from "../http/service.ts";
import { type Call, linearize, type Outcome, type Recorded } from "./checker.ts";

const histories = 150;
const clients = 8;
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

const recorded: Recorded[][] = [];
let service: Service;
before(async () => {
  // Each history has its own collection, so that the id of its resource is known before the create.
  const names = Array.from({ length: histories }, (_, n) => `histories${n}`);
  service = await startService({
    collections: Object.fromEntries(names.map((name) => [name, { id: "integer" as const }])),
    probe: { standstillMs: Number.POSITIVE_INFINITY }, // plans are made and histories checked in this thread
  });
  const seed = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`HOLDFAST_SEED=${seed}, ${histories} histories`);
  const plans = fc.sample(plan, { seed, numRuns: histories });
  for (const [n, one] of plans.entries()) recorded.push(await record(`/api/v1/histories${n}`, one));
});
after(() => service.stop());

describe("concurrent operations on one resource", () => {
  test("are linearizable, whatever their order", () => {
    for (const history of recorded) assert.ok(linearize(history), show(history));
  });

  test("were of every kind and truly concurrent, so that the judgement says something", () => {
    const all = recorded.flat();
    const count = (matches: (operation: Recorded) => boolean) => all.filter(matches).length;
    for (const kind of ["read", "written", "deleted", "absent", "failed precondition", "unknown"])
      assert.ok(count(({ outcome }) => outcome.kind === kind) >= 20, `few operations came to: ${kind}`);
    const cutButRead = recorded.flatMap((history) => history.filter((one) => isCutButRead(one, history)));
    assert.ok(cutButRead.length >= 1, "no update of unknown outcome was seen to happen");
    const overlapping = recorded.filter((history) => history.some((one) => overlaps(one, history)));
    assert.ok(overlapping.length > histories / 4, `only ${overlapping.length} histories had writes overlap`);
  });

  test("are found out when one read is given an older value", () => {
    const stale = recorded.flatMap(withStaleRead);
    assert.ok(stale.length >= 20, `only ${stale.length} reads could be made stale`);
    for (const history of stale) assert.equal(linearize(history), undefined, show(history));
  });

  test("are found out when two updates of the same version are both told that they succeeded", () => {
    const lost = recorded.flatMap(withLostUpdate);
    assert.ok(lost.length >= 20, `only ${lost.length} updates could be lost`);
    for (const history of lost) assert.equal(linearize(history), undefined, show(history));
  });
});

describe("an operation whose outcome is unknown", () => {
  const created = operation({ kind: "create", value: 1 }, { kind: "written", version: 1 }, [1, 2]);
  const cut = operation({ kind: "update", value: 2 }, { kind: "unknown" }, [3, Infinity]);
  const read = (value: number, moments: [number, number]) =>
    operation({ kind: "read" }, { kind: "read", version: value, value }, moments);

  test("may never have happened", () => {
    assert.ok(linearize([created, cut, read(1, [4, 5])]));
  });
  test("may have happened, at once or later", () => {
    assert.ok(linearize([created, cut, read(2, [4, 5])]));
    assert.ok(linearize([created, cut, read(1, [4, 5]), read(2, [6, 7])]));
  });
  test("has not happened before it was called, nor is it undone", () => {
    assert.equal(linearize([created, read(2, [2.1, 2.2]), cut]), undefined);
    assert.equal(linearize([created, cut, read(2, [4, 5]), read(1, [6, 7])]), undefined);
  });
});

function operation(call: Call, outcome: Outcome, [calledAt, answeredAt]: [number, number]): Recorded {
  return { client: 0, call, outcome, calledAt, answeredAt };
}

/** One client creates the resource. The others use it before and after the create. */
async function record(collection: string, plans: readonly (readonly Step[])[]): Promise<Recorded[]> {
  const history: Recorded[] = [];
  let moment = 0;
  let nextValue = 1;
  const perform = async (client: number, call: Call, cutAfterMs?: number) => {
    const calledAt = ++moment;
    const outcome = await (cutAfterMs === undefined
      ? send(collection, call)
      : sendAndLeave(collection, call, cutAfterMs));
    const answeredAt = outcome.kind === "unknown" ? Infinity : ++moment;
    history.push({ client, call, outcome, calledAt, answeredAt });
    return outcome;
  };
  const runClient = async (client: number, steps: readonly Step[]) => {
    let seen = 1;
    for (const [n, { kind, guarded, cutAfterMs, pauseMs }] of steps.entries()) {
      // Half of the operations find the resource made, however slow the machine.
      if (n === operationsPerClient / 2) await creation;
      if (pauseMs > 0) await sleep(pauseMs);
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

async function send(collection: string, call: Call): Promise<Outcome> {
  return toOutcome(call, await service.send(toRequest(collection, call)));
}

/** Sends the whole request, and closes the connection without waiting for the response. */
async function sendAndLeave(collection: string, call: Call, cutAfterMs: number): Promise<Outcome> {
  const { method, path, headers, content } = toRequest(collection, call);
  const body = content === undefined ? "" : JSON.stringify(content);
  const fields = Object.entries({
    Host: `127.0.0.1:${service.port}`,
    ...headers,
    ...(content === undefined ? {} : { "Content-Type": jsonType, "Content-Length": String(body.length) }),
  });
  const connection = await service.connect();
  connection.write(
    `${method} ${path} HTTP/1.1\r\n${fields.map((field) => `${field.join(": ")}\r\n`).join("")}\r\n${body}`,
  );
  await sleep(cutAfterMs);
  connection.close();
  return { kind: "unknown" };
}

function toRequest(collection: string, call: Call) {
  const path = `${collection}/1`;
  const ifMatch = "ifMatch" in call ? call.ifMatch : undefined;
  const headers: Record<string, string> = ifMatch === undefined ? {} : { "If-Match": `"${ifMatch}"` };
  if (call.kind === "create")
    return { method: "POST", path: collection, headers, content: { value: call.value } };
  if (call.kind === "update") return { method: "PUT", path, headers, content: { id: 1, value: call.value } };
  return { method: call.kind === "read" ? "GET" : "DELETE", path, headers, content: undefined };
}

function toOutcome(call: Call, answer: Answer): Outcome {
  if (answer.status === 404) return { kind: "absent" };
  if (answer.status === 412) return { kind: "failed precondition" };
  const expected = { create: 201, read: 200, update: 200, delete: 205 }[call.kind];
  assert.equal(answer.status, expected, `${answer.method}: ${answer.text}`);
  if (call.kind === "delete") return { kind: "deleted" };
  const version = Number(/^"(\d+)"$/.exec(answer.headers.etag ?? "")?.[1]);
  const { id, value } = answer.json as { id: number; value: number };
  assert.equal(id, 1);
  if (call.kind === "read") return { kind: "read", version, value };
  assert.equal(value, call.value, "a write is answered with what was written");
  return { kind: "written", version };
}

/** The history with a stale read: it returns a version that was replaced before the read started. */
function withStaleRead(history: readonly Recorded[]): Recorded[][] {
  for (const read of history) {
    if (read.outcome.kind !== "read") continue;
    const { version } = read.outcome;
    const isAcknowledged = history.some(
      ({ outcome, answeredAt }) =>
        outcome.kind === "written" && outcome.version >= version && answeredAt < read.calledAt,
    );
    const older = history.find(
      ({ outcome }) => outcome.kind === "written" && outcome.version === version - 1,
    )?.call;
    if (!isAcknowledged || older === undefined || !("value" in older)) continue;
    return [replaced(history, read, { kind: "read", version: version - 1, value: older.value })];
  }
  return [];
}

/** The history with a lost update: a refused update succeeds after another update of the same version. */
function withLostUpdate(history: readonly Recorded[]): Recorded[][] {
  for (const refused of history) {
    const { call, outcome } = refused;
    if (call.kind !== "update" || outcome.kind !== "failed precondition" || call.ifMatch === undefined)
      continue;
    const version = call.ifMatch + 1;
    const wasTaken = history.some((other) => isVersion(other.outcome, version));
    if (wasTaken) return [replaced(history, refused, { kind: "written", version })];
  }
  return [];
}

function isVersion(outcome: Outcome, version: number): boolean {
  return outcome.kind === "written" && outcome.version === version;
}

function replaced(history: readonly Recorded[], one: Recorded, outcome: Outcome): Recorded[] {
  return history.map((other) => (other === one ? { ...one, outcome } : other));
}

/** Whether a write overlaps with another write whose outcome is also known. */
function overlaps(one: Recorded, history: readonly Recorded[]): boolean {
  if (one.outcome.kind !== "written") return false;
  return history.some(
    (other) =>
      other !== one &&
      other.outcome.kind === "written" &&
      other.calledAt < one.answeredAt &&
      one.calledAt < other.answeredAt,
  );
}

/** Whether an update happened although its client never learned it. */
function isCutButRead({ call, outcome }: Recorded, history: readonly Recorded[]): boolean {
  if (outcome.kind !== "unknown" || call.kind !== "update") return false;
  return history.some((other) => other.outcome.kind === "read" && other.outcome.value === call.value);
}

function show(history: readonly Recorded[]): string {
  const lines = history
    .toSorted((one, other) => one.calledAt - other.calledAt)
    .map(
      ({ client, call, outcome, calledAt, answeredAt }) =>
        `${calledAt}-${answeredAt} client ${client}: ${JSON.stringify(call)} -> ${JSON.stringify(outcome)}`,
    );
  return `\n${lines.join("\n")}`;
}
