/** What a configuration module exports becomes plain data here: a module may hold anything, getters included. */
import type { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";

/**
 * A copy of a module's configuration. A value that would be ignored, such as a Map, is a fault. Inside schemas, so is
 * every value that JSON does not have. In the copy, reading such a member throws a StartError without faults. An error
 * that a getter of the module throws is thrown on.
 */
export function toPlain(configuration: unknown, faults: StartFaults): unknown {
  return faults.valueOf(copyOf(configuration, { path: [], around: new Set(), faults }));
}

type Path = readonly string[];

interface Place {
  path: Path;
  /** The objects around the value. */
  around: ReadonlySet<unknown>;
  faults: StartFaults;
}

/** Returns a function that returns the copy. */
function copyOf(value: unknown, { path, around, faults }: Place): () => unknown {
  const fault = faultOf(value, isInSchema(path)) ?? (around.has(value) ? "refers to itself" : undefined);
  if (fault !== undefined) {
    return faults.read(path, () => {
      throw new StartError(`${placeOf(path)} ${fault}.`);
    });
  }
  if (typeof value !== "object" || value === null) return () => value;
  const within = { around: new Set(around).add(value), faults };
  const copyMember = (inner: unknown, name: string) => copyOf(inner, { ...within, path: [...path, name] });
  const copy = Array.isArray(value)
    ? withMembers(
        [],
        Array.from(value, (item, n) => [String(n), copyMember(item, String(n))]),
      )
    : withMembers(
        {},
        Object.entries(value).map(([name, inner]) => [name, copyMember(inner, name)]),
      );
  return () => copy;
}

/** Members that cannot be read become getters. */
function withMembers(holder: object, members: readonly (readonly [string, () => unknown])[]): object {
  for (const [name, get] of members) Object.defineProperty(holder, name, memberOf(get));
  return holder;
}

function memberOf(get: () => unknown): PropertyDescriptor {
  try {
    return { value: get(), enumerable: true, writable: true, configurable: true };
  } catch {
    return { get, enumerable: true };
  }
}

const notJson = "which is not a JSON value";

/** What is wrong with a value by itself. Outside of schemas, the options look at their values themselves. */
function faultOf(value: unknown, isSchema: boolean): string | undefined {
  if (typeof value === "object" && value !== null) {
    return isPlain(value) ? undefined : `must be a plain object or list, not ${kindOf(value)}`;
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
