/** Copies what a configuration module exports to plain data. A module can export anything, also getters and cycles. */
import type { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";

/**
 * A plain copy of a configuration. A value whose content would be ignored, such as a Map, is a fault. A function or a symbol is
 * a fault too, and inside schemas every value that JSON does not have. In the copy, reading such a member throws a StartError without faults. If a
 * getter of the module throws an error, `toPlain` throws it.
 */
export function toPlain(configuration: unknown, faults: StartFaults): unknown {
  const { get, value } = copyOf(configuration, { path: [], ancestors: new Set(), faults });
  return faults.valueOf(get ?? (() => value as unknown));
}

type Path = readonly string[];

interface Context {
  path: Path;
  /** The objects that contain the value. */
  ancestors: ReadonlySet<unknown>;
  faults: StartFaults;
}

/** The copy of a value as a member of an object. A value with a fault becomes a getter that throws. */
function copyOf(value: unknown, context: Context): PropertyDescriptor {
  const { path, ancestors, faults } = context;
  const fault = faultOf(value, isInSchema(path)) ?? (ancestors.has(value) ? "refers to itself" : undefined);
  if (fault === undefined)
    return { value: withCopiedMembers(value, context), enumerable: true, writable: true, configurable: true };
  const get = faults.read(path, () => {
    throw new StartError(`${placeOf(path)} ${fault}.`);
  });
  return { get, enumerable: true };
}

function withCopiedMembers(value: unknown, { path, ancestors, faults }: Context): unknown {
  if (typeof value !== "object" || value === null) return value;
  const within = { ancestors: new Set(ancestors).add(value), faults };
  const entries: [string, unknown][] = Array.isArray(value)
    ? Array.from(value, (item: unknown, n) => [String(n), item]) // also the gaps of a sparse array
    : Object.entries(value);
  const copy = Array.isArray(value) ? [] : {};
  for (const [name, inner] of entries)
    Object.defineProperty(copy, name, copyOf(inner, { ...within, path: [...path, name] }));
  return copy;
}

const notJson = "which is not a JSON value";

/**
 * The fault of a value itself, without its members. Outside schemas, the readers of options check the values. But no option is
 * a function, and threads cannot send one.
 */
function faultOf(value: unknown, isSchema: boolean): string | undefined {
  if (typeof value === "object" && value !== null) {
    return isPlain(value) ? undefined : `must be a plain object or list, not ${kindOf(value)}`;
  }
  if (typeof value === "function" || typeof value === "symbol") return `is a ${typeof value}, ${notJson}`;
  if (!isSchema) return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `is ${value}, ${notJson}`;
  if (value === undefined) return `is undefined, ${notJson}: leave it out`;
  return typeof value === "bigint" ? `is ${value}n, ${notJson}` : undefined;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** `a Date`, or `an object with a prototype` if the prototype has no name. */
function kindOf(value: object): string {
  const made = (value as { constructor?: unknown }).constructor;
  if (typeof made !== "function" || made === Object || made.name === "") return "an object with a prototype";
  return `${/^[AEIOU]/.test(made.name) ? "an" : "a"} ${made.name}`;
}

const schemaDepth = 3;

/** Whether the path leads to `collections.<name>.schema` or below it. */
function isInSchema(path: Path): boolean {
  return path.length >= schemaDepth && path[0] === "collections" && path[2] === "schema";
}

/** The name of a place in messages: with dots for options, and with slashes below a schema. */
function placeOf(path: Path): string {
  if (path.length === 0) return "the configuration";
  if (!isInSchema(path) || path.length === schemaDepth) return path.join(".");
  return `${path.slice(0, schemaDepth).join(".")} at ${path.slice(schemaDepth).join("/")}: the value`;
}
