/** An import: one transaction, open for as long as it takes. */

import { judgeImported, refuseLost } from "../../commits/imported.ts";
import { problemOf } from "../../commits/refusals.ts";
import { type Origin, StagedChanges } from "../../commits/staged-changes.ts";
import { decideAsync } from "../../decision.ts";
import type { ImportedResource, Load, Refused } from "../../load.ts";
import type { ReceiptLimits } from "../../receipts.ts";
import type { CollectionRecord } from "../../record.ts";
import type { Connections } from "../connection/connections.ts";
import { answerTo } from "../connection/failures.ts";
import { beginnings, type Transaction, transact } from "../connection/transaction.ts";
import { Catalogue, type NumberedCollection, servedCatalogueSql, toCollection } from "../tables/catalogue.ts";
import { migrateServed } from "../tables/migrate.ts";
import { lockHeads } from "../tables/statements.ts";
import { judgingOf } from "./commits.ts";
import { flush } from "./flush.ts";
import type { GroupNumbers } from "./group-numbers.ts";
import type { IdNumbers } from "./id-numbers.ts";
import { PostgresLookups } from "./lookups.ts";

/** What an import is made with. */
export interface LoadParts {
  connections: Connections;
  groups: GroupNumbers;
  ids: IdNumbers;
  isLogged: boolean;
  receiptLimits: ReceiptLimits;
  /** Called once, when the import has ended in whatever way. */
  onEnd(): Promise<void>;
}

/** Thrown to take the transaction back. */
class Cancelled extends Error {}

/** An import under way. Once a part of it has failed, nothing of it is left in the store. */
export class PostgresLoad implements Load {
  /** Of the collection that imported are for. */
  name: string;
  readonly #among: readonly string[];
  readonly #parts: LoadParts;
  readonly #ending = Promise.withResolvers<void>();
  /** What is under way: one thing after the other. */
  #work: Promise<unknown> = Promise.resolve();
  #whole: Promise<void> = Promise.resolve();
  #state: Under | undefined;
  #failure: unknown;
  #hasEnded = false;

  constructor(name: string, among: readonly string[], parts: LoadParts) {
    this.name = name;
    this.#among = among;
    this.#parts = parts;
  }

  /** Begins the transaction. Throws StartError when the collection cannot be as given. */
  async begin(into: string | CollectionRecord): Promise<void> {
    const { connections, groups } = this.#parts;
    await groups.ensure(1);
    const origin = { principal: null, group: groups.next() };
    const begun = Promise.withResolvers<void>();
    this.#whole = transact(connections, beginnings.longWrite, async (transaction) => {
      const opened = { transaction, at: Date.now(), origin, parts: [] };
      this.#state = await prepare(opened, into, this.#among);
      begun.resolve();
      await this.#ending.promise;
    });
    this.#whole.catch(begun.reject);
    try {
      await begun.promise;
    } catch (error) {
      throw answerTo(error);
    }
  }

  next(collection: CollectionRecord): Promise<void> {
    return this.#do(async (state) => {
      this.#state = await prepare(state, collection, this.#among);
      this.name = collection.name;
    });
  }

  add(imported: readonly ImportedResource[]): Promise<readonly Refused[]> {
    return this.#do((state) => addAll(state, imported, this.#parts));
  }

  /** Takes integer ids out of use that nobody else gets, unless all is taken back. */
  reserve(n: number): Promise<number> {
    return this.#do(({ transaction, collection }) =>
      this.#parts.ids.reserveWithin((statement) => transaction.run(statement), collection.number, n),
    );
  }

  async finish(): Promise<void> {
    try {
      await this.#do((state) => requireTargets(state, this.#parts));
      this.#ending.resolve();
      await this.#whole;
    } catch (error) {
      throw answerTo(error);
    } finally {
      await this.#end();
    }
  }

  async cancel(): Promise<void> {
    if (!this.#hasEnded) await this.#end();
  }

  async #do<T>(step: (state: Under) => Promise<T>): Promise<T> {
    if (this.#hasEnded) throw new Error("The import has ended.");
    const run = async () => {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        return await step(this.#state as Under);
      } catch (error) {
        this.#failure ??= answerTo(error);
        throw this.#failure;
      }
    };
    const result = this.#work.then(run);
    this.#work = result.catch(() => {});
    return result;
  }

  async #end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#ending.reject(new Cancelled());
    this.#ending.promise.catch(() => {});
    await this.#whole.catch(() => {}); // the call of finish gets the error
    await this.#parts.onEnd();
  }
}

/** An import's transaction. */
interface Opened {
  transaction: Transaction;
  /** Unix time in milliseconds. */
  at: number;
  origin: Origin;
  /** The collections so far, with their sequences before the import. */
  parts: readonly { collection: NumberedCollection; sequence: number }[];
}

/** An import on its way. */
interface Under extends Opened {
  catalogue: Catalogue;
  /** What imported are for. */
  collection: NumberedCollection;
  sequence: number;
  /** The collections to which references are judged in the end. */
  among: readonly string[];
}

async function prepare(
  { transaction, at, origin, parts }: Opened,
  into: string | CollectionRecord,
  among: readonly string[],
): Promise<Under> {
  if (typeof into === "object") await migrateServed(transaction, [into]);
  const { rows } = await transaction.run({ sql: servedCatalogueSql });
  const catalogue = new Catalogue(rows.map(toCollection));
  const name = typeof into === "object" ? into.name : into;
  const collection = catalogue.byName.get(name);
  if (collection === undefined) throw new Error(`There is no collection ${JSON.stringify(name)}.`);
  const numbers = new Set([collection.number, ...catalogue.relatedTo(collection)]);
  const heads = await transaction.run(lockHeads([...numbers]));
  const own = heads.rows.find(([number]) => Number(number) === collection.number);
  const sequence = Number(own?.[1]);
  const all = [...parts, { collection, sequence }];
  return { transaction, at, origin, parts: all, catalogue, collection, sequence, among: [...among, name] };
}

async function addAll(
  state: Under,
  imported: readonly ImportedResource[],
  parts: LoadParts,
): Promise<Refused[]> {
  const { transaction, collection } = state;
  const { staged, lookups, judging } = decisionsOf(state, parts);
  await lookups.prepareImported(collection, imported);
  const refused = await decideAsync(judgeImported(judging, state, imported), lookups);
  const { last } = await flush(staged, { ...parts, transaction });
  await Promise.all(last.map((statement) => transaction.run(statement)));
  state.sequence += staged.mark();
  return refused;
}

/** Throws REFERENCE_NOT_FOUND if something that is referred to has not arrived. */
async function requireTargets(state: Under, parts: LoadParts): Promise<void> {
  const { lookups, judging } = decisionsOf(state, parts);
  const refusal = await decideAsync(refuseLost(judging, state.parts, state.among), lookups);
  if (refusal !== undefined) throw problemOf(refusal);
}

function decisionsOf({ transaction, catalogue }: Under, parts: LoadParts) {
  const staged = new StagedChanges<NumberedCollection>();
  const lookups = new PostgresLookups(transaction, catalogue);
  return { staged, lookups, judging: judgingOf(staged, { ...parts, catalogue: () => catalogue }) };
}
