/** Random clients whose process is killed: the store has every acknowledged commit, and no part of any other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seed } from "../../seed.ts";
import type { OpenFixture } from "./fixture.ts";
import { bringAbout, type Recorded } from "./model/clients.ts";
import { requireState } from "./model/compare.ts";
import { createRecord, evidenceOf, requireOrder } from "./model/judgement.ts";
import { live } from "./model/killed.ts";
import { emptyState } from "./model/model.ts";
import { begin, declarations, phaseMs } from "./model/plans.ts";

/** A short form. `npm run prove models` repeats it 200 times. */
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 4);

const maxLines = 1_500;
const life = fc.record({ seed: fc.nat(), lines: fc.integer({ min: 20, max: maxLines }) });

/** For stores that other processes can open by their address. */
export function killContract(open: OpenFixture): void {
  const [records = []] = fc.sample(declarations, { seed, numRuns: 1 });
  // One is long, so that something is written even if all others are killed soon after their start.
  const lives = fc
    .sample(life, { seed, numRuns: kills })
    .map((each, n) => (n === 0 ? { ...each, lines: maxLines } : each));

  test(`killed ${kills} times under random clients, a store is what some order of all they did would make of it (HOLDFAST_TEST_SEED=${seed})`, async (t) => {
    const fixture = await open();
    const { address } = fixture;
    assert.ok(address, "the fixture tells where its store is");
    const all: Recorded[] = [];
    let killed = 0;
    try {
      let { store } = fixture;
      await store.migrate(records);
      let state = emptyState;
      for (const [n, one] of [undefined, ...lives].entries()) {
        const at = begin + n * phaseMs;
        const { history, note } = createRecord();
        if (one === undefined) await bringAbout(store, { at, note, name: "first" });
        else {
          await store.close();
          if (await live({ ...one, address, at, name: `life${n}` }, note)) killed++;
          store = await fixture.reopen();
        }
        const evidence = await evidenceOf(store, records, at);
        state = requireOrder(records, history, { initial: state, evidence });
        await requireState(store, records, { state, evidence });
        all.push(...history);
      }
    } finally {
      await fixture.cleanup();
    }
    t.diagnostic(`${killed} killed; ${summary(all)}`);
    assert.ok(killed > kills / 2, "hardly any process was killed");
    const committed = all.filter(({ outcome }) => outcome.kind === "committed").length;
    assert.ok(committed > kills * 5, "the clients hardly wrote anything");
  });
}

function summary(history: readonly Recorded[]): string {
  const commits = history.filter(({ call }) => call.kind === "commit");
  const kinds = Map.groupBy(commits, ({ outcome }) => outcome.kind);
  return [...kinds].map(([kind, { length }]) => `${length} ${kind}`).join(", ");
}
