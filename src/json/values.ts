/** JSON values: their limits, members with any name, and one text for equal values. Parsing is in `parse.ts`. */
import { Problem } from "../errors.ts";

/** How deep and how wide a JSON value can be. */
export interface JsonLimits {
  /** Levels of nesting. A scalar has 0. */
  depth: number;
  /** Members of one object. */
  members: number;
}

/** The limits of a text for which the configuration sets none. */
export const defaultJsonLimits: JsonLimits = { depth: 64, members: 10_000 };

/** The problem of a result that is nested too deep, or has too many members in one object. */
export function beyondLimits({ depth, members }: JsonLimits): Problem {
  return new Problem(
    "BODY_TOO_DEEP",
    `The result would be nested more than ${depth} levels deep, or an object in it would have more than ${members} members.`,
  );
}

/** Throws BODY_TOO_DEEP if a value that the service has computed exceeds the limits. */
export function requireLimits(value: unknown, limits: JsonLimits): void {
  if (!isWithin(value, limits)) throw beyondLimits(limits);
}

/** Whether a value that is nested at `depth` already is within the limits. */
export function isWithin(value: unknown, limits: JsonLimits, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth >= limits.depth) return false;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (!Array.isArray(value) && items.length > limits.members) return false;
  for (let i = 0; i < items.length; i++) {
    if (!isWithin(items[i], limits, depth + 1)) return false;
  }
  return true;
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `JSON.parse`, but `undefined` for a text that is not JSON. It is not strict: use `parseJson` for data that is stored. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the service refuses a string, because it contains a lone surrogate or a null character. */
export function isBadString(text: string): boolean {
  return !text.isWellFormed() || text.includes("\0");
}

/** Sets a member, whatever its name. An assignment to `__proto__` would set the prototype instead. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") {
    object[name] = value;
    return;
  }
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** The same text for equal values, whatever the order of their members. */
export function canonicalText(value: unknown): string {
  return isInOrder(value) ? JSON.stringify(value) : sortedText(value);
}

/** Whether `JSON.stringify` writes the members of all objects in order. This check is cheaper than `sortedText`. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (!isInOrder(item)) return false;
    return true;
  }
  let last: string | undefined;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if ((last !== undefined && name < last) || !isInOrder(members[name])) return false;
    last = name;
  }
  return true;
}

function sortedText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(",")}]`;
  const members = value as Record<string, unknown>;
  const texts = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${sortedText(members[name])}`);
  return `{${texts.join(",")}}`;
}
