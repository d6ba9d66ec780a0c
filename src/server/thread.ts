/**
 * One of several threads that answer requests. It has a service of its own, on the store and the port of the main thread. The main
 * thread (`threads.ts`) tells it when to stop.
 */
import type { Server } from "node:http";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { remakeConfig } from "../config.ts";
import { StartError } from "../errors.ts";
import type { Metrics } from "../http/service.ts";
import { closeServer, createHttpServer } from "../http/wire/http-server.ts";
import { acceptFirstKey } from "./first-key.ts";
import { acceptQueued, listen } from "./listener.ts";
import { createLineLog } from "./log-lines.ts";
import { type OpenService, openService } from "./open-service.ts";
import type { FromThread, ThreadData, ToThread } from "./thread-messages.ts";
import { useKeyPair } from "./tls-reload.ts";

/** The text of the metrics of all threads, which the main thread makes. */
class MetricsOfAll implements Metrics {
  readonly #ask: () => void;
  #asked: PromiseWithResolvers<{ type: string; text: string }> | undefined;

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  exposition(): Promise<{ type: string; text: string }> {
    if (this.#asked === undefined) {
      this.#asked = Promise.withResolvers();
      this.#ask();
    }
    return this.#asked.promise;
  }

  /** Call this with the response of the main thread. */
  note(text: Extract<ToThread, { kind: "metricsText" }>["text"]): void {
    if ("error" in text) this.#asked?.reject(new Error(text.error));
    else this.#asked?.resolve(text);
    this.#asked = undefined;
  }
}

/** A thread that answers requests. */
class ServingThread {
  readonly #send: (message: FromThread) => void;
  readonly #data: ThreadData;
  readonly #prepared = Promise.withResolvers<void>();
  readonly #metrics = new MetricsOfAll(() => this.#send({ kind: "askMetrics" }));

  constructor(send: (message: FromThread) => void, data: ThreadData) {
    this.#send = send;
    this.#data = data;
  }

  /** Listens, and returns what handles the messages of the main thread. Throws StartError. */
  async start(): Promise<(message: ToThread) => void> {
    const { number, isPrepared, port, logRequests, keyPair: tls, wireBounds: bounds } = this.#data;
    const config = { ...(await remakeConfig(this.#data.config)), port };
    const opened = await openService(config, {
      log: createLineLog(collectLines(this.#send)),
      onFailure: (reason) => this.#send({ kind: "failed", reason }),
      thread: {
        kind: "other",
        number,
        limits: this.#data.limits,
        attachment: this.#data.attachment,
        prepared: isPrepared ? undefined : this.#prepared.promise,
        metrics: this.#metrics,
      },
    });
    const server = createHttpServer(opened.service, { logRequests, tls, bounds });
    try {
      await listen(server, config, { reusePort: true });
    } catch (error) {
      await opened.close();
      throw error;
    }
    return (message) => void this.#handle(message, opened, server);
  }

  async #handle(message: ToThread, opened: OpenService, server: Server): Promise<void> {
    switch (message.kind) {
      case "prepared":
        return this.#prepared.resolve();
      case "drain":
        return opened.drain();
      case "stop":
        return stop(opened, server);
      case "keyPair":
        return useKeyPair(server, message.pair);
      case "firstKey":
        return acceptFirstKey(opened, message.offer);
      case "metricsText":
        return this.#metrics.note(message.text);
      case "measure": {
        const metrics = await opened.metricsOfThread?.();
        if (metrics !== undefined) this.#send({ kind: "measured", metrics });
      }
    }
  }
}

async function stop(opened: OpenService, server: Server): Promise<void> {
  opened.endStreams();
  await acceptQueued(server);
  await closeServer(server);
  await opened.close();
  process.exit(); // ends this thread only
}

/** Sends the lines of one turn of the event loop together. */
function collectLines(send: (message: FromThread) => void): (line: string) => void {
  let lines: string[] = [];
  const flush = () => {
    if (lines.length > 0) send({ kind: "log", lines });
    lines = [];
  };
  process.on("exit", flush);
  return (line) => {
    if (lines.push(line) === 1) setImmediate(flush);
  };
}

async function run(port: MessagePort): Promise<void> {
  const send = (message: FromThread) => port.postMessage(message);
  try {
    const handle = await new ServingThread(send, workerData as ThreadData).start();
    port.on("message", handle);
    send({ kind: "listening" });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    send({ kind: "refused", faults: error.faults });
    process.exit();
  }
}

if (parentPort === null) throw new Error("This file is a thread of the service.");
void run(parentPort);
