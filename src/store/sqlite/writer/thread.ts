/** The writer thread. Because it is a separate thread, a slow disk delays only writes. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CommitMeter, noteGroup } from "../../commit-meter.ts";
import type { WriterAnswer, WriterMessage, WriterRequest, WriterSettings } from "../commit/protocol.ts";
import { describeError } from "../file/failures.ts";
import { lowerThreadPriority } from "../upkeep/thread-priority.ts";
import { openWriter } from "./open-writer.ts";
import type { Writer } from "./writer.ts";

/** The most commits in one transaction. With more, the first ones would wait too long. */
const maxGroup = 1_000;

type CommitRequest = WriterRequest & { kind: "commit" };

class WriterThread {
  readonly #port: MessagePort;
  readonly #settings: WriterSettings;
  readonly #writer: Writer;
  readonly #meter: CommitMeter | undefined;
  #next: WriterRequest | undefined;

  constructor(port: MessagePort, settings: WriterSettings) {
    this.#port = port;
    this.#settings = settings;
    this.#meter = settings.meter && new CommitMeter(settings.meter);
    this.#writer = openWriter(settings, this.#meter);
  }

  /** Performs this request and all others that have arrived, in order. */
  work(first: WriterRequest): void {
    for (let request: WriterRequest | undefined = first; request !== undefined; request = this.#take()) {
      if (request.kind === "commit") this.#commit(request);
      else this.#perform(request);
    }
  }

  #commit(first: CommitRequest): void {
    const group = this.#takeGroup(first);
    const size = group.reduce((sum, { count }) => sum + count, 0);
    if (this.#meter !== undefined)
      noteGroup(
        this.#meter,
        size,
        group.flatMap(({ since = [] }) => since),
      );
    this.#answer(this.#writer.commit(group));
    this.#writer.checkpointIfDue(size);
    if (this.#writer.failure !== undefined) this.#answer([]);
  }

  #perform(request: Exclude<WriterRequest, CommitRequest>): void {
    this.#answer([this.#writer.perform(request)]);
    if (request.kind === "trim" || request.kind === "finish") this.#writer.checkpointIfDue();
    if (request.kind === "close") this.#port.close();
  }

  /** The commits that have arrived and can be written in one transaction. */
  #takeGroup(first: CommitRequest): CommitRequest[] {
    const group = [first];
    let count = first.count;
    while (this.#settings.groupCommit && count < maxGroup) {
      const next = this.#take();
      if (next === undefined) break;
      if (next.kind !== "commit") {
        this.#next = next;
        break;
      }
      group.push(next);
      count += next.count;
    }
    return group;
  }

  #take(): WriterRequest | undefined {
    const next = this.#next ?? (receiveMessageOnPort(this.#port)?.message as WriterRequest | undefined);
    this.#next = undefined;
    return next;
  }

  #answer(answers: readonly WriterAnswer[]): void {
    const message: WriterMessage = { kind: "answers", answers, failure: this.#writer.failure };
    this.#port.postMessage(message);
  }
}

function start(port: MessagePort): WriterMessage {
  try {
    const thread = new WriterThread(port, workerData as WriterSettings);
    port.on("message", (request: WriterRequest) => thread.work(request));
    return { kind: "ready" };
  } catch (error) {
    return { kind: "openFailed", reason: describeError(error) };
  }
}

if (parentPort === null) throw new Error("This file is the writer thread of a store.");
lowerThreadPriority();
parentPort.postMessage(start(parentPort));
