/** Random clients that use a store at the same time: there must be an order that explains what each of them got. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CollectionRecord } from "../../../src/store/port/record.ts";
import { seed } from "../../seed.ts";
import type { OpenFixture } from "./fixture.ts";
import { bringAbout, type Recorded, runClients } from "./model/clients.ts";
import { requireState } from "./model/compare.ts";
import { createRecord, evidenceOf, requireOrder } from "./model/judgement.ts";
import { emptyState, type State } from "./model/model.ts";
import { begin, declarations, everyOutcome, type Plan, phaseMs, plans } from "./model/plans.ts";

/** A short form. `npm run prove models` repeats it 500 times. */
const runs = Number(process.env.HOLDFAST_TEST_RUNS ?? 5);

/** The possible outcomes of a commit. The test must see all of them. */
const outcomes = [
  "committed",
  "PRECONDITION_FAILED",
  "UNIQUE_VIOLATION",
  "REFERENCE_NOT_FOUND",
  "REFERENCED",
  "IDEMPOTENCY_KEY_REUSED",
];

/** Each plan is a phase: all its clients end before the store is opened again. */
async function run(
  open: OpenFixture,
  records: readonly CollectionRecord[],
  phases: readonly Plan[],
): Promise<Recorded[]> {
  const fixture = await open();
  const all: Recorded[] = [];
  try {
    let { store } = fixture;
    await store.migrate(records);
    let state: State = emptyState;
    for (const [phase, plan] of [[], ...phases].entries()) {
      const at = begin + phase * phaseMs;
      const { history, note } = createRecord();
      const clients = { at, note, name: `p${phase}` };
      if (phase === 0) await bringAbout(store, clients);
      await runClients(store, plan, clients);
      if (phase % 2 === 0) store = await fixture.reopen();
      const evidence = await evidenceOf(store, records, at);
      state = requireOrder(records, history, { initial: state, evidence });
      await requireState(store, records, { state, evidence });
      all.push(...history);
    }
  } finally {
    await fixture.cleanup();
  }
  return all;
}

export function interleavingContract(open: OpenFixture): void {
  test(`what random clients get at the same time is what they would get one after the other (HOLDFAST_TEST_SEED=${seed})`, async (t) => {
    const counts = new Map<string, number>();
    const property = fc.asyncProperty(
      declarations,
      fc.array(plans({ min: 1, max: 16 }, 16), { minLength: 1, maxLength: 3, size: "max" }),
      async (records, phases) => {
        for (const { outcome } of await run(open, records, phases)) {
          const name = outcome.kind === "refused" ? outcome.code : outcome.kind;
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
      },
    );
    const [records, plan] = everyOutcome;
    // No smaller plan would be found: it is the interleaving that fails, and that is another one each time.
    const how = { numRuns: runs + 1, seed, endOnFailure: true, reporter: requireSuccess };
    await fc.assert(property, { ...how, examples: [[records, [plan]]] });
    t.diagnostic([...counts].map(([name, count]) => `${count} ${name}`).join(", "));
    for (const name of outcomes) assert.ok((counts.get(name) ?? 0) > 0, `no commit came to ${name}`);
  });
}

/** The history that failed says more than the plan that it came of. */
function requireSuccess<T>({ failed, numRuns, errorInstance }: fc.RunDetails<T>): void {
  if (failed) throw new Error(`run ${numRuns} of HOLDFAST_TEST_SEED=${seed}`, { cause: errorInstance });
}
