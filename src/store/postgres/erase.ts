/** Removes a resource and all that is known of its past. */
import { Problem } from "../../errors.ts";
import type { Erased } from "../change-log.ts";
import type { Commit } from "../commit.ts";
import { tracesOf } from "../receipts.ts";
import type { Catalogue, NumberedCollection } from "./catalogue.ts";
import { type CommitsParts, lockRelated } from "./commits.ts";
import { flush } from "./flush.ts";
import { type Fate, judge } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { Sight } from "./sight.ts";
import * as statements from "./statements.ts";
import { changesTable, refersTable, resourcesTable, wordsTable } from "./tables.ts";
import { beginnings, type Transaction, transact } from "./transaction.ts";

/** How many of those that keep a resource from being erased are named. */
const shownReferrers = { resources: 5, text: 1024 * 1024 };

/** Erases a resource; afterwards the database is asked to give up the room of what was there. */
export async function erase(
  parts: CommitsParts,
  collection: NumberedCollection,
  id: string,
): Promise<Erased> {
  const { connections, groups } = parts;
  await groups.ensure(1);
  const erased = await transact(connections, beginnings.longWrite, (transaction) =>
    eraseWithin(transaction, parts, { collection, id }),
  );
  const { number, search } = collection;
  const tables = [resourcesTable, changesTable, refersTable, ...(search.length > 0 ? [wordsTable] : [])];
  for (const table of tables) await connections.run({ sql: `vacuum ${table(number)}` });
  await connections.run({ sql: "vacuum holdfast_receipts" });
  return erased;
}

interface Target {
  collection: NumberedCollection;
  id: string;
}

async function eraseWithin(transaction: Transaction, parts: CommitsParts, target: Target): Promise<Erased> {
  const { collection, id } = target;
  const catalogue = parts.catalogue();
  const ledger = new Ledger();
  const sight = new Sight(transaction, catalogue, ledger);
  const commit = commitOf(target, 0);
  await lockRelated(transaction, catalogue, [commit]);
  await sight.prepare([commit]);
  const before = ledger.find(collection, id)?.before;
  const court = { catalogue, ledger, sight, groups: parts.groups };
  const fate = before && (await judge(court, commitOf(target, before.version)));
  if (fate !== undefined && "refusal" in fate) throw await named(fate, transaction, { catalogue, target });
  const { last } = await flush(ledger, { ...parts, transaction });
  for (const statement of last) await transaction.run(statement);
  const { count } = await transaction.run(statements.deleteChangesOf(collection.number, id));
  const traces = tracesOf(id);
  await transaction.run(statements.deleteReceiptsOf(traces));
  await transaction.run(statements.blankReceiptsOf(traces));
  // The delete itself was logged too, with those that follow it.
  const changes = before !== undefined && parts.isLogged ? count - 1 : count;
  return { resource: before !== undefined, changes, followed: fate?.followed ?? [] };
}

function commitOf({ collection, id }: Target, version: number): Commit {
  const key = { collection: collection.name, id };
  return { changes: [{ key, expect: version, next: undefined }], at: Date.now() };
}

/** The refusal, with some of those that refer. */
async function named(
  { refusal }: Fate & { refusal: Problem },
  transaction: Transaction,
  { catalogue, target: { collection, id } }: { catalogue: Catalogue; target: Target },
): Promise<Problem> {
  if (refusal.code !== "REFERENCED") return refusal;
  const sight = new Sight(transaction, catalogue, new Ledger());
  const names = new Set<string>();
  for (const referrer of catalogue.referrersTo(collection.name)) {
    for (const [entry] of await sight.referring(referrer, [id], shownReferrers))
      names.add(`${referrer.from.name}/${entry.id}`);
  }
  if (names.size === 0) return refusal;
  const shown = [...names].slice(0, shownReferrers.resources).join(", ");
  return new Problem("REFERENCED", `${refusal.message} Among them: ${shown}.`);
}
