/** An import: one transaction, open for as long as it takes. */

import { formatPath } from "../../collection/paths.ts";
import { targetsOf } from "../../collection/refers.ts";
import { Problem } from "../../errors.ts";
import type { Arrival, Load, Refused } from "../load.ts";
import { describeLost, type Lost, shownLost } from "../lost.ts";
import type { CollectionRecord } from "../record.ts";
import { Catalogue, type NumberedCollection, servedCatalogueSql, toCollection } from "./catalogue.ts";
import type { Connections } from "./connections.ts";
import { answerTo } from "./failures.ts";
import { flush } from "./flush.ts";
import type { GroupNumbers } from "./group-numbers.ts";
import type { IdNumbers } from "./id-numbers.ts";
import { danglingPointer, takenPointer } from "./judge.ts";
import { keyOf } from "./keys.ts";
import { Ledger, type Origin } from "./ledger.ts";
import { migrateServed } from "./migrate.ts";
import { Sight } from "./sight.ts";
import { lockHeads, selectKeys } from "./statements.ts";
import { beginnings, type Transaction, transact } from "./transaction.ts";

/** What an import is made with. */
export interface LoadParts {
  connections: Connections;
  groups: GroupNumbers;
  ids: IdNumbers;
  isLogged: boolean;
  /** Called once, when the import has ended in whatever way. */
  onEnd(): Promise<void>;
}

/** Thrown to take the transaction back. */
class Cancelled extends Error {}

/** An import under way. Once a part of it has failed, nothing of it is left in the store. */
export class PostgresLoad implements Load {
  /** Of the collection that arrivals are for. */
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
    const origin = { at: Date.now(), principal: null, group: groups.next() };
    const begun = Promise.withResolvers<void>();
    this.#whole = transact(connections, beginnings.longWrite, async (transaction) => {
      const opened = { transaction, origin, targets: new Map() };
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

  add(arrivals: readonly Arrival[]): Promise<readonly Refused[]> {
    return this.#do((state) => addAll(state, arrivals, this.#parts));
  }

  /** Takes integer ids out of use that nobody else gets, unless all is taken back. */
  reserve(n: number): Promise<number> {
    return this.#do(({ transaction, collection }) =>
      this.#parts.ids.reserveWithin((statement) => transaction.run(statement), collection.number, n),
    );
  }

  async finish(): Promise<void> {
    try {
      await this.#do(requireTargets);
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
    await this.#whole.catch(() => {}); // whoever finished was told
    await this.#parts.onEnd();
  }
}

/** An import's transaction. */
interface Opened {
  transaction: Transaction;
  origin: Origin;
  /** Ids that are judged in the end: by the name of their collection, each with one that refers to it. */
  targets: Map<string, Map<string, Lost>>;
}

/** An import on its way. */
interface Under extends Opened {
  catalogue: Catalogue;
  /** What arrivals are for. */
  collection: NumberedCollection;
  sequence: number;
  /** The collections to which references are judged in the end. */
  among: readonly string[];
}

async function prepare(
  { transaction, origin, targets }: Opened,
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
  return { transaction, origin, targets, catalogue, collection, sequence, among: [...among, name] };
}

async function addAll(state: Under, arrivals: readonly Arrival[], parts: LoadParts): Promise<Refused[]> {
  const { transaction, catalogue, collection } = state;
  const ledger = new Ledger();
  const sight = new Sight(transaction, catalogue, ledger);
  const { number, idKind } = collection;
  const keys = arrivals.map(({ id }) => keyOf(idKind, id));
  const texts = arrivals.map(({ text }) => text);
  const [{ rows }] = await Promise.all([
    transaction.run(selectKeys(number, keys)),
    sight.prepareTexts(collection, texts),
  ]);
  const there = new Set(rows.map(([key]) => key));
  const refused: Refused[] = [];
  for (const [position, arrival] of arrivals.entries()) {
    const isTaken =
      there.has(keyOf(idKind, arrival.id)) || ledger.find(collection, arrival.id)?.now !== undefined;
    const refusal = isTaken ? { pointer: undefined } : await addOne(state, arrival, { ledger, sight });
    if (refusal !== undefined) refused.push({ position, ...refusal });
  }
  const { last } = await flush(ledger, { transaction, ids: parts.ids, isLogged: parts.isLogged });
  await Promise.all(last.map((statement) => transaction.run(statement)));
  state.sequence += ledger.of(collection).changes.length;
  return refused;
}

/** Adds a resource with a version above every one that its id ever had. Gives why it did not. */
async function addOne(
  { collection, origin, sequence, targets, among }: Under,
  { id, text }: Arrival,
  { ledger, sight }: { ledger: Ledger; sight: Sight },
): Promise<Omit<Refused, "position"> | undefined> {
  const mark = ledger.mark();
  const after = sequence + ledger.of(collection).changes.length;
  ledger.write(collection, { id, next: text, after }, origin);
  const pointer = await takenPointer({ ledger, sight }, collection, { id, text });
  const lost = await danglingPointer({ sight }, collection, text, among);
  if (pointer === undefined && lost === undefined) {
    noteTargets(targets, collection, { id, text, among });
    return undefined;
  }
  ledger.takeBack(mark);
  return pointer === undefined ? { pointer: lost, isLost: true } : { pointer };
}

/** References among what is imported may lead to what arrives later. */
function noteTargets(
  targets: Opened["targets"],
  { name, references }: NumberedCollection,
  { id, text, among }: Arrival & { among: readonly string[] },
): void {
  const later = references.filter(({ collection }) => among.includes(collection));
  if (later.length === 0) return;
  for (const { reference, id: to } of targetsOf(JSON.parse(text), later)) {
    const known = targets.get(reference.collection) ?? new Map<string, Lost>();
    targets.set(reference.collection, known);
    if (!known.has(to)) known.set(to, { from: name, id, attribute: formatPath(reference.path), to });
  }
}

/** Ids that are asked for in one statement. */
const slice = 1_000;

/** Throws REFERENCE_NOT_FOUND where something that is referred to has not arrived. */
async function requireTargets(state: Under): Promise<void> {
  const lost: Lost[] = [];
  for (const [name, targets] of state.targets) {
    const ids = [...targets.keys()];
    for (let from = 0; from < ids.length && lost.length < shownLost; from += slice) {
      const gone = await findGone(state, name, ids.slice(from, from + slice));
      lost.push(...gone.map((id) => targets.get(id) as Lost));
    }
  }
  if (lost.length > 0) throw new Problem("REFERENCE_NOT_FOUND", describeLost(lost));
}

async function findGone(
  { transaction, catalogue }: Under,
  name: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const collection = catalogue.byName.get(name);
  if (collection === undefined) return ids;
  const { number, idKind } = collection;
  const keys = ids.map((id) => keyOf(idKind, id));
  const { rows } = await transaction.run(selectKeys(number, keys));
  const there = new Set(rows.map(([key]) => key));
  return ids.filter((_, n) => !there.has(keys[n] as string));
}
