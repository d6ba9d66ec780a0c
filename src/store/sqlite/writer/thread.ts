/** The writer thread. As a separate thread, it delays only writes if the disk is slow. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../program.ts";
import type { WriterMessage, WriterSettings } from "../commit/protocol.ts";
import { describeError, failureOf } from "../file/failures.ts";
import { damagedNumber } from "../file/wide-integers.ts";
import { RequestLoop } from "./request-loop.ts";

function start(port: MessagePort): WriterMessage {
  try {
    new RequestLoop(port, workerData as WriterSettings);
    return { kind: "ready" };
  } catch (error) {
    return {
      kind: "openFailed",
      reason: describeError(damagedNumber(error)),
      isFull: failureOf(error) === "full",
    };
  }
}

if (parentPort === null) throw new Error("This file is the writer thread of a store.");
lowerThreadPriority();
parentPort.postMessage(start(parentPort));
