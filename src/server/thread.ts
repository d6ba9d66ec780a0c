/**
 * One of several threads that answer requests. It has a service of its own, on the store and the port of the main thread. The main
 * thread (`threads.ts`) tells it when to stop.
 */
import type { Server } from "node:http";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { remakeConfig, withPort } from "../config.ts";
import { StartError } from "../errors.ts";
import { joinCounting } from "../http/admission/exact-counts.ts";
import type { Metrics } from "../http/service.ts";
import { closeServer, createHttpServer } from "../http/wire/http-server.ts";
import { createCalls } from "./calls.ts";
import { acceptQueued, listen, useKeyPair } from "./listener.ts";
import { createLineLog, type OpenService, openService } from "./open-service.ts";
import type { FromThread, ThreadData, ToThread } from "./threads.ts";

/** Listens, and returns what handles the messages of the main thread. Throws StartError. */
async function start(
  send: (message: FromThread) => void,
  data: ThreadData,
): Promise<(message: ToThread) => Promise<void>> {
  const { number, memory, isPrepared, attachment } = data;
  const call = createCalls(data.port);
  const prepared = Promise.withResolvers<void>();
  const config = withPort(await remakeConfig(data.config), data.tcpPort);
  const opened = await openService(config, {
    log: createLineLog(collectLines(send)),
    onFailure: (reason) => send({ kind: "failed", reason }),
    thread: {
      kind: "other",
      number,
      call,
      counting: joinCounting(config.http, { memory, thread: number, call }),
      attachment,
      prepared: isPrepared ? undefined : prepared.promise,
      metrics: { exposition: () => call("metricsText") as ReturnType<Metrics["exposition"]> },
    },
  });
  const { logRequests, keyPair: tls, wireBounds: bounds } = data;
  const server = createHttpServer(opened.service, { logRequests, tls, bounds });
  try {
    await listen(server, config, { reusePort: true });
  } catch (error) {
    await opened.close();
    throw error;
  }
  return async (message) => {
    switch (message.kind) {
      case "prepared":
        return prepared.resolve();
      case "drain":
        return opened.drain();
      case "stop":
        return stop(opened, server);
      case "keyPair":
        return useKeyPair(server, message.pair);
      case "firstKey":
        return opened.acceptFirstKey(message.offer);
      case "measure": {
        const metrics = await opened.metricsOfThread?.();
        if (metrics !== undefined) send({ kind: "measured", metrics });
      }
    }
  };
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
    const handle = await start(send, workerData as ThreadData);
    port.on("message", (message: ToThread) => void handle(message));
    send({ kind: "listening" });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    send({ kind: "refused", faults: error.faults });
    process.exit();
  }
}

if (parentPort === null) throw new Error("This file is a thread of the service.");
void run(parentPort);
