/**
 * Opens the given store, writes with several callers at once, and prints the outcome as JSON:
 * which resources were acknowledged, which problems there were, how the store feels, and whether it said that it failed.
 */
import type { Problem } from "../../../src/errors.ts";
import { openStore } from "../../../src/store/open.ts";
import { declaration } from "../contract/fixture.ts";

const [path = "", mode] = process.argv.slice(2);
const callers = 4;
const writesEach = 15;

const failures: string[] = [];
const store = await openStore(
  { kind: "sqlite", path },
  {
    onFailure: (reason) => failures.push(reason),
    ...(mode === "NORMAL" && { synchronous: mode }),
    groupCommit: mode !== "ONE BY ONE",
  },
);
await store.migrate([declaration("topics")]);

const acknowledged: string[] = [];
const problems: string[] = [];

async function write(id: string): Promise<void> {
  try {
    const next = JSON.stringify({ id, marker: `marker-${id}-` });
    await store.commit({ changes: [{ key: { collection: "topics", id }, expect: "absent", next }], at: 1 });
    // On its own line at once: the trace shows when.
    process.stdout.write(`acknowledged-${id}-\n`);
    acknowledged.push(id);
  } catch (error) {
    problems.push((error as Problem).code);
  }
}

await Promise.all(
  Array.from({ length: callers }, async (_, caller) => {
    for (let n = 0; n < writesEach; n++) await write(`${caller}x${n}`);
  }),
);
process.stdout.write(`${JSON.stringify({ acknowledged, problems, health: store.health(), failures })}\n`);
await store.close();
