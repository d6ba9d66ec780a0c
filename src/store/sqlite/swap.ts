/** Judges commits and carries them out, inside a transaction that the caller holds open. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearReference, type Reference } from "../../collection/refers.ts";
import { resourceText, withoutId } from "../../collection/resource.ts";
import type { Refused } from "../store.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Heads } from "./heads.ts";
import type { IdBlocks } from "./id-blocks.ts";
import { integerOf, toSqliteId } from "./ids.ts";
import type { Fate, WireChange, WireCommit, WireKey } from "./protocol.ts";
import type { Receipts } from "./receipts.ts";
import { References, type Referrers } from "./references.ts";
import type { SearchTables } from "./search-tables.ts";
import { changesTable, resourcesTable } from "./tables.ts";
import { Uniques } from "./unique.ts";

/** A resource as it was before a change. */
interface Before {
  key: number;
  version: number;
  text: string;
}

type Refusal = Exclude<Fate, readonly number[]>;

/** A prepared statement for each thing that is done to a collection's tables. */
interface Statements {
  find: StatementSync;
  insert: StatementSync;
  update: StatementSync;
  remove: StatementSync;
  log: StatementSync;
}

/** What is deleted, and the change of the commit that makes it so: its own, or that which it follows. */
interface Deleted {
  collection: number;
  id: string;
  change: number;
}

/** What a `Swap` works on. */
export interface SwapParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  ids: IdBlocks;
  search: SearchTables;
  log: ChangeLog;
  receipts: Receipts;
}

/** Carries out commits on one connection. */
export class Swap {
  readonly #database: DatabaseSync;
  readonly #collections: ReadonlyMap<number, NumberedCollection>;
  readonly #heads: Heads;
  readonly #ids: IdBlocks;
  readonly #search: SearchTables;
  readonly #log: ChangeLog;
  readonly #statements = new Map<number, Statements>();
  readonly #receipts: Receipts;
  readonly #uniques: Uniques;
  readonly #references: References;
  #followed: WireKey[] = [];
  /** The group of the changes that were written last. */
  #group: number | null = null;
  readonly #nextGroup: StatementSync;

  constructor({ database, collections, heads, ids, search, log, receipts }: SwapParts) {
    this.#database = database;
    this.#collections = collections;
    this.#heads = heads;
    this.#ids = ids;
    this.#search = search;
    this.#log = log;
    this.#receipts = receipts;
    this.#uniques = new Uniques(database);
    this.#references = new References(database, collections);
    this.#nextGroup = database.prepare(
      "update meta set value = value + 1 where name = 'groups' returning value",
    );
  }

  /** Does all of the commit or none of it. What it throws leaves the transaction in an unknown state. */
  carryOut(commit: WireCommit): Fate {
    if (!this.#mayBreak(commit)) return this.#attempt(commit);
    // What is declared is judged on what the changes made of the store, so there may be something to take back.
    const restoreHeads = this.#heads.remember();
    const followedBefore = this.#followed.length;
    this.#database.exec("savepoint judged");
    const fate = this.#attempt(commit);
    const problem = "code" in fate ? fate : this.#broken(commit, fate);
    if (problem === undefined) {
      this.#database.exec("release judged");
      return fate;
    }
    this.#database.exec("rollback to judged; release judged");
    restoreHeads();
    this.#followed.length = followedBefore;
    return problem;
  }

  /** The collections were declared anew. */
  refresh(): void {
    this.#references.refresh();
  }

  /** Resources that were changed because others were deleted, since this was asked last. */
  takeFollowed(): readonly WireKey[] {
    const followed = this.#followed;
    if (followed.length > 0) this.#followed = [];
    return followed;
  }

  /** The id of a resource that refers to one of its own collection which is not there. */
  danglingWithin(collection: NumberedCollection): string | undefined {
    return this.#references.danglingWithin(collection);
  }

  /** Adds a resource with a version of its own, unless its id or a unique value is taken. Gives why it did not. */
  add(
    collection: NumberedCollection,
    arrival: { id: string; text: string },
    { at, group }: Origin,
  ): Omit<Refused, "position"> | undefined {
    const { id, text } = arrival;
    const { insert, log } = this.#statementsOf(collection.number);
    const head = this.#heads.of(collection.number);
    const version = head.sequence + 1;
    const { changes, lastInsertRowid } = insert.run(toSqliteId(collection.idKind, id), version, at, text);
    if (changes === 0) return { pointer: undefined };
    const pointer = this.#uniques.taken(collection, id);
    const lost = this.#references.dangling(collection, text, { isLenient: true });
    if ((pointer ?? lost) !== undefined) {
      this.#statementsOf(collection.number).remove.run(toSqliteId(collection.idKind, id));
      return pointer === undefined ? { pointer: lost, isLost: true } : { pointer };
    }
    this.#search.follow(collection.number, Number(lastInsertRowid), { next: text });
    head.sequence++;
    head.count++;
    this.#noteId(collection, id);
    if (this.#log.isKept) log.run(head.sequence, id, version, "created", at, null, group, null);
    return undefined;
  }

  /** Removes a resource and its changes without a trace in the log. Its words are left to the caller. */
  erase(collection: number, id: string): { resource: boolean; changes: number } {
    const before = this.#find({ collection, id });
    if (before !== undefined) {
      const head = this.#heads.of(collection);
      this.#statementsOf(collection).remove.run(toSqliteId(this.#collection(collection).idKind, id));
      head.sequence++;
      head.count--;
    }
    return { resource: before !== undefined, changes: this.#log.erase(collection, id) };
  }

  /** A number that no group of changes has had. */
  nextGroup(): number {
    return Number(this.#nextGroup.get()?.value);
  }

  /** Judges everything but what is declared before the first change is written, so that nothing is taken back. */
  #attempt(commit: WireCommit): Fate {
    const { changes, receipt, at } = commit;
    if (receipt !== undefined && this.#receipts.has(receipt.key, at)) {
      return { code: "IDEMPOTENCY_KEY_REUSED", detail: "The Idempotency-Key was used before." };
    }
    if (receipt !== undefined && this.#receipts.isFull()) return tooManyReceipts;
    const befores: (Before | undefined)[] = [];
    for (const change of changes) {
      const before = this.#find(change);
      if ((before?.version ?? 0) !== Math.max(0, change.expect)) return staleVersion(change, before);
      if (change.expect < 0 && this.#log.lastVersion(change.collection, change.id) !== -change.expect)
        return staleVersion(change, before);
      befores.push(before);
    }
    const group = changes.length > 1 ? this.nextGroup() : null;
    const origin = { at, principal: commit.principal, group };
    this.#group = group;
    const sequences = changes.map((change, index) => this.#write(change, befores[index], origin));
    if (receipt !== undefined) this.#receipts.keep(receipt);
    return sequences;
  }

  #find({ collection, id }: { collection: number; id: string }): Before | undefined {
    const { idKind } = this.#collection(collection);
    const row = this.#statementsOf(collection).find.get(toSqliteId(idKind, id));
    if (row === undefined) return undefined;
    return { key: Number(row.key), version: Number(row.version), text: String(row.doc) };
  }

  #write(
    change: WireChange,
    before: Before | undefined,
    origin: Origin & { principal: string | null },
  ): number {
    const { collection, id, next } = change;
    const described = this.#collection(collection);
    const statements = this.#statementsOf(collection);
    const head = this.#heads.of(collection);
    const { at, principal, group } = origin;
    const version = (before?.version ?? -change.expect) + 1;
    const sqliteId = toSqliteId(described.idKind, id);
    let key = before?.key;
    head.sequence++;
    if (next === null) {
      statements.remove.run(sqliteId);
      head.count--;
    } else if (before === undefined) {
      key = Number(statements.insert.run(sqliteId, version, at, next).lastInsertRowid);
      head.count++;
      this.#noteId(described, id);
    } else {
      statements.update.run(version, at, next, sqliteId);
    }
    if (key !== undefined) this.#search.follow(collection, key, { before: before?.text, next });
    const kind = next === null ? "deleted" : before === undefined ? "created" : "updated";
    if (this.#log.isKept)
      statements.log.run(head.sequence, id, version, kind, at, principal, group, before?.text ?? null);
    return head.sequence;
  }

  #noteId({ number, idKind }: NumberedCollection, id: string): void {
    const integer = integerOf(idKind, id);
    if (integer !== undefined) this.#ids.use(number, integer, this.#heads.of(number));
  }

  /** Whether the changes may break what is declared, so that they have to be judged. */
  #mayBreak({ changes }: WireCommit): boolean {
    for (const { collection, next } of changes) {
      const known = this.#collections.get(collection);
      if (known === undefined) continue;
      if (next === null ? this.#references.to(known).length > 0 : hasConstraints(known)) return true;
    }
    return false;
  }

  #broken(commit: WireCommit, sequences: readonly number[]): Refusal | undefined {
    return this.#collision(commit) ?? this.#lost(commit) ?? this.#follow(commit, sequences);
  }

  /** A reference of a changed resource that leads nowhere. */
  #lost({ changes }: WireCommit): Refusal | undefined {
    for (const [change, { collection, next }] of changes.entries()) {
      if (next === null) continue;
      const pointer = this.#references.dangling(this.#collection(collection), next);
      if (pointer === undefined) continue;
      return {
        code: "REFERENCE_NOT_FOUND",
        detail: `There is no resource with the id at ${pointer}.`,
        pointer,
        change,
      };
    }
    return undefined;
  }

  /** Does to those that refer to what was deleted what they are declared for. */
  #follow({ changes, at, principal }: WireCommit, sequences: readonly number[]): Refusal | undefined {
    const open: Deleted[] = [];
    for (const [change, { collection, id, next }] of changes.entries())
      if (next === null) open.push({ collection, id, change });
    if (open.length === 0) return undefined;
    const own = new Set(changes.map(({ collection, id }) => `${collection}/${id}`));
    const restricting: [Referrers, Deleted][] = [];
    const first = this.#followed.length;
    for (const deleted of open) {
      const { collection, id } = deleted;
      for (const referrers of this.#references.to(this.#collection(collection))) {
        const { from, reference } = referrers;
        if (reference.onDelete === "restrict") {
          restricting.push([referrers, deleted]);
          continue;
        }
        for (const resource of referrers.find(id, maxFollowed + 1)) {
          if (own.has(`${from.number}/${resource.id}`)) return referenced(deleted);
          if (this.#followed.length - first >= maxFollowed) return tooManyFollow(deleted);
          const next =
            reference.onDelete === "cascade" ? null : clearedText(from, resource, { reference, id });
          const group = this.#groupOf(changes[0] as WireChange, sequences[0] as number);
          const change = { collection: from.number, id: resource.id, expect: resource.version, next };
          this.#write(change, resource, { at, principal, group });
          this.#followed.push({ collection: from.name, id: resource.id });
          if (next === null) open.push({ ...deleted, collection: from.number, id: resource.id });
        }
      }
    }
    const restricted = restricting.find(([referrers, { id }]) => referrers.find(id, 1).length > 0);
    return restricted === undefined ? undefined : referenced(restricted[1]);
  }

  /** The group of the commit under way, which its first change gets too where it was alone. */
  #groupOf({ collection }: WireChange, sequence: number): number {
    if (this.#group !== null) return this.#group;
    this.#group = this.nextGroup();
    if (this.#log.isKept) {
      this.#database
        .prepare(`update ${changesTable(collection)} set "group" = ? where sequence = ?`)
        .run(this.#group, sequence);
    }
    return this.#group;
  }

  /** What the commit made to be there twice. */
  #collision({ changes }: WireCommit): Refusal | undefined {
    for (const [change, { collection, id, next }] of changes.entries()) {
      if (next === null) continue;
      const pointer = this.#uniques.taken(this.#collection(collection), id);
      if (pointer === undefined) continue;
      return {
        code: "UNIQUE_VIOLATION",
        detail: `Another resource has the value of ${pointer} already.`,
        pointer,
        change,
      };
    }
    return undefined;
  }

  #collection(number: number): NumberedCollection {
    const collection = this.#collections.get(number);
    if (collection === undefined) throw new Error(`There is no collection ${number}.`);
    return collection;
  }

  #statementsOf(number: number): Statements {
    const known = this.#statements.get(number);
    if (known !== undefined) return known;
    const resources = resourcesTable(number);
    const statements = {
      find: this.#database.prepare(`select key, version, doc from ${resources} where id = ?`),
      insert: this.#database.prepare(
        `insert into ${resources} (id, version, updated_at, doc) values (?, ?, ?, ?) on conflict do nothing`,
      ),
      update: this.#database.prepare(
        `update ${resources} set version = ?, updated_at = ?, doc = ? where id = ?`,
      ),
      remove: this.#database.prepare(`delete from ${resources} where id = ?`),
      log: this.#database.prepare(`insert into ${changesTable(number)} values (?, ?, ?, ?, ?, ?, ?, ?)`),
    };
    this.#statements.set(number, statements);
    return statements;
  }
}

/** What a row of the change log says about where a change came from. */
interface Origin {
  at: number;
  group: number | null;
}

function staleVersion({ id, expect }: WireChange, before: Before | undefined): Refusal {
  const current = before === undefined ? "is not there" : `has version ${before.version}`;
  const expected = expect <= 0 ? "none" : `version ${expect}`;
  return {
    code: "PRECONDITION_FAILED",
    detail: `The resource ${JSON.stringify(id)} ${current}; expected was ${expected}.`,
  };
}

function hasConstraints({ unique = none, references = none }: NumberedCollection): boolean {
  return unique.length > 0 || references.length > 0;
}

const none: readonly never[] = [];

/** So many changes hold the other writers up for a second or less. */
const maxFollowed = 10_000;

function clearedText(
  { idKind }: NumberedCollection,
  { id, text }: { id: string; text: string },
  cleared: { reference: Reference; id: string },
): string {
  const attributes = withoutId(JSON.parse(text));
  clearReference(attributes, cleared.reference, cleared.id);
  return resourceText(idKind, id, attributes);
}

const tooManyReceipts: Refusal = {
  code: "UNAVAILABLE",
  detail: "As many Idempotency-Keys are kept as may be: until some expire, no other is taken.",
};

function referenced({ id, change }: Deleted): Refusal {
  return { code: "REFERENCED", detail: `Other resources refer to ${JSON.stringify(id)}.`, change };
}

function tooManyFollow({ id, change }: Deleted): Refusal {
  return {
    change,
    code: "REFERENCED",
    detail: `More than ${maxFollowed} resources would change with ${JSON.stringify(id)}: delete or change some of them first.`,
  };
}
