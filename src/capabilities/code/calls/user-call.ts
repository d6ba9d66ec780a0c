/** Calls one function of the user, and makes plain data of what it returns or throws. */
import type { AnyClient } from "../../../command.ts";
import { failureOf } from "../failure.ts";
import { plainCopy, WrongResult } from "../plain-values.ts";
import { responseOf } from "../routes/respond.ts";
import type { UserFunction } from "../user-functions.ts";
import type { CallerRefusal, CallerRefusals } from "./caller-refusals.ts";
import type { CodeOutcome } from "./code-runner.ts";
import type { ClientUse } from "./user-client.ts";

/** What a function gets, in one object. */
export interface UserArgument {
  readonly input: Readonly<Record<string, unknown>>;
  readonly clients: Readonly<Record<string, AnyClient>>;
  readonly signal: AbortSignal;
}

/** How to call a function. */
interface CallOptions {
  /** Whether it matters what the function returns. */
  readonly usesResult: boolean;
  /** What the service has refused to the caller, if the function is that of a route. */
  readonly refusals?: CallerRefusals | undefined;
}

/** Calls a function, and waits for it. Never rejects. */
export async function callUser(
  find: () => UserFunction,
  { input, clients, signal }: UserArgument,
  { usesResult, refusals }: CallOptions,
): Promise<CodeOutcome> {
  try {
    const run = find() as (argument: object) => unknown;
    const result = await run({ ...input, ...clients, signal });
    return usesResult ? outcomeOf(result) : { kind: "done", value: undefined };
  } catch (error) {
    return { ...failureOf(error), ...passedOn(refusals, error) };
  }
}

/** How to call the function at a place. Only routes have a caller, and use what their function returns. */
export function optionsFor(place: string, { refusals }: ClientUse): CallOptions {
  const isRoute = place.startsWith("routes.");
  return { usesResult: isRoute, refusals: isRoute ? refusals : undefined };
}

/** Never throws, although an error of the user can do so when its members are read. */
function passedOn(refusals: CallerRefusals | undefined, thrown: unknown): { passedOn?: CallerRefusal } {
  try {
    const refusal = refusals?.of(thrown);
    return refusal === undefined ? {} : { passedOn: refusal };
  } catch {
    return {};
  }
}

/** The largest result, in characters, or in bytes. The service would copy a larger one before it could refuse it. */
const maxResult = 16 * 1024 * 1024;

function outcomeOf(result: unknown): CodeOutcome {
  if (result === undefined) return { kind: "done", value: undefined };
  const response = responseOf(result);
  if (response !== undefined) {
    requireSmall(response.body?.length ?? 0);
    return { kind: "done", value: undefined, response };
  }
  const value = plainCopy(result, "The result");
  requireSmall(JSON.stringify(value).length);
  return { kind: "done", value };
}

function requireSmall(length: number): void {
  if (length > maxResult)
    throw new WrongResult("The result is larger than 16 MiB. Return less, such as a page.");
}
