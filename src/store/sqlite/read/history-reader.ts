/** Reads old versions of resources from the change log. The caller keeps a transaction open. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { LoggedRowKey, PastLookups } from "../../core/changed-resources.ts";
import { decide } from "../../core/decision.ts";
import {
  type HistoryLookups,
  type LoggedVersion,
  SliceSize,
  stateAt,
  versionOf,
  withTexts,
} from "../../core/history-reads.ts";
import type { LogSnapshot } from "../../core/logged-store.ts";
import { sequenceAtSql } from "../../core/sequence-at.ts";
import { isDifference, maxChain } from "../../core/superseded.ts";
import type {
  ChangedResource,
  ChangedTexts,
  ChangeKind,
  KeptText,
  LoggedChange,
  LoggedKey,
  LogHead,
  LogSlice,
  ResourceChange,
} from "../../port/change-log.ts";
import type { Stored } from "../../port/stored.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { Gaps } from "../file/gaps.ts";
import { changesTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import type { Reader } from "./reader.ts";

/** The prepared statements of one collection. */
interface Statements {
  current: StatementSync;
  after: StatementSync;
  at: StatementSync;
  keys: StatementSync;
  sequenceAt: StatementSync;
  page: StatementSync;
  upTo: StatementSync;
  oldest: StatementSync;
  chain: StatementSync;
}

/** The change log on one connection. */
export class HistoryReader implements LogSnapshot<NumberedCollection> {
  readonly #database: DatabaseSync;
  readonly #collections = new Map<number, Statements>();
  readonly #gaps: Gaps;
  readonly #heads: Pick<Reader, "head">;

  constructor(database: DatabaseSync, heads: Pick<Reader, "head">) {
    this.#database = database;
    this.#gaps = new Gaps(database);
    this.#heads = heads;
  }

  /** How far the log of a collection goes. */
  logHead(collection: NumberedCollection): LogHead {
    const { sequence } = this.#heads.head(collection);
    return { sequence, gapsUpTo: this.#gaps.upTo(collection.number) };
  }

  /** The change log of a collection after a sequence: at most `limit` changes, or `maxSliceBytes` of text. */
  changesAfter(collection: NumberedCollection, sequence: number, limit: number): LogSlice {
    const changes: LoggedChange[] = [];
    const size = new SliceSize();
    for (let rows = size.next(limit); rows > 0; rows = size.next(limit)) {
      const read = this.#read(collection, changes.at(-1)?.sequence ?? sequence, rows);
      changes.push(...read);
      if (read.length < rows) break;
      size.note(read);
    }
    return { changes, ...this.logHead(collection) };
  }

  /** The change with a sequence. */
  changeAt({ number }: NumberedCollection, sequence: number): LoggedKey | undefined {
    const row = this.#statementsOf(number).at.get(sequence);
    if (row === undefined) return undefined;
    const { version, kind, at } = toResourceChange(row);
    return { id: String(row.id), version, kind, at };
  }

  #read(collection: NumberedCollection, after: number, limit: number): LoggedChange[] {
    const rows = this.#statementsOf(collection.number).after.all(after, limit);
    const logged = rows.map((row) => ({
      ...toResourceChange(row),
      id: String(row.id),
      kept: row.superseded === null ? null : String(row.superseded),
    }));
    return decide(withTexts(logged), (id) => this.#lookupsOf(collection, id));
  }

  /** The changes of a resource below a version, newest first. */
  changes({ number }: NumberedCollection, id: string, page: { before: number; limit: number }) {
    return this.#statementsOf(number).page.all(id, page.before, page.limit).map(toResourceChange);
  }

  /** A version of a resource: the current one, or one whose change is in the log. */
  version(collection: NumberedCollection, id: string, version: number): Stored | undefined {
    return decide(versionOf(id, version), this.#lookupsOf(collection, id));
  }

  /** The version of a resource at a time. */
  at(collection: NumberedCollection, id: string, at: number): Stored | undefined {
    return decide(stateAt(id, at), this.#lookupsOf(collection, id));
  }

  /** The sequence of a collection at a time. */
  sequenceAt({ number }: NumberedCollection, at: number): number {
    return Number(this.#statementsOf(number).sequenceAt.get(at)?.sequence);
  }

  /** The changes of a collection after a sequence, without their texts. */
  keysAfter({ number }: NumberedCollection, sequence: number, limit: number): LoggedRowKey[] {
    return this.#statementsOf(number)
      .keys.all(sequence, limit)
      .map((row) => ({
        id: String(row.id),
        sequence: Number(row.sequence),
        ...toVersion(row),
        group: toGroup(row),
      }));
  }

  /** The lookups for the changes after a time. */
  past(collection: NumberedCollection): PastLookups {
    return {
      sequences: (at) => ({
        current: this.#heads.head(collection).sequence,
        past: this.sequenceAt(collection, at),
      }),
      changes: (after, limit) => this.keysAfter(collection, after, limit),
      texts: (changed, from, needsPresent) => {
        const texts: ChangedTexts[] = [];
        let length = 0;
        for (let n = from; n < changed.length && length < maxTextsLength; n++) {
          const found = this.textsOf(collection, changed[n] as ChangedResource, needsPresent);
          texts.push(found);
          length += leastLength + lengthOfTexts(found);
        }
        return texts;
      },
    };
  }

  /** The texts of a resource, to undo its changes. */
  textsOf(
    collection: NumberedCollection,
    { id, version, lastVersion, exists }: ChangedResource,
    needsPresent: boolean,
  ): ChangedTexts {
    const lookups = this.#lookupsOf(collection, id);
    const chain = lookups.chain(version);
    const needsNext = isDifference(chain.at(-1)?.kept ?? "");
    return {
      chain,
      current: exists && (needsPresent || needsNext) ? lookups.current() : undefined,
      deleted: !exists && needsPresent ? (lookups.chain(lastVersion)[0]?.kept ?? undefined) : undefined,
    };
  }

  #lookupsOf({ number, idKind }: NumberedCollection, id: string) {
    const statements = this.#statementsOf(number);
    return {
      current: () => toStored(id, statements.current.get(toSqliteId(idKind, id))),
      sequenceAt: (at) => Number(statements.sequenceAt.get(at)?.sequence),
      upTo: (version) => toLoggedVersion(statements.upTo.get(id, version)),
      oldest: () => toLoggedVersion(statements.oldest.get(id)),
      chain: (version) => takeChain(statements.chain.iterate(id, version, maxChain)),
    } satisfies HistoryLookups;
  }

  #statementsOf(number: number): Statements {
    const known = this.#collections.get(number);
    if (known !== undefined) return known;
    const prepare = (sql: string) => this.#database.prepare(sql);
    const changes = changesTable(number);
    const select = `select sequence, version, kind, at from ${changes}`;
    const columns = `sequence, version, kind, at, principal, "group"`;
    const statements = {
      current: prepare(`select version, updated_at, doc from ${resourcesTable(number)} where id = ?`),
      after: prepare(
        `select ${columns}, id, superseded from ${changes} where sequence > ? order by sequence limit ?`,
      ),
      at: prepare(`select ${columns}, id from ${changes} where sequence = ?`),
      keys: prepare(
        `select sequence, version, kind, at, id, "group" from ${changes} where sequence > ? order by sequence limit ?`,
      ),
      sequenceAt: prepare(sequenceAtSql(changes, "?")),
      page: prepare(
        `select ${columns} from ${changes} where id = ? and version < ? order by version desc limit ?`,
      ),
      upTo: prepare(`${select} where id = ? and version <= ? order by version desc limit 1`),
      oldest: prepare(`${select} where id = ? order by version limit 1`),
      chain: prepare(
        `select version, superseded from ${changes} where id = ? and version >= ? order by version limit ?`,
      ),
    };
    this.#collections.set(number, statements);
    return statements;
  }
}

/** The texts that one lookup reads, in characters. They take a few milliseconds of the calling thread. */
const maxTextsLength = 524_288;

/** A shorter text takes as long as one of this many characters. */
const leastLength = 2_048;

function lengthOfTexts({ chain, current, deleted = "" }: ChangedTexts): number {
  const kept = chain.reduce((sum, each) => sum + (each.kept?.length ?? 0), 0);
  return kept + (current?.text.length ?? 0) + deleted.length;
}

type Row = Record<string, unknown>;

function toResourceChange(row: Row): ResourceChange {
  return {
    sequence: Number(row.sequence),
    version: Number(row.version),
    kind: row.kind as ChangeKind,
    at: Number(row.at),
    principal: row.principal === null ? undefined : String(row.principal),
    group: toGroup(row),
  };
}

function toGroup({ group }: Row): number | undefined {
  return group === null ? undefined : Number(group);
}

function toLoggedVersion(row: Row | undefined): LoggedVersion | undefined {
  if (row === undefined) return undefined;
  return { sequence: Number(row.sequence), ...toVersion(row) };
}

function toVersion({ version, kind, at }: Row): Omit<LoggedVersion, "sequence"> {
  return { version: Number(version), kind: kind as ChangeKind, at: Number(at) };
}

function toStored(id: string, row: Row | undefined): Stored | undefined {
  if (row === undefined) return undefined;
  return { id, version: Number(row.version), text: String(row.doc), updatedAt: Number(row.updated_at) };
}

function takeChain(rows: Iterable<Record<string, SQLInputValue>>): KeptText[] {
  const chain: KeptText[] = [];
  for (const { version, superseded } of rows) {
    const kept = superseded === null ? null : String(superseded);
    chain.push({ version: Number(version), kept });
    if (kept === null || !isDifference(kept)) break;
  }
  return chain;
}
