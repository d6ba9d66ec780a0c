/**
 * The secret of a store: random bytes that are created with the store. Services use it as the key of every tag that hides a
 * value from callers. All services on the store therefore make the same tags, even after a restart. The secret never leaves
 * the store, except into a copy of the store.
 *
 * Stores keep the secret as integers, in the table `meta`, with a checksum.
 */
import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { Problem } from "../../errors.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan } from "../sql/plans.ts";
import { command, meta, query } from "../sql/table.ts";

/** The names of the rows that contain the secret. */
export const secretNames = ["secret_1", "secret_2", "secret_3"] as const;

/** The name of the row with the checksum of the parts. A store of an earlier version has none. */
const checksumName = "secret_checksum";

const bitsOfPart = 48;

/** Makes a new secret: a random integer for each name. */
export function newSecret(): readonly number[] {
  return secretNames.map(() => randomInt(2 ** bitsOfPart - 1));
}

/** The secret as the bytes of a key. */
export function secretBytes(parts: readonly number[]): Buffer {
  const bytes = Buffer.alloc((bitsOfPart / 8) * parts.length);
  for (const [n, part] of parts.entries()) bytes.writeUIntBE(part, (bitsOfPart / 8) * n, bitsOfPart / 8);
  return bytes;
}

/** Whether the numbers of a store have a secret, and its checksum is right. */
export function isIntactSecret(numbers: ReadonlyMap<string, number>): boolean {
  const parts = secretNames.map((name) => numbers.get(name) ?? -1);
  const isWhole = parts.every((part) => Number.isSafeInteger(part) && part >= 0 && part < 2 ** bitsOfPart);
  return isWhole && (numbers.get(checksumName) ?? checksumOf(parts)) === checksumOf(parts);
}

function checksumOf(parts: readonly number[]): number {
  return crc32(JSON.stringify(parts));
}

/** The rows of a secret. */
function rowsOf(parts: readonly number[]): { name: string; value: number }[] {
  const rows = secretNames.map((name, n) => ({ name, value: parts[n] as number }));
  return [...rows, { name: checksumName, value: checksumOf(parts) }];
}

/** The secret in the table of a store. */
export class SecretPlans {
  readonly #dialect: Dialect;
  readonly #table: string;
  readonly #read: () => Plan<ReadonlyMap<string, number>>;
  readonly #set: (name: string, value: number) => Plan<void>;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#table = `${dialect.tablePrefix}meta`;
    const names = [...secretNames, checksumName].map((name) => `'${name}'`).join(", ");
    this.#read = query(
      `select name, value from ${this.#table} where name in (${names})`,
      (rows) => new Map(rows.map(([name, value]) => [String(name), Number(value)])),
    );
    this.#set = command(`update ${this.#table} set value = $2::bigint where name = $1::text`);
  }

  /** The parts of the secret. Throws DATA_DAMAGED. */
  *read(): Plan<number[]> {
    const numbers = yield* this.#read();
    if (!isIntactSecret(numbers))
      throw new Problem(
        "DATA_DAMAGED",
        `The secret of the store is damaged: its parts in the table ${this.#table} are not those that were written. Restore a backup.`,
      );
    return secretNames.map((name) => numbers.get(name) as number);
  }

  /** Adds a secret to a new store. If another instance has created the store first, its secret stays. */
  *add(): Plan<void> {
    yield* this.#dialect.insertNew(this.#table, meta, rowsOf(newSecret()));
  }

  /** Replaces the secret with that of another store. */
  *replace(parts: readonly number[]): Plan<void> {
    for (const { name, value } of rowsOf(parts)) yield* this.#set(name, value);
  }
}
