/**
 * The checksums of rows, and the damage that they find. Each row has a checksum in a separate column, and each read of the row
 * compares it. If the disk has changed a row, a read of it fails. A checksum is a signed integer of 32 bits.
 */
import { crc32 } from "node:zlib";
import { Problem } from "../../errors.ts";
import type { CollectionRecord } from "../port/record.ts";
import type { Stored } from "../port/stored.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Row } from "../sql/plans.ts";
import type { changes, deleted, keys, RowOf, receipts } from "../sql/table.ts";

/** A row before it has its checksum. */
type Bare<Row> = Omit<Row, "checksum">;

/** A change without its text, which has a checksum of its own (`kept_checksum`). */
export type ChangeRow = {
  readonly [Name in Exclude<keyof typeof changes, "superseded" | "checksum">]:
    | RowOf<typeof changes>[Name]
    | (undefined extends RowOf<typeof changes>[Name] ? null : never);
};

/**
 * The checksum of a resource. It covers the name of the collection and the id, so the row of another resource does not match
 * either. These two and the numbers are mixed in one by one. One text of all parts would double the time.
 */
export function checksumOfResource(collection: string, { id, version, updatedAt, text }: Stored): number {
  let head = mixText(mixText(seed, collection), id);
  head = mixNumber(mixNumber(head, version), updatedAt);
  return crc32(text, head >>> 0) | 0;
}

/** The checksum of the superseded text of a change, as the change keeps it. */
export function checksumOfKept(superseded: string): number {
  return crc32(superseded) | 0;
}

/** The checksum of a change. */
export function checksumOfChange(collection: string, row: ChangeRow): number {
  let sum = mixText(mixText(mixText(seed, collection), row.id), row.kind);
  sum = mixNumber(mixNumber(mixNumber(sum, row.sequence), row.version), row.at);
  sum = mixText(sum, row.principal);
  return mixNumber(mixNumber(sum, row.group), row.kept_checksum);
}

/** The checksum of the last version of a deleted id. */
export function checksumOfDeleted(collection: string, row: Bare<DeletedRow>): number {
  return mixNumber(mixText(mixText(seed, collection), row.id), row.version);
}

/** The checksum of a receipt. */
export function checksumOfReceipt(row: Bare<RowOf<typeof receipts>>): number {
  return crc32(JSON.stringify([row.key, row.fingerprint, row.answer, row.brief, row.expires_at])) | 0;
}

/** The checksum of an API key. It leaves out the last use, which changes often and decides nothing. */
export function checksumOfKey(row: Omit<Bare<RowOf<typeof keys>>, "last_used_at">): number {
  const { prefix, hash, name, subject, roles, scopes, created_at, expires_at, revoked_at } = row;
  const cells = [prefix, hash, name, subject, roles, scopes, created_at, expires_at, revoked_at];
  return crc32(JSON.stringify(cells)) | 0;
}

/** Returns the resource. Throws DATA_DAMAGED if its checksum differs. */
export function intactResource(collection: string, resource: Stored, checksum: unknown): Stored {
  if (checksumOfResource(collection, resource) !== Number(checksum))
    throw new Problem("DATA_DAMAGED", damageOf(nameOfResource(collection, resource.id)));
  return resource;
}

/** The resource in a row with the key, the version, the time, the text and the checksum. Throws DATA_DAMAGED. */
export function storedIn(
  { idOf }: Pick<Dialect, "idOf">,
  { idKind, name }: Pick<CollectionRecord, "idKind" | "name">,
  [key, version, updatedAt, text, checksum]: Row,
): Stored {
  const id = idOf(idKind, key);
  const stored = { id, version: Number(version), text: String(text), updatedAt: Number(updatedAt) };
  return intactResource(name, stored, checksum);
}

/** Whether the checksums of a change and of its text are right. A row without the column of the text has only the first one. */
export function isIntactChange(collection: string, row: SummedChange): boolean {
  if (checksumOfChange(collection, row) !== row.checksum) return false;
  if (!("superseded" in row)) return true;
  const { superseded, kept_checksum: kept } = row;
  return superseded === undefined ? kept === undefined : checksumOfKept(superseded) === kept;
}

/** A change with its checksum, and with or without its text. */
export type SummedChange = ChangeRow & {
  readonly checksum: number;
  readonly superseded?: string | undefined;
};

/** Throws DATA_DAMAGED if a change is not intact. */
export function requireIntactChange(collection: string, row: SummedChange): void {
  if (!isIntactChange(collection, row))
    throw new Problem("DATA_DAMAGED", damageOf(nameOfChange(collection, row)));
}

type DeletedRow = RowOf<typeof deleted>;

/** Returns the row of a deleted id. Throws DATA_DAMAGED if its checksum differs. */
export function intactDeleted(collection: string, row: DeletedRow): DeletedRow {
  if (checksumOfDeleted(collection, row) !== row.checksum)
    throw new Problem("DATA_DAMAGED", damageOf(nameOfDeleted(collection, row)));
  return row;
}

/** The name of a resource in messages. */
export function nameOfResource(collection: string, id: string): string {
  return `The resource ${collection}/${id}`;
}

/** The name of a change in messages. */
export function nameOfChange(collection: string, { id, version }: Pick<ChangeRow, "id" | "version">): string {
  return `The change log of the resource ${collection}/${id}, at version ${version},`;
}

/** The name of the row of a deleted id in messages. */
export function nameOfDeleted(collection: string, { id }: Pick<DeletedRow, "id">): string {
  return `The version of the last delete of ${collection}/${id}`;
}

/** The name of a receipt in messages. */
export function nameOfReceipt({ key }: { key: string }): string {
  return `The stored response for the Idempotency-Key in ${key}`;
}

/** The name of an API key in messages. */
export function nameOfKey({ prefix }: { prefix: string }): string {
  return `The API key ${prefix}`;
}

/** What is wrong with a row whose contents are not those that were written. */
export const wrongChecksum = "its checksum is wrong";

/** The message for a damaged row. */
export function damageOf(name: string, reason = wrongChecksum): string {
  return `${name} is damaged in the store: ${reason}. Restore a backup.`;
}

/** The problem of a collection whose change log has a higher sequence than its counter. */
export function damagedCounter(collection: string): Problem {
  const detail = `The counter of the collection ${collection} is damaged in the store: its change log has later changes.`;
  return new Problem(
    "DATA_DAMAGED",
    `${detail} Restore a backup, or import an export of the collection into a new store.`,
  );
}

/** The problem of a collection whose counters have a number that the service never writes. */
export function damagedCounters(collection: string): Problem {
  return new Problem(
    "DATA_DAMAGED",
    `The counters of the collection ${collection} are damaged in the store. Restore a backup, or import an export of the collection into a new store.`,
  );
}

/** Returns the number of a group of changes. Throws DATA_DAMAGED if the service never writes such a number. */
export function requireGroup(group: number): number {
  if (Number.isSafeInteger(group)) return group;
  throw new Problem(
    "DATA_DAMAGED",
    "The number of the last group of changes is damaged in the store. Restore a backup.",
  );
}

/** Whether an error says that a row is damaged. */
export function isDamage(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "DATA_DAMAGED";
}

const seed = 0x811c9dc5 | 0;
const prime = 0x01000193;

/** Each step is reversible, so two inputs that differ in one place never have the same result. */
function mixText(before: number, text: string | null | undefined): number {
  let sum = mixNumber(before, text?.length);
  if (text != null) for (let n = 0; n < text.length; n++) sum = Math.imul(sum ^ text.charCodeAt(n), prime);
  return sum ^ (sum >>> 15);
}

/** Mixes in an integer, or -1 if it is absent. */
function mixNumber(before: number, given: number | null | undefined): number {
  const value = given ?? -1;
  let sum = Math.imul(before ^ value, prime);
  sum = Math.imul(sum ^ (sum >>> 15) ^ (value / 2 ** 32), prime);
  return sum ^ (sum >>> 15);
}

const states = [undefined, "damaged", "unchecked"] as const;

/** The damage of one store. */
export class Damage {
  readonly #cell: Int32Array<ArrayBufferLike>;

  /** The cell is in memory that the threads share. Its value is the place in `states`. */
  constructor(
    cell: Int32Array<ArrayBufferLike> = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  ) {
    this.#cell = cell;
  }

  /** The memory of the cell, for another thread. */
  get cell(): Int32Array<ArrayBufferLike> {
    return this.#cell;
  }

  /** What is known, for the health of the store. `undefined`: no damage. */
  get state(): "damaged" | "unchecked" | undefined {
    return states[Atomics.load(this.#cell, 0)];
  }

  /** Notes what a complete walk has found. */
  set(isDamaged: boolean): void {
    Atomics.store(this.#cell, 0, isDamaged ? 1 : 0);
  }

  /** Notes that the last walk did not reach its end. */
  noteUnchecked(): void {
    Atomics.compareExchange(this.#cell, 0, 0, 2);
  }

  /** Notes an error if it says that a row is damaged. Returns the error. */
  seen<T>(error: T): T {
    if (isDamage(error)) this.set(true);
    return error;
  }
}
