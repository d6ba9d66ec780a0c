/** What the comparison covers, and what its requests ask for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { countRounds } from "../../bench/comparison/compare.ts";
import { grids, groupsOf } from "../../bench/comparison/grids.ts";
import { scenarioOf, scenarios } from "../../bench/comparison/scenarios.ts";
import { efforts } from "../../bench/harness/effort.ts";
import { plainSays } from "../../bench/opponents/own-program.ts";
import { durablePocketbase, pocketbase } from "../../bench/opponents/pocketbase.ts";
import { opponents } from "../../bench/opponents/table.ts";

const every = scenarios.map(({ name }) => name).sort();

for (const effort of ["usual", "thorough"] as const) {
  for (const asked of ["one", "all"] as const) {
    test(`a ${effort} run measures every scenario on Holdfast and PocketBase with ${asked} of the processors`, () => {
      const measured = grids[effort].filter(
        ({ bytes, connections, processors = "one", only }) =>
          bytes === 300 &&
          connections === 64 &&
          processors === asked &&
          [pocketbase, durablePocketbase].every(({ name }) => only?.includes(name) ?? true),
      );
      assert.deepEqual(measured.flatMap((grid) => grid.scenarios).sort(), every);
    });
  }
}

test("each grid names services that exist", () => {
  const known = opponents.map(({ name }) => name);
  for (const { only = [] } of Object.values(grids).flat())
    for (const name of only) assert.ok(known.includes(name), name);
});

test("grids share filled services only with equal articles and processors", () => {
  const grid = { bytes: 300, connections: 64, scenarios: ["read"] };
  const same = { ...grid, connections: 1 };
  const cold = { ...grid, resources: 100_000 };
  const wide = { ...grid, processors: "all" } as const;
  assert.deepEqual(groupsOf([grid, cold, wide, same]), [[grid, same], [cold], [wide]]);
});

test("constants are measured only beside the main tables", () => {
  const count = (grid: object) => {
    const asked = { bytes: 300, connections: 64, scenarios: ["read"], ...grid };
    return countRounds({ effort: efforts.usual, opponents: opponents.slice(0, 3), grids: [asked] });
  };
  const { rounds } = efforts.usual;
  assert.equal(count({}), (3 + 2) * rounds);
  for (const other of [{ processors: "all" }, { connections: 1 }, { bytes: 5_000 }])
    assert.equal(count(other), 3 * rounds, JSON.stringify(other));
});

test("hot ids are few and the same in each sending, cold ids are all different", async () => {
  const ids = Array.from({ length: 100_000 }, (_, n) => `id-${n}`);
  const setting = { says: plainSays, origin: "", ids, doomed: [], bytes: 300 };
  const hot = new Set(await scenarioOf("read").requests(setting));
  const cold = await scenarioOf("cold").requests(setting);
  assert.equal(hot.size, 5_000);
  assert.equal(new Set(cold).size, ids.length);
});
