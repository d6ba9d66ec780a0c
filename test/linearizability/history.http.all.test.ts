/**
 * Checks that short histories are linearizable. Each history is of one resource that eight clients use at the same time over
 * HTTP. Some clients disconnect early, so that they never learn the outcome. HOLDFAST_TEST_SEED repeats the requests of the clients,
 * but not their timing.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Service, startService } from "../http/service.ts";
import { seed } from "../seed.ts";
import { type Call, linearize, type Outcome, type Recorded } from "./checker.ts";
import { collectionOf, recordHistories, type Sent, show } from "./histories.ts";

const histories = 150;
const recorded: Recorded[][] = [];
let service: Service;
before(async () => {
  // Each history has its own collection, so that the id of its resource is known before the create.
  const names = Array.from({ length: histories }, (_, n) => collectionOf(n));
  service = await startService({
    collections: Object.fromEntries(names.map((name) => [name, { id: "integer" as const }])),
  });
  console.log(`HOLDFAST_TEST_SEED=${seed}, ${histories} histories`);
  const target = { send: (_client: number, request: Sent) => service.send(request), port: service.port };
  recorded.push(...(await recordHistories(target, { seed, histories })));
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
