/** The transaction of an import. It stays open until the import ends. */
import { addImported, findHolders, type Importing, refuseLost } from "../../core/commits/imported.ts";
import { problemOf } from "../../core/commits/refusals.ts";
import { judgingOf } from "../../core/commits/resolved-commit.ts";
import type { LoadTransaction } from "../../core/loads.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { Added, ImportedResource, LoadOptions } from "../../port/store.ts";
import { toClientError } from "../connection/failures.ts";
import { type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import {
  Catalogue,
  type NumberedCollection,
  servedCatalogueSql,
  toCollection,
} from "../tables/declared-catalogue.ts";
import { migrateServed } from "../tables/migrate.ts";
import { type CommitsParts, namingDamage } from "./commits.ts";
import { hold, lockHeads } from "./holds.ts";

/** Makes `transact` roll the transaction back. */
class Cancelled extends Error {}

/** Starts an import. Throws StartError if the collection cannot be as given. */
export async function beginLoad(
  parts: CommitsParts,
  into: string | CollectionRecord,
  { among, principal, at }: Required<LoadOptions>,
): Promise<LoadTransaction> {
  const { connections, groups, ids } = parts;
  const nextGroup = await groups.take(1);
  const origin = { principal, group: nextGroup() };
  const started = Promise.withResolvers<ImportInProgress>();
  const ending = Promise.withResolvers<void>();
  const whole = transact(connections, transactionModes.longWrite, async (transaction) => {
    started.resolve(await prepare({ transaction, at, origin, collections: [] }, into, among));
    await ending.promise;
  });
  whole.catch(started.reject); // and `commit` throws it
  let state = await started.promise.catch(throwAnswer);
  let work: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(step: () => Promise<T>): Promise<T> => {
    const result = work.then(step).catch(throwAnswer);
    work = result.catch(() => {});
    return result;
  };
  return {
    next: (collection) =>
      inOrder(async () => {
        state = await prepare(state, collection, among);
      }),
    add: (imported) => inOrder(() => addAll(state, imported, parts)),
    holders: (unique, values) =>
      inOrder(() =>
        namingDamage(state.catalogue, () =>
          state.transaction.runPlan(findHolders(judgingFor(state, parts), state, unique, values)),
        ),
      ),
    reserve: (n) =>
      inOrder(() =>
        ids.reserveWithin((statement) => state.transaction.run(statement), state.collection.number, n),
      ),
    check: () => inOrder(() => requireTargets(state, parts)),
    commit: () =>
      inOrder(async () => {
        await requireTargets(state, parts);
        ending.resolve();
        await whole;
      }),
    async rollBack() {
      await work;
      ending.reject(new Cancelled());
      await whole.catch(() => {});
    },
  };
}

function throwAnswer(error: unknown): never {
  throw toClientError(error);
}

/** An import in progress. */
interface ImportInProgress extends Importing<NumberedCollection> {
  transaction: Transaction;
  catalogue: Catalogue;
}

async function prepare(
  { transaction, at, origin, collections }: Omit<ImportInProgress, "collection" | "catalogue" | "among">,
  into: string | CollectionRecord,
  among: readonly string[],
): Promise<ImportInProgress> {
  if (typeof into === "object") await migrateServed(transaction, [into]);
  const name = typeof into === "object" ? into.name : into;
  const { number } = (await find(transaction, name)).collection;
  await hold(transaction, [number]);
  await transaction.run(lockHeads([number]));
  const { catalogue, collection } = await find(transaction, name); // a declaration can have changed until the lock
  const all = [...collections, collection];
  return { transaction, at, origin, collections: all, catalogue, collection, among: [...among, name] };
}

async function find(
  transaction: Transaction,
  name: string,
): Promise<Pick<ImportInProgress, "catalogue" | "collection">> {
  const { rows } = await transaction.run({ sql: servedCatalogueSql });
  const catalogue = new Catalogue(rows.map(toCollection));
  const collection = catalogue.byName.get(name);
  if (collection === undefined) throw new Error(`There is no collection ${JSON.stringify(name)}.`);
  return { catalogue, collection };
}

async function addAll(
  state: ImportInProgress,
  imported: readonly ImportedResource[],
  parts: CommitsParts,
): Promise<Added> {
  const { transaction, catalogue, collection } = state;
  const judging = judgingFor(state, parts);
  return namingDamage(catalogue, async () => {
    await transaction.runPlan(judging.lookups.readImported(collection, imported));
    return transaction.runPlan(addImported(parts, judging, state, imported));
  });
}

/** Throws REFERENCE_NOT_FOUND if a reference leads to no resource, now that all are imported. */
async function requireTargets(state: ImportInProgress, parts: CommitsParts): Promise<void> {
  const refusal = await state.transaction.runPlan(refuseLost(judgingFor(state, parts), state));
  if (refusal !== undefined) throw problemOf(refusal);
}

function judgingFor({ catalogue, origin }: ImportInProgress, parts: CommitsParts) {
  const nextGroup = () => origin.group as number; // an import is one group
  return judgingOf({ ...parts, catalogue: () => catalogue }, { nextGroup });
}
