/** Calls one function of the user, and makes plain data of what it returns or throws. */
import type { AnyClient } from "../../../command.ts";
import { NotPlain, nameOf, plainCopy } from "../plain-values.ts";
import { refusalOf } from "../public.ts";
import { responseOf } from "../routes/respond.ts";
import type { UserFunction } from "../user-functions.ts";
import type { CodeOutcome } from "./code-runner.ts";

/** What a function gets, in one object. */
export interface UserArgument {
  readonly input: Readonly<Record<string, unknown>>;
  readonly clients: Readonly<Record<string, AnyClient>>;
  readonly signal: AbortSignal;
}

/** Calls a function, and waits for it. Never rejects. Without `usesResult`, what it returns does not matter. */
export async function callUser(
  find: () => UserFunction,
  { input, clients, signal }: UserArgument,
  { usesResult }: { usesResult: boolean },
): Promise<CodeOutcome> {
  try {
    const run = find() as (argument: object) => unknown;
    const result = await run({ ...input, ...clients, signal });
    return usesResult ? outcomeOf(result) : { kind: "done", value: undefined };
  } catch (error) {
    return failureOf(error);
  }
}

/** Only routes use what their function returns. */
export function usesResult(place: string): boolean {
  return place.startsWith("routes.");
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
    throw new NotPlain("The result is larger than 16 MiB. Return less, such as a page.");
}

/** An error of the user can throw itself when its members are read. */
function failureOf(error: unknown): CodeOutcome {
  try {
    const refusal = refusalOf(error);
    const reason = error instanceof NotPlain ? "result" : "throw";
    return { kind: "failed", reason, message: describe(error), ...(refusal && { refusal }) };
  } catch {
    return { kind: "failed", reason: "throw", message: "It threw a value that cannot be read." };
  }
}

/** The longest message about an error, in characters. */
const maxMessage = 10_000;

function describe(error: unknown): string {
  if (error instanceof NotPlain) return error.message;
  if (typeof error === "string") return `It threw a text: ${error.slice(0, maxMessage)}`;
  if (!(error instanceof Error)) return `It threw ${nameOf(error)}. Throw an Error.`;
  return String(error.stack ?? error.message).slice(0, maxMessage);
}
