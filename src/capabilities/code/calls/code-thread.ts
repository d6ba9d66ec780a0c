/** The thread in which functions that may wait run. Its clients send their requests to the service, which answers them in messages. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { InsideFetch, InsideRequest, InsideResponse } from "../../../http/inside.ts";
import { lowerThreadPriority } from "../../../program.ts";
import { threadNumber } from "../busy-watch.ts";
import { failureOf } from "../failure.ts";
import { functionAt, loadModule } from "../user-functions.ts";
import type { CodeOutcome } from "./code-runner.ts";
import { callUser, optionsFor } from "./user-call.ts";
import { ClientUse, createUserClient } from "./user-client.ts";

/** What the thread starts with. */
export interface CodeThreadData {
  /** The path of the module with the functions. */
  module: string;
  /** Shared memory for a number that rises while the thread is not busy. */
  beat: Int32Array;
  /** The prefix of the service. */
  prefix: string;
}

/** To the thread. `call` and `request` are numbers. */
export type ToCodeThread =
  | {
      kind: "call";
      call: number;
      place: string;
      input: Readonly<Record<string, unknown>>;
      clients: string[];
      /** How many requests they can send. */
      requests: number;
    }
  | { kind: "abort"; call: number; why: string }
  | { kind: "response"; request: number; response: InsideResponse }
  | { kind: "noResponse"; request: number; why: string };

/** To the service. `stray`: an error that no call has. */
export type FromCodeThread =
  | { kind: "loaded"; thread: number | undefined }
  | { kind: "ended"; call: number; outcome: CodeOutcome }
  | { kind: "request"; request: number; call: number; client: string; sent: InsideRequest }
  | { kind: "cancel"; request: number }
  | { kind: "stray"; message: string };

/** How often the thread shows that it is not busy, in milliseconds. */
const beatMs = 100;

interface Running {
  aborter: AbortController;
  use: ClientUse;
}

async function run(port: MessagePort, { module, beat, prefix }: CodeThreadData): Promise<void> {
  const tell = (message: FromCodeThread) => port.postMessage(message);
  lowerThreadPriority();
  const configuration = await loadModule(module);
  // Such as a request that nothing awaits. It is no reason to end the calls of others.
  process.on("unhandledRejection", (error) => tell({ kind: "stray", message: failureOf(error).message }));
  const running = new Map<number, Running>();
  const waiting = new Map<number, PromiseWithResolvers<InsideResponse>>();
  let lastRequest = 0;

  const senderOf =
    (call: number, client: string): InsideFetch =>
    async (sent, signal) => {
      signal?.throwIfAborted();
      const request = ++lastRequest;
      const answer = Promise.withResolvers<InsideResponse>();
      waiting.set(request, answer);
      const cancel = () => {
        tell({ kind: "cancel", request });
        answer.reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel);
      tell({ kind: "request", request, call, client, sent });
      try {
        return await answer.promise;
      } finally {
        waiting.delete(request);
        signal?.removeEventListener("abort", cancel);
      }
    };

  const start = async ({
    call,
    place,
    input,
    clients: names,
    requests,
  }: Extract<ToCodeThread, { kind: "call" }>) => {
    const aborter = new AbortController();
    const use = new ClientUse(place, requests);
    running.set(call, { aborter, use });
    const clients = Object.fromEntries(
      names.map((name) => [name, createUserClient(senderOf(call, name), use, { name, prefix })]),
    );
    const argument = { input, clients, signal: aborter.signal };
    const find = () => functionAt(configuration, place);
    const outcome = await callUser(find, argument, optionsFor(place, use));
    running.delete(call);
    use.end(`The call of ${place} has ended. Await each request in the function.`);
    tell({ kind: "ended", call, outcome });
  };

  port.on("message", (message: ToCodeThread) => {
    switch (message.kind) {
      case "call":
        void start(message);
        return;
      case "abort": {
        const { aborter, use } = running.get(message.call) ?? {};
        use?.end(message.why);
        aborter?.abort(new Error(message.why));
        return;
      }
      case "response":
        waiting.get(message.request)?.resolve(message.response);
        return;
      case "noResponse":
        waiting.get(message.request)?.reject(new Error(message.why));
    }
  });
  setInterval(() => Atomics.add(beat, 0, 1), beatMs).unref();
  tell({ kind: "loaded", thread: threadNumber() });
}

if (parentPort === null) throw new Error("This file is a thread of the service.");
void run(parentPort, workerData as CodeThreadData);
