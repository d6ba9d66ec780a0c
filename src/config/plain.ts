/** What a configuration module exports becomes plain data here: a module may hold anything, getters included. */
import { StartError } from "../errors.ts";

/**
 * A copy of a module's configuration. Throws StartError for what would be ignored, such as a Map, and inside of
 * schemas for everything that JSON does not have; what a getter throws passes through.
 */
export function toPlain(configuration: unknown): unknown {
  return copyOf(configuration, [], new Set());
}

type Path = readonly string[];

function copyOf(value: unknown, path: Path, around: ReadonlySet<unknown>): unknown {
  const fault = faultOf(value, isInSchema(path)) ?? (around.has(value) ? "refers to itself" : undefined);
  if (fault !== undefined) throw new StartError(`${placeOf(path)} ${fault}.`);
  if (typeof value !== "object" || value === null) return value;
  const within = new Set(around).add(value);
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => copyOf(item, [...path, String(index)], within));
  }
  const members = Object.entries(value).map(([name, inner]) => [
    name,
    copyOf(inner, [...path, name], within),
  ]);
  return Object.fromEntries(members);
}

const notJson = "which JSON does not have";

/** What is wrong with a value by itself. Outside of schemas, the options look at their values themselves. */
function faultOf(value: unknown, isSchema: boolean): string | undefined {
  if (typeof value === "object" && value !== null) {
    return isPlain(value) ? undefined : `is ${kindOf(value)}, and must be a plain object or list`;
  }
  if (!isSchema) return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `is ${value}, ${notJson}`;
  if (value === undefined) return `is undefined, ${notJson}: leave it out`;
  if (typeof value === "bigint") return `is ${value}n, ${notJson}`;
  return typeof value === "function" || typeof value === "symbol"
    ? `is a ${typeof value}, ${notJson}`
    : undefined;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** `a Date`; whatever has no name of its own is some object with a prototype. */
function kindOf(value: object): string {
  const made = (value as { constructor?: unknown }).constructor;
  if (typeof made !== "function" || made === Object || made.name === "") return "an object with a prototype";
  return `${/^[AEIOU]/.test(made.name) ? "an" : "a"} ${made.name}`;
}

const schemaDepth = 3;

/** Below `collections.<name>.schema`. */
function isInSchema(path: Path): boolean {
  return path.length >= schemaDepth && path[0] === "collections" && path[2] === "schema";
}

/** With dots as options are named, and below a schema as its other faults are. */
function placeOf(path: Path): string {
  if (path.length === 0) return "the configuration";
  if (!isInSchema(path) || path.length === schemaDepth) return path.join(".");
  return `${path.slice(0, schemaDepth).join(".")} at ${path.slice(schemaDepth).join("/")}: the value`;
}
