/** Lists in a declaration that contain each item at most once. */
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { shortJson } from "./messages.ts";

/**
 * Reads every item of a list with `read`, which gets the item and its place. Throws StartError with every fault, also for
 * an item that is in the list twice: two values with the same `identityOf`.
 */
export function readDistinct<Value>(
  declared: unknown,
  at: string,
  read: (item: unknown, at: string) => Value,
  identityOf: (value: Value) => string = JSON.stringify,
): readonly Value[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared)) throw new StartError(`${at} must be a list, not ${shortJson(declared)}.`);
  const seen = new Set<string>();
  return readEach<unknown, Value>(declared, (item, n) => {
    const place = `${at}[${n}]`;
    const value = read(item, place);
    const identity = identityOf(value);
    if (seen.has(identity)) throw new StartError(`${place} is in the list twice. Remove one.`);
    seen.add(identity);
    return value;
  });
}
