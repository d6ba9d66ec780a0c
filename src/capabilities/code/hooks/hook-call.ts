/**
 * Calls one hook with copies, and makes plain text of its result. A worker does this, or the thread of an application. Only texts pass
 * between the code of a configuration and the service, so nothing of its objects reaches the service.
 */
import { types } from "node:util";
import { type CodeCaller, type HookCall, type Refusal, refusalOf } from "../public.ts";

/** What a hook gets, as texts. */
export interface HookInput {
  kind: "before" | "validate";
  operation: HookCall["operation"];
  /** The JSON text of the resource. */
  resource: string;
  /** The JSON text of the stored resource. */
  previous: string | undefined;
  /** The JSON texts of related resources, by the names of the relations. */
  related: Readonly<Record<string, string | undefined>>;
  caller: CodeCaller | undefined;
  /** Unix time in milliseconds. */
  now: number;
}

/** Why code failed, as the metrics name it. */
export type FailureReason = "throw" | "promise" | "result" | "time" | "memory" | "exit" | "load";

/** What became of a call. `text`: the JSON text of what `before` has returned, if it has returned something. */
export type HookOutput =
  | { kind: "done"; text?: string }
  | Refusal
  | { kind: "failed"; reason: FailureReason; message: string };

/** Calls a hook. Never throws. */
export function callHook(hook: (call: HookCall) => unknown, input: HookInput): HookOutput {
  try {
    return outputOf(input, resourceIn(input), hook);
  } catch (error) {
    const refused = refusalOf(error);
    if (refused !== undefined) return refused;
    return {
      kind: "failed",
      reason: error instanceof WrongResult ? "result" : "throw",
      message: describe(error),
    };
  }
}

function resourceIn({ resource }: HookInput): Record<string, unknown> {
  return JSON.parse(resource) as Record<string, unknown>;
}

function outputOf(
  input: HookInput,
  resource: Record<string, unknown>,
  hook: (call: HookCall) => unknown,
): HookOutput {
  const { kind, operation, caller, now } = input;
  const result = hook({
    operation,
    resource,
    previous: parsed(input.previous),
    related: Object.fromEntries(Object.entries(input.related).map(([name, text]) => [name, parsed(text)])),
    caller,
    now: new Date(now),
  });
  if (types.isPromise(result)) {
    // Otherwise, its rejection would end the worker.
    result.catch(() => {});
    const message = `${kind} returned a promise. Hooks cannot wait: use a consumer or a route for what needs input or output.`;
    return { kind: "failed", reason: "promise", message };
  }
  if (result === undefined) {
    if (JSON.stringify(resource) === JSON.stringify(resourceIn(input))) return { kind: "done" };
    throw new WrongResult(
      kind === "before"
        ? "before changed its resource, but returned nothing. Return the resource."
        : "validate changed its resource, which has no effect. Change it in before.",
    );
  }
  if (kind === "validate")
    throw new WrongResult("validate returned a value. Call refuse() to refuse a write, and return nothing.");
  return { kind: "done", text: textOf(result) };
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
}

/** A result that is not a resource. */
class WrongResult extends Error {
  override readonly name = "WrongResult";
}

/** Deeper values are refused, before their depth becomes a problem of this thread. */
const maxDepth = 200;

/** The JSON text of a resource that a hook has made. Throws WrongResult, with the place, for everything that JSON does not have. */
function textOf(result: unknown): string {
  if (typeof result !== "object" || result === null || Array.isArray(result))
    throw new WrongResult(`before returned ${nameOf(result)}. Return the resource, or nothing.`);
  return JSON.stringify(copyOf(result, "", new Set()));
}

function copyOf(value: unknown, place: string, ancestors: ReadonlySet<object>): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object" || types.isProxy(value)) throw wrong(value, place);
  if (ancestors.has(value)) throw new WrongResult(`${at(place)} contains itself.`);
  if (ancestors.size > maxDepth) throw new WrongResult(`${at(place)} is nested too deeply.`);
  const within = new Set(ancestors).add(value);
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, n) => copyOf(item, `${place}/${n}`, within));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw wrong(value, place);
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, { value: inner, get, enumerable }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    if (enumerable !== true) continue;
    if (get !== undefined)
      throw new WrongResult(
        `${at(`${place}/${name}`)} has a function that gets its value. Return plain values.`,
      );
    copy[name] = copyOf(inner, `${place}/${name}`, within);
  }
  return copy;
}

function wrong(value: unknown, place: string): WrongResult {
  const advice =
    value === undefined
      ? "Leave the attribute out, or use null."
      : value instanceof Date
        ? "Use its toISOString()."
        : "A resource has only values of JSON.";
  return new WrongResult(`${at(place)} is ${nameOf(value)}. ${advice}`);
}

function at(place: string): string {
  return place === "" ? "The result of before" : `The result of before at ${place}`;
}

function nameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "an array";
  if (types.isProxy(value)) return "a proxy";
  const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {};
  return typeof name === "string" && name !== "" ? `an object of ${name}` : "an object with a prototype";
}

function describe(error: unknown): string {
  if (error instanceof WrongResult) return error.message;
  if (!(error instanceof Error)) return `It threw ${nameOf(error)}. Throw an Error, or call refuse().`;
  return String(error.stack ?? error.message);
}
