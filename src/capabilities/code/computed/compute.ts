/** Calls the functions of computed attributes with copies. A worker does this, or the thread of an application. */
import { types } from "node:util";
import { failureOf } from "../failure.ts";
import type { HookOutput } from "../hooks/hook-call.ts";
import { plainCopy, WrongResult } from "../plain-values.ts";
import type { UserFunction } from "../user-functions.ts";

/** What the functions of a collection get, as texts. */
export interface ComputeInput {
  kind: "computed";
  attributes: readonly { name: string; from: readonly string[] }[];
  /** The JSON text of an object with the attributes in `from`. */
  resource: string;
}

/** Calls the function of each attribute. The text of the output is an object with the values. Never throws. */
export function computeAll(find: (attribute: string) => UserFunction, input: ComputeInput): HookOutput {
  const values: Record<string, unknown> = Object.create(null);
  for (const { name, from } of input.attributes) {
    try {
      const value = compute(find(name), picked(input.resource, from));
      if (value !== undefined) values[name] = plainCopy(value, `The value of ${name}`);
    } catch (error) {
      const { reason, message, refusal } = failureOf(error);
      const what = refusal
        ? "value called refuse() or forbid(). Only hooks can: use hooks.validate."
        : message;
      return { kind: "failed", reason, message: `${name}: ${what}` };
    }
  }
  return { kind: "done", text: JSON.stringify(values) };
}

function compute(value: UserFunction, own: Record<string, unknown>): unknown {
  const result = value(own as never);
  if (!types.isPromise(result)) return result;
  result.catch(() => {}); // Otherwise, its rejection would end the worker.
  throw new WrongResult(
    "value returned a promise. It must be synchronous. To call other services, use a consumer or a route.",
    "promise",
  );
}

/** Each function gets its own copy, so that none sees what another one has changed. */
function picked(resource: string, names: readonly string[]): Record<string, unknown> {
  const all = Object.entries(JSON.parse(resource) as Record<string, unknown>);
  return Object.fromEntries(all.filter(([name]) => names.includes(name)));
}
