/** Reads resources as they were from the change log. */
import type { ChangeKind, LoggedChange, ResourceChange } from "../change-log.ts";
import type { Stored } from "../stored.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { Connections, Row } from "./connections.ts";
import { keyOf } from "./keys.ts";
import { type Run, toStored } from "./reads.ts";
import * as statements from "./statements.ts";
import { beginnings, transact } from "./transaction.ts";

/** A row of the log in short. */
interface Found {
  version: number;
  kind: ChangeKind;
  at: number;
}

/** The changes of a collection after a sequence. */
export async function readChanges(
  run: Run,
  { number }: NumberedCollection,
  { sequence, limit }: { sequence: number; limit: number },
): Promise<LoggedChange[]> {
  const { rows } = await run(statements.selectChanges(number, sequence, limit));
  return rows.map(([sequence, id, version, kind, at, principal, group, superseded]) => ({
    sequence: Number(sequence),
    id: String(id),
    version: Number(version),
    kind: kind as ChangeKind,
    at: Number(at),
    principal: principal ?? undefined,
    group: group == null ? undefined : Number(group),
    superseded: superseded ?? undefined,
  }));
}

/** Reads in one snapshot. */
export function inPast<T>(connections: Connections, read: (past: Past) => Promise<T>): Promise<T> {
  return transact(connections, beginnings.snapshot, (transaction) =>
    read(new Past((statement) => transaction.run(statement))),
  );
}

/** The change log as the history of single resources, in one snapshot. */
export class Past {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  /** The changes of a resource below a version, newest first. */
  async changes({ number }: NumberedCollection, id: string, page: { before: number; limit: number }) {
    const { rows } = await this.#run(statements.selectChangesOf(number, id, page));
    return rows.map(
      ([sequence, version, kind, at, principal, group]): ResourceChange => ({
        sequence: Number(sequence),
        version: Number(version),
        kind: kind as ChangeKind,
        at: Number(at),
        principal: principal ?? undefined,
        group: group == null ? undefined : Number(group),
      }),
    );
  }

  /** A version of a resource: the current one, or one whose change is in the log. */
  async version(collection: NumberedCollection, id: string, version: number): Promise<Stored | undefined> {
    const current = await this.#current(collection, id);
    if (current?.version === version) return current;
    const made = await this.#upTo(collection, id, version);
    if (made?.version !== version || made.kind === "deleted") return undefined;
    return this.#superseded(collection, id, made);
  }

  /** The resource as it was at a time. */
  async at(collection: NumberedCollection, id: string, at: number): Promise<Stored | undefined> {
    const current = await this.#current(collection, id);
    if (current !== undefined && current.updatedAt <= at) return current;
    const made = await this.#lastUntil(collection, id, at);
    if (made === undefined || made.kind === "deleted") return undefined;
    return this.#superseded(collection, id, made);
  }

  async #current(collection: NumberedCollection, id: string): Promise<Stored | undefined> {
    const keys = [keyOf(collection.idKind, id)];
    const { rows } = await this.#run(statements.selectResources(collection.number, keys));
    return rows[0] === undefined ? undefined : toStored(collection, rows[0]);
  }

  /** What the next change put another text in place of. A create that follows a delete has nothing to tell. */
  async #superseded(
    { number }: NumberedCollection,
    id: string,
    { version, at }: Found,
  ): Promise<Stored | undefined> {
    const { rows } = await this.#run(statements.selectSuperseded(number, id, version + 1));
    const text = rows[0]?.[0];
    return typeof text === "string" ? { id, version, text, updatedAt: at } : undefined;
  }

  /** The last change that had happened by then, by the times of the commits. */
  async #lastUntil({ number }: NumberedCollection, id: string, at: number): Promise<Found | undefined> {
    const { rows } = await this.#run(statements.selectChangeUntil(number, id, at));
    return toFound(rows[0]);
  }

  async #upTo({ number }: NumberedCollection, id: string, version: number): Promise<Found | undefined> {
    const { rows } = await this.#run(statements.selectChangeUpTo(number, id, version));
    return toFound(rows[0]);
  }
}

function toFound(row: Row | undefined): Found | undefined {
  if (row === undefined) return undefined;
  const [version, kind, at] = row;
  return { version: Number(version), kind: kind as ChangeKind, at: Number(at) };
}
