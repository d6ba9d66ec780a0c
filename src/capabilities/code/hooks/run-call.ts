/** Runs one call of code that takes part in writes, with the functions of a configuration. */
import { type ComputeInput, computeAll } from "../computed/compute.ts";
import { functionAt } from "../user-functions.ts";
import { callHook, type HookInput, type HookOutput } from "./hook-call.ts";

/** What a call gets. */
export type CallInput = HookInput | ComputeInput;

/** Runs the call for a place of the configuration. Throws an Error if the place has no function. */
export function runCall(configuration: unknown, place: string, input: CallInput): HookOutput {
  if (input.kind !== "computed") return callHook(functionAt(configuration, place) as never, input);
  return computeAll((name) => functionAt(configuration, `${place}.${name}.value`), input);
}
