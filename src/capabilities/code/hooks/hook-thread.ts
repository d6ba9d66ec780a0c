/** The thread in which hooks run. It gets the calls of one turn of the event loop in one message, and answers them in one. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../program.ts";
import { threadNumber } from "../busy-watch.ts";
import { loadModule } from "../user-functions.ts";
import type { HookOutput } from "./hook-call.ts";
import { type CallInput, runCall } from "./run-call.ts";

/** What the thread starts with. */
export interface HookThreadData {
  /** The path of the module with the functions. */
  module: string;
  /** Shared memory for the number of the call in progress; 0 without one. */
  current: Int32Array;
}

/** A call: its number, the place of the function in the configuration, and what it gets. */
export type HookMessage = readonly [number: number, place: string, input: CallInput];

/** To the service: that the module is loaded, or answers. */
export type FromHookThread =
  | { kind: "loaded"; thread: number | undefined }
  | { kind: "answers"; answers: readonly HookAnswer[] };

/** An answer: the number of the call, and what became of it. */
type HookAnswer = readonly [number: number, output: HookOutput];

async function run(port: MessagePort, { module, current }: HookThreadData): Promise<void> {
  lowerThreadPriority();
  const configuration = await loadModule(module);
  const answer = ([number, place, input]: HookMessage): HookAnswer => {
    Atomics.store(current, 0, number);
    try {
      return [number, runCall(configuration, place, input)];
    } catch (error) {
      return [number, { kind: "failed", reason: "load", message: (error as Error).message }];
    }
  };
  port.on("message", (calls: readonly HookMessage[]) => {
    const answers = calls.map(answer);
    Atomics.store(current, 0, 0);
    port.postMessage({ kind: "answers", answers } satisfies FromHookThread);
  });
  port.postMessage({ kind: "loaded", thread: threadNumber() } satisfies FromHookThread);
}

if (parentPort === null) throw new Error("This file is a thread of the service.");
void run(parentPort, workerData as HookThreadData);
