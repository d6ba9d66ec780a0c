/**
 * The secret of a store: random bytes that are created with the store. Services use it as the key of every tag that hides a
 * value from callers. All services on the store therefore make the same tags, even after a restart. The secret never leaves
 * the store, except into a copy of the store.
 *
 * Stores keep the secret as integers, in the table `meta`.
 */
import { randomInt } from "node:crypto";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan } from "../sql/plans.ts";
import { command, meta, numbersOf, query } from "../sql/table.ts";

/** The names of the rows that contain the secret. */
const secretNames = ["secret_1", "secret_2", "secret_3"] as const;

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

/** The secret in the table of a store. */
export class SecretPlans {
  readonly #dialect: Dialect;
  readonly #table: string;
  /** The parts of the secret. */
  readonly read: () => Plan<number[]>;
  readonly #set: (name: string, part: number) => Plan<void>;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#table = `${dialect.tablePrefix}meta`;
    const names = secretNames.map((name) => `'${name}'`).join(", ");
    this.read = query(`select value from ${this.#table} where name in (${names}) order by name`, numbersOf);
    this.#set = command(`update ${this.#table} set value = $2::bigint where name = $1::text`);
  }

  /** Adds a secret to a new store. If another instance has created the store first, its secret stays. */
  *add(): Plan<void> {
    const rows = newSecret().map((value, n) => ({ name: secretNames[n] as string, value }));
    yield* this.#dialect.insertNew(this.#table, meta, rows);
  }

  /** Replaces the secret with that of another store. */
  *replace(parts: readonly number[]): Plan<void> {
    for (const [n, name] of secretNames.entries()) yield* this.#set(name, parts[n] as number);
  }
}
