/** Erases a resource: removes it with its history. */

import { erase as erasePlan } from "../../core/commits/erasure.ts";
import { problemOf } from "../../core/commits/refusals.ts";
import { type Judging, judgingOf } from "../../core/commits/resolved-commit.ts";
import type { Erased } from "../../port/change-log.ts";
import { type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import { storePlans } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/declared-catalogue.ts";
import { tablesOf, wordsTable } from "../tables/tables.ts";
import { type CommitsParts, isRedeclared, lockRelated, namingDamage } from "./commits.ts";
import { Held } from "./holds.ts";

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
  const judging = judgingOf(parts, parts);
  const erased = await namingDamage(catalogue, () =>
    transaction.runPlan(erasePlan({ ...parts, logs: storePlans.logs }, judging, { collection, id })),
  );
  if ("refusal" in erased) throw problemOf(erased.refusal);
  return erased;
}
