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

/** Calls a function, and waits for it. Never rejects. */
export async function callUser(
  find: () => UserFunction,
  { input, clients, signal }: UserArgument,
): Promise<CodeOutcome> {
  try {
    const run = find() as (argument: object) => unknown;
    return outcomeOf(await run({ ...input, ...clients, signal }));
  } catch (error) {
    const refusal = refusalOf(error);
    return {
      kind: "failed",
      reason: error instanceof NotPlain ? "result" : "throw",
      message: describe(error),
      ...(refusal && { refusal }),
    };
  }
}

function outcomeOf(result: unknown): CodeOutcome {
  if (result === undefined) return { kind: "done", value: undefined };
  const response = responseOf(result);
  if (response !== undefined) return { kind: "done", value: undefined, response };
  return { kind: "done", value: plainCopy(result, "The result") };
}

function describe(error: unknown): string {
  if (error instanceof NotPlain) return error.message;
  if (!(error instanceof Error)) return `It threw ${nameOf(error)}. Throw an Error.`;
  return String(error.stack ?? error.message);
}
