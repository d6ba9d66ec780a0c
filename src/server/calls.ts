/** Calls from another thread to the main thread. Arguments and results are plain data, or a function without arguments. */
import type { MessagePort } from "node:worker_threads";
import { Problem } from "../errors.ts";

/** What the main thread does for another thread, by name. The arguments are texts, or missing. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Calls a method of the main thread. Rejects with what it throws: a Problem, or an Error with the same message. */
export type Call = (method: string, ...args: Arguments) => Promise<unknown>;

type Arguments = (string | undefined)[];

type ToMain = { id: number; method: string; args: Arguments } | { id: number; calls: "result" };

/** `isFunction`: the result is a function. Each `ToMain` with the id of the call calls it. */
type FromMain = { id: number } & ({ value: unknown } | { isFunction: true } | Failure);

/** What a method has thrown. `problem`: the parts of a Problem that travel. */
interface Failure {
  error: string;
  problem?: Pick<Problem, "code" | "headers" | "policy">;
}

/** Answers the calls of another thread, in the main thread. A function that is a result is called once at most. */
export function answerCalls(port: MessagePort, methods: Methods): void {
  const results = new Map<number, () => void>();
  port.on("message", async (message: ToMain) => {
    const { id } = message;
    if ("calls" in message) {
      results.get(id)?.();
      results.delete(id);
      return;
    }
    const send = (answer: FromMain) => port.postMessage(answer);
    try {
      const value = await methods[message.method]?.(...(message.args as never[]));
      if (typeof value !== "function") return send({ id, value });
      results.set(id, value as () => void);
      send({ id, isFunction: true });
    } catch (error) {
      send({ id, ...failureOf(error) });
    }
  });
  port.unref();
}

/** Makes the calls of another thread. If the main thread ends, this thread ends as well. */
export function createCalls(port: MessagePort): Call {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const send = (message: ToMain) => port.postMessage(message);
  port.on("message", (answer: FromMain) => {
    const { id } = answer;
    const call = waiting.get(id);
    waiting.delete(id);
    if ("error" in answer) call?.reject(errorOf(answer));
    else call?.resolve("value" in answer ? answer.value : () => send({ id, calls: "result" }));
  });
  return (method, ...args) => {
    const call = Promise.withResolvers<unknown>();
    waiting.set(++lastId, call);
    send({ id: lastId, method, args });
    return call.promise;
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof Problem) {
    const { message, code, headers, policy } = error;
    return { error: message, problem: { code, headers, policy } };
  }
  return { error: error instanceof Error ? error.message : String(error) };
}

function errorOf({ error, problem }: Failure): Error {
  return problem === undefined ? new Error(error) : new Problem(problem.code, error, problem);
}
