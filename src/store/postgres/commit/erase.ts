/** Erases a resource: removes it with its history. */

import { judgeErasure, removeTraces } from "../../core/commits/erasure.ts";
import { problemOf } from "../../core/commits/refusals.ts";
import type { Judging } from "../../core/commits/resolved-commit.ts";
import type { Erased } from "../../port/change-log.ts";
import { numberOf, query } from "../../sql/table.ts";
import { type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import { logPlans } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { tablesOf, wordsTable } from "../tables/tables.ts";
import { type CommitsParts, isRedeclared, judgingOf, lockRelated } from "./commits.ts";
import { flush } from "./flush.ts";
import { Held } from "./holds.ts";

const raiseSequence = query<[number, number], number>(
  "update holdfast_heads set sequence = sequence + $2::bigint where number = $1::integer returning sequence",
  numberOf,
);

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
  const { held } = await lockRelated(transaction, catalogue, { changed: [collection.name] });
  if (held.size > 0) throw new Held(held);
  const judging = judgingOf(parts);
  const verdict = await transaction.runPlan(judgeErasure(judging, { collection, id }));
  if (verdict !== undefined && "refusal" in verdict) throw problemOf(verdict.refusal);
  const { last } = await flush(judging.staged, { ...parts, transaction });
  for (const statement of last) await transaction.run(statement);
  return transaction.runPlan(
    removeTraces({ ...parts, logs: logPlans, raiseSequence }, { collection, id }, verdict),
  );
}
