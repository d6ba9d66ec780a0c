/** Plain copies of values that the code of a configuration returns: only what JSON can say, without anything of the user's objects. */
import { types } from "node:util";

/** A result of code that the service cannot use. The message says why. */
export class WrongResult extends Error {
  override readonly name = "WrongResult";
  readonly reason: "result" | "promise";

  /** `reason`: whether the result has a wrong value, or is a promise where code cannot wait. */
  constructor(message: string, reason: "result" | "promise" = "result") {
    super(message);
    this.reason = reason;
  }
}

/** Deeper values are refused, before their depth becomes a problem of this thread. */
const maxDepth = 200;

/** A copy of a value. Throws WrongResult with the place for everything that JSON does not have. `subject`: such as "The result of before". */
export function plainCopy(value: unknown, subject: string): unknown {
  return copyOf(value, { subject, place: "" }, new Set());
}

/** What a value is, for a message. */
export function nameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "an array";
  if (types.isProxy(value)) return "a proxy";
  const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {};
  return typeof name === "string" && name !== "" ? `an object of ${name}` : "an object with a prototype";
}

interface At {
  subject: string;
  place: string;
}

function copyOf(value: unknown, at: At, ancestors: ReadonlySet<object>): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object" || types.isProxy(value)) throw wrong(value, at);
  if (ancestors.has(value)) throw new WrongResult(`${textOf(at)} contains itself.`);
  if (ancestors.size > maxDepth)
    throw new WrongResult(`${textOf(at)} has more than ${maxDepth} levels. Return fewer.`);
  const within = new Set(ancestors).add(value);
  const below = (name: string | number) => ({ ...at, place: `${at.place}/${name}` });
  if (Array.isArray(value)) return Array.from(value, (item: unknown, n) => copyOf(item, below(n), within));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw wrong(value, at);
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, { value: inner, get, enumerable }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    if (enumerable !== true) continue;
    if (get !== undefined) throw new WrongResult(`${textOf(below(name))} is a getter. Return plain values.`);
    copy[name] = copyOf(inner, below(name), within);
  }
  return copy;
}

function wrong(value: unknown, at: At): WrongResult {
  const advice =
    value === undefined
      ? "Leave the attribute out, or use null."
      : value instanceof Date
        ? "Use its toISOString()."
        : "Use only objects, arrays, texts, finite numbers, true, false and null.";
  return new WrongResult(`${textOf(at)} is ${nameOf(value)}. ${advice}`);
}

function textOf({ subject, place }: At): string {
  return place === "" ? subject : `${subject} at ${place}`;
}
