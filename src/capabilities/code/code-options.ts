/** Checks the options of a configuration that are code. It calls no function. */
import { fileURLToPath } from "node:url";
import { mustBe, withKnownMembers } from "../../collection/messages.ts";
import { readMembers, StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import type { Reader } from "../../option.ts";
import { isAsyncFunction, isFunctionMark } from "../../user-module.ts";
import type { CollectionCode } from "./settings.ts";

/** Throws StartError unless the value at a place is a function, or the mark of one. */
export function requireFunction(value: unknown, place: string): void {
  if (typeof value === "function" || isFunctionMark(value)) return;
  throw mustBe(place, "a function", value);
}

/** Throws StartError unless the value at a place is a function that is not `async`, or the mark of one. */
export function requireSynchronous(value: unknown, place: string): void {
  requireFunction(value, place);
  if (isAsyncFunction(value))
    throw new StartError(
      `${place} is async, but it must be synchronous. Remove "async". To call other services, use a consumer or a route.`,
    );
}

/** Reads `code.file`: a path, or the URL of a file. Returns a path, which can be relative to the working directory. */
export const moduleFile: Reader<string, string | URL> = (value) => {
  const isUrl = value instanceof URL || (typeof value === "string" && URL.canParse(value));
  const url = isUrl ? URL.parse(String(value)) : null;
  if (url?.protocol === "file:") return fileURLToPath(url);
  if (typeof value === "string" && value !== "" && url === null) return value;
  throw new Error(
    'must be the path of a module or its URL, such as new URL("./holdfast.config.ts", import.meta.url)',
  );
};

/** Reads `hooks` of a collection. Throws StartError. */
export function readHooks(value: unknown, place: string): CollectionCode {
  if (!isObject(value)) throw mustBe(place, "an object with before or validate", value);
  const faults = new StartFaults();
  const refuse = (name: string) => `${place}.${name} is not an option.`;
  const hooks = withKnownMembers(value, { names: ["before", "validate", "with"], refuse }, faults);
  const has = (name: "before" | "validate") =>
    faults.read([name], () => {
      if (hooks[name] === undefined) return false;
      requireSynchronous(hooks[name], `${place}.${name}`);
      return true;
    });
  const [hasBefore, hasValidate] = [has("before"), has("validate")];
  const related = faults.read(["with"], () => readWith(hooks.with, `${place}.with`));
  faults.throwIfAny();
  if (!hasBefore() && !hasValidate())
    throw new StartError(`${place} has neither before nor validate. Add one, or remove it.`);
  return { hasBefore: hasBefore(), hasValidate: hasValidate(), with: related() };
}

/** How many related resources each call of a hook gets at most. */
const maxRelated = 10;

function readWith(value: unknown, place: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length <= maxRelated && value.every((name) => typeof name === "string"))
    return [...new Set(value as string[])];
  throw mustBe(place, `a list of at most ${maxRelated} names of relations`, value);
}

/** Reads a member of every collection that declares it. Throws one StartError with the faults of all. */
export function readDeclared<Value>(
  declared: ReadonlyMap<string, unknown>,
  member: string,
  read: (value: unknown, place: string) => Value,
): ReadonlyMap<string, Value> {
  const found = readMembers(Object.fromEntries(declared), (value, name) => {
    const faults = new StartFaults();
    const reading = faults.read([member], () => read(value, `collections.${name}.${member}`));
    faults.throwIfAny();
    return reading();
  });
  return new Map(found);
}
