/**
 * Integers that a JavaScript number cannot hold. `node:sqlite` throws if a statement returns one. The service never writes one, so damage
 * or another program has made it.
 */
import type { StatementSync } from "node:sqlite";
import { Problem } from "../../../errors.ts";
import { resultCode } from "./failures.ts";

/** Whether `node:sqlite` has thrown because of such an integer. */
export function isTooWide(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE";
}

/**
 * Reads from a statement, and again with big integers if it has such an integer. The checksum of the row is then wrong, and the error
 * names the row. `read` can run twice.
 */
export function withBigIntsIfNeeded<T>(statement: StatementSync, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isTooWide(error)) throw error;
    statement.setReadBigInts(true);
    try {
      return read();
    } finally {
      statement.setReadBigInts(false);
    }
  }
}

/** SQLITE_CONSTRAINT_DATATYPE: a row that is written again has a value that is no integer. */
const constraintDatatype = 3091;

/** The problem of a row with a value that the service never writes, if an error is about one. Returns any other error unchanged. */
export function damagedNumber(error: unknown): unknown {
  if (!isTooWide(error) && resultCode(error) !== constraintDatatype) return error;
  const detail =
    'A number in the store is damaged: the service never writes such a value. "npx holdfast check" names its row. Restore a backup.';
  return new Problem("DATA_DAMAGED", detail, { cause: error });
}
