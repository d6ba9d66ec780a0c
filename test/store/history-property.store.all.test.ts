/** Random writes: the store returns each version and each earlier state correctly, as far as it keeps changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openStore } from "../../src/store/open.ts";
import { logStart } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { Stored } from "../../src/store/port/stored.ts";
import { makeFolder } from "../folder.ts";
import { seed } from "../seed.ts";
import { until } from "../until.ts";
import { declaration, textOf } from "./contract/fixture.ts";

/** One change in the model. */
interface ModelChange {
  sequence: number;
  version: number;
  kind: "created" | "updated" | "deleted";
  at: number;
  text: string | undefined;
}

type Step =
  | { kind: "write"; id: string; n: number; pause: number }
  | { kind: "delete"; id: string; pause: number }
  | { kind: "restore"; id: string; version: number; pause: number }
  | { kind: "reopen" };

const ids = ["1", "2", "3", "44"];
const id = fc.constantFrom(...ids);
const pause = fc.nat(2);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("write" as const), id, n: fc.nat(9), pause }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete" as const), id, pause }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("restore" as const), id, version: fc.nat(12), pause }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "reopen" as const }) },
  ),
  { minLength: 1, maxLength: 60 },
);

const begin = Date.UTC(2020, 0, 1);

/** Some resources are large enough for the log to keep differences. */
function fieldsOf(n: number, of: number): Record<string, unknown> {
  return n < 3 ? { n, of } : { n, pad: "é冬x".repeat(3_000 + (n % 2)), of };
}

/** A store and what should be in it. */
class Twin {
  store: Store;
  readonly #open: () => Promise<Store>;
  readonly model = new Map<string, ModelChange[]>(ids.map((each) => [each, []]));
  sequence = 0;
  now = begin;

  constructor(store: Store, open: () => Promise<Store>) {
    this.store = store;
    this.#open = open;
  }

  async take(step: Step): Promise<void> {
    if (step.kind === "reopen") {
      await this.store.close();
      this.store = await this.#open();
      return;
    }
    this.now += step.pause;
    const past = this.model.get(step.id) as ModelChange[];
    const last = past.at(-1);
    const exists = last !== undefined && last.kind !== "deleted";
    if (step.kind === "delete") {
      if (exists) await this.#commit(step.id, { exists, last, next: undefined });
      return;
    }
    const found = step.kind === "restore" ? past.find(({ version }) => version === step.version) : undefined;
    const next = step.kind === "restore" ? found?.text : textOf(step.id, fieldsOf(step.n, past.length));
    if (next !== undefined) await this.#commit(step.id, { exists, last, next });
  }

  async #commit(
    each: string,
    { exists, last, next }: { exists: boolean; last: ModelChange | undefined; next: string | undefined },
  ): Promise<void> {
    const key = { collection: "numbers", id: each };
    const version = (last?.version ?? 0) + 1;
    const gone = last === undefined ? {} : { after: last.version };
    const change = exists
      ? { key, expect: version - 1, next }
      : { key, expect: "absent" as const, next, ...gone };
    const [made] = await this.store.commit({ changes: [change], at: this.now });
    this.sequence++;
    assert.deepEqual(made, { version, sequence: this.sequence });
    const kind = next === undefined ? "deleted" : exists ? "updated" : "created";
    this.model.get(each)?.push({ sequence: this.sequence, version, kind, at: this.now, text: next });
  }

  /** Compares everything of which the change is among the last ones. */
  async compare(kept: number): Promise<void> {
    for (const [each, past] of this.model) {
      const key = { collection: "numbers", id: each };
      const left = past.filter(({ sequence }) => sequence > this.sequence - kept);
      const listed = await this.store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1_000 });
      const expected = left.map(({ text: _, ...rest }) => ({
        ...rest,
        principal: undefined,
        group: undefined,
      }));
      assert.deepEqual(listed, expected.toReversed());
      const last = past.at(-1);
      for (let version = 0; version <= past.length + 1; version++) {
        const then = past.find((one) => one.version === version);
        const isKept = then !== undefined && (left.includes(then) || then === last);
        assert.deepEqual(await this.store.version(key, version), isKept ? toStored(each, then) : undefined);
      }
      for (let at = begin - 1; at <= this.now + 1; at++) {
        const then = past.findLast((one) => one.at <= at);
        const isKept = then !== undefined && (left.includes(then) || then === last);
        assert.deepEqual(await this.store.versionAt(key, at), isKept ? toStored(each, then) : undefined);
      }
      assert.deepEqual(await this.store.read(key), last === undefined ? undefined : toStored(each, last));
    }
  }
}

function toStored(id: string, { version, at, text }: ModelChange): Stored | undefined {
  return text === undefined ? undefined : { id, version, text, updatedAt: at };
}

async function run(all: Step[], kept: number | undefined): Promise<void> {
  const folder = makeFolder();
  const path = `${folder}/store.db`;
  const history = kept === undefined ? "forever" : { keepDays: 1, keepChanges: kept };
  // Swept only at the end, when the remaining changes are known.
  const open = (sweeps: boolean) =>
    openStore({ kind: "sqlite", path }, sweeps ? { history, sweepMs: 2 } : { history: "forever" });
  const twin = new Twin(await open(false), () => open(false));
  try {
    await twin.store.migrate([declaration("numbers", { idKind: "integer" })]);
    for (const step of all) await twin.take(step);
    await twin.compare(Number.POSITIVE_INFINITY);
    if (kept === undefined) return;
    await twin.store.close();
    twin.store = await open(true);
    const count = async () => (await twin.store.changesAfter("numbers", logStart, 1_000)).changes.length;
    await until("the sweep is done", async () => (await count()) <= Math.min(kept, twin.sequence));
    await twin.compare(kept);
  } finally {
    await twin.store.close();
  }
}

test(`each version and each moment comes back as it was, also after restarts and sweeps (HOLDFAST_TEST_SEED=${seed})`, async () => {
  const keeps = fc.option(fc.nat(30), { nil: undefined });
  await fc.assert(fc.asyncProperty(steps, keeps, run), { numRuns: 25, seed });
});
