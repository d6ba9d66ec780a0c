/**
 * Calls one hook with copies, and makes plain text of its result. A worker does this, or the thread of an application. Only texts pass
 * between the code of a configuration and the service, so nothing of its objects reaches the service.
 */
import { types } from "node:util";
import { type Failure, failureOf } from "../failure.ts";
import { nameOf, plainCopy, WrongResult } from "../plain-values.ts";
import type { CodeCaller, HookCall, Refusal } from "../public.ts";

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

/** What became of a call. `text`: the JSON text of what `before` has returned, if it has returned something. */
export type HookOutput = { kind: "done"; text?: string } | Refusal | Omit<Failure, "refusal">;

/** Calls a hook. Never throws. */
export function callHook(hook: (call: HookCall) => unknown, input: HookInput): HookOutput {
  try {
    return outputOf(input, resourceIn(input), hook);
  } catch (error) {
    const { refusal, ...failed } = failureOf(error);
    return refusal ?? failed;
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
    result.catch(() => {}); // Otherwise, its rejection would end the worker.
    const message = `${kind} returned a promise. Hooks must be synchronous. To call other services, use a consumer or a route.`;
    throw new WrongResult(message, "promise");
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

/** The JSON text of a resource that a hook has made. Throws WrongResult. */
function textOf(result: unknown): string {
  if (typeof result !== "object" || result === null || Array.isArray(result))
    throw new WrongResult(`before returned ${nameOf(result)}. Return the resource, or nothing.`);
  return JSON.stringify(plainCopy(result, "The result of before"));
}
