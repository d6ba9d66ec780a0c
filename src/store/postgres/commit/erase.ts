/** Erases a resource: removes it with its history. */

import { erasedName } from "../../core/commits/deleted.ts";
import { erasedOf, judgeErasure } from "../../core/commits/erasure.ts";
import { problemOf } from "../../core/commits/refusals.ts";
import type { Judging } from "../../core/commits/resolved-commit.ts";
import { StagedChanges } from "../../core/commits/staged-changes.ts";
import { decideAsync } from "../../core/decision.ts";
import type { Erased } from "../../port/change-log.ts";
import { type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import { logPlans } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { tablesOf, wordsTable } from "../tables/tables.ts";
import { type CommitsParts, isRedeclared, judgingOf, lockRelated } from "./commits.ts";
import { flush } from "./flush.ts";
import { Held } from "./holds.ts";
import { PostgresLookups } from "./lookups.ts";
import { forgetDeleted, noteDeleted, raiseHead } from "./statements.ts";
import { runTogether } from "./values.ts";

/** Erases a resource. Then `vacuum` frees the space that its rows used. Throws Held. */
export async function erase(
  parts: CommitsParts,
  collection: NumberedCollection,
  id: string,
): Promise<Erased> {
  const { connections, groups } = parts;
  const nextGroup = await groups.take(1);
  let known = collection;
  const attempt = () =>
    transact(connections, transactionModes.longWrite, (transaction) =>
      eraseWithin(transaction, { ...parts, nextGroup }, { collection: known, id }),
    );
  const erased = await attempt().catch(async (error: unknown) => {
    if (!isRedeclared(error)) throw error;
    await parts.reload();
    known = parts.catalogue().byName.get(collection.name) ?? known;
    return attempt();
  });
  const { number, search } = known;
  const tables = tablesOf(number).filter((table) => search.length > 0 || table !== wordsTable(number));
  for (const table of tables) await connections.run({ sql: `vacuum ${table}` });
  await connections.run({ sql: "vacuum holdfast_receipts" });
  return erased;
}

async function eraseWithin(
  transaction: Transaction,
  parts: CommitsParts & Pick<Judging, "nextGroup">,
  { collection, id }: { collection: NumberedCollection; id: string },
): Promise<Erased> {
  const catalogue = parts.catalogue();
  const staged = new StagedChanges<NumberedCollection>();
  const { held } = await lockRelated(transaction, catalogue, { changed: [collection.name] });
  if (held.size > 0) throw new Held(held);
  const lookups = new PostgresLookups(transaction, catalogue, parts.receipts);
  const judging = judgingOf(staged, parts);
  const verdict = await decideAsync(judgeErasure(judging, { collection, id }), lookups);
  if (verdict !== undefined && "refusal" in verdict) throw problemOf(verdict.refusal);
  const { last } = await flush(staged, { ...parts, transaction });
  for (const statement of last) await transaction.run(statement);
  const { number } = collection;
  const logged = await transaction.runPlan(logPlans.erase(number, id));
  if (verdict !== undefined || logged > 0) {
    const by = verdict === undefined ? 1 : 0; // subscribers must notice the erasure
    const head = await transaction.run(raiseHead(number, { sequence: by, count: 0, words: 0, checksums: 0 }));
    await transaction.runPlan(logPlans.noteGaps(number, Number(head.rows[0]?.[0])));
  }
  const version = (await transaction.run(forgetDeleted(number, id))).rows[0]?.[0];
  if (version != null)
    await runTogether(transaction, noteDeleted(number, [[erasedName(id), Number(version)]]));
  await transaction.runPlan(parts.receipts.erase(id));
  const { isLogged } = parts;
  return erasedOf(verdict, { logged, isLogged, isKnown: version != null });
}
