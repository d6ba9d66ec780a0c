/** Calls from another thread to the main thread. Arguments and results are plain data, or a function without arguments. */
import type { MessagePort } from "node:worker_threads";

/** What the main thread does for another thread, by name. The arguments are texts. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Calls a method of the main thread. Rejects with the message of what it throws. */
export type Call = (method: string, ...args: string[]) => Promise<unknown>;

type ToMain = { id: number; method: string; args: string[] } | { id: number; calls: "result" };

/** `isFunction`: the result is a function. Each `ToMain` with the id of the call calls it. */
type FromMain = { id: number } & ({ value: unknown } | { isFunction: true } | { error: string });

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
      send({ id, error: error instanceof Error ? error.message : String(error) });
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
    if ("error" in answer) call?.reject(new Error(answer.error));
    else call?.resolve("value" in answer ? answer.value : () => send({ id, calls: "result" }));
  });
  return (method, ...args) => {
    const call = Promise.withResolvers<unknown>();
    waiting.set(++lastId, call);
    send({ id: lastId, method, args });
    return call.promise;
  };
}
