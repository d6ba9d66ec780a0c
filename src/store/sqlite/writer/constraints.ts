/** What is declared of resources, unique values and references, judged on what changes made of the store. */
import type { DatabaseSync } from "node:sqlite";
import { danglingMessage, takenMessage } from "../../constraint-texts.ts";
import type { Arrival, Refused } from "../../load.ts";
import { collectionOf, type NumberedCollection } from "../catalogue.ts";
import type { Refusal, WireCommit } from "../protocol.ts";
import { References } from "./references.ts";
import { Uniques } from "./unique.ts";

/** What no write may break. What becomes of those that refer to something deleted is left to `Following`. */
export class Constraints {
  readonly references: References;
  readonly #collections: ReadonlyMap<number, NumberedCollection>;
  readonly #uniques: Uniques;

  constructor(database: DatabaseSync, collections: ReadonlyMap<number, NumberedCollection>) {
    this.references = new References(database, collections);
    this.#collections = collections;
    this.#uniques = new Uniques(database);
  }

  /** Whether the changes may break what is declared, so that they have to be judged. */
  mayBreak({ changes }: WireCommit): boolean {
    for (const { collection, next } of changes) {
      const known = this.#collections.get(collection);
      if (known === undefined) continue;
      if (next === null ? this.references.to(known).length > 0 : hasConstraints(known)) return true;
    }
    return false;
  }

  /** What the commit, which has been carried out, made to be there twice, or to lead nowhere. */
  broken(commit: WireCommit): Refusal | undefined {
    return this.#collision(commit) ?? this.#lost(commit);
  }

  /** Why an arrival, which has been added, must not be there. References to the collections `later` are not judged yet. */
  brokenBy(
    collection: NumberedCollection,
    { id, text }: Arrival,
    later: readonly string[],
  ): Omit<Refused, "position"> | undefined {
    const pointer = this.#uniques.taken(collection, id);
    if (pointer !== undefined) return { pointer };
    const lost = this.references.dangling(collection, text, later);
    return lost === undefined ? undefined : { pointer: lost, isLost: true };
  }

  /** Of several changes that collide with each other, the first has not done so yet when it is made. */
  #collision({ changes }: WireCommit): Refusal | undefined {
    const turns = new Map(changes.map(({ collection, id }, turn) => [`${collection}/${id}`, turn]));
    for (const [change, { collection, id, next }] of changes.entries()) {
      if (next === null) continue;
      const isLater = (other: string) => (turns.get(`${collection}/${other}`) ?? -1) > change;
      const allowance = { isLater, limit: changes.length - 1 - change };
      const pointer = this.#uniques.taken(collectionOf(this.#collections, collection), id, allowance);
      if (pointer === undefined) continue;
      const detail = takenMessage(pointer);
      return { code: "UNIQUE_VIOLATION", detail, pointer, change };
    }
    return undefined;
  }

  #lost({ changes }: WireCommit): Refusal | undefined {
    for (const [change, { collection, next }] of changes.entries()) {
      if (next === null) continue;
      const pointer = this.references.dangling(collectionOf(this.#collections, collection), next);
      if (pointer === undefined) continue;
      const detail = danglingMessage(pointer);
      return { code: "REFERENCE_NOT_FOUND", detail, pointer, change };
    }
    return undefined;
  }
}

function hasConstraints({ unique = none, references = none }: NumberedCollection): boolean {
  return unique.length > 0 || references.length > 0;
}

const none: readonly never[] = [];
