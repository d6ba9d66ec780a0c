/** The writer thread. Because it is a separate thread, a slow disk delays only writes. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { CommitMeter, noteGroup } from "../../port/commit-meter.ts";
import type {
  RequestFor,
  WriterAnswer,
  WriterMessage,
  WriterSettings,
  WriterTasks,
} from "../commit/protocol.ts";
import { describeError } from "../file/failures.ts";
import { lowerThreadPriority } from "../upkeep/thread-priority.ts";
import { type Arrived, type Connection, Connections, isAboutConnection } from "./connections.ts";
import { openWriter } from "./open-writer.ts";
import type { Writer } from "./writer.ts";

/** The most commits in one transaction. With more, the first ones would wait too long. */
const maxGroup = 1_000;

class WriterThread {
  readonly #settings: WriterSettings;
  readonly #writer: Writer;
  readonly #meter: CommitMeter | undefined;
  readonly #connections = new Connections((first) => this.#work(first));

  constructor(port: MessagePort, settings: WriterSettings) {
    this.#settings = settings;
    this.#meter = settings.meter && new CommitMeter(settings.meter);
    this.#writer = openWriter(settings, this.#meter);
    this.#connections.add(port);
  }

  /** Performs this request and all others that have arrived, in order. */
  #work(first: Arrived): void {
    for (
      let arrived: Arrived | undefined = first;
      arrived !== undefined;
      arrived = this.#connections.take()
    ) {
      const { from, request } = arrived;
      if (isAboutConnection(request)) this.#answer(from, this.#connections.perform({ from, request }));
      else if (this.#connections.isHeldFor(from)) this.#answer(from, { isHeld: true });
      else if (request.name === "commit") this.#commit({ from, request });
      else this.#perform(from, request);
    }
  }

  #commit(first: Arrived<RequestFor<"commit">>): void {
    const group = this.#takeGroup(first);
    const requests = group.map(({ request }) => request.args);
    const size = requests.reduce((sum, [count]) => sum + count, 0);
    if (this.#meter !== undefined)
      noteGroup(
        this.#meter,
        size,
        requests.flatMap(([, , since = []]) => since),
      );
    const answers = this.#writer.commit(requests);
    this.#send(group.map(({ from }, n) => [from, answers[n] as WriterAnswer]));
    this.#writer.checkpointIfDue(size);
    if (this.#writer.failure !== undefined) this.#send([]);
  }

  #perform(from: Connection, request: RequestFor<keyof WriterTasks>): void {
    this.#answer(from, this.#writer.perform(request));
    if (request.name === "trim" || request.name === "finish") this.#writer.checkpointIfDue();
    if (request.name === "close") this.#connections.closeAll();
  }

  /** The commits that have arrived and can be written in one transaction. */
  #takeGroup(first: Arrived<RequestFor<"commit">>): Arrived<RequestFor<"commit">>[] {
    const group = [first];
    let [count] = first.request.args;
    while (this.#settings.groupCommit && count < maxGroup) {
      const next = this.#connections.take();
      if (next === undefined) break;
      const { from, request } = next;
      if (request.name !== "commit" || this.#connections.isHeldFor(from)) {
        this.#connections.putBack(next);
        break;
      }
      group.push({ from, request });
      count += request.args[0];
    }
    return group;
  }

  #answer(to: Connection, answer: WriterAnswer): void {
    this.#send([[to, answer]]);
  }

  #send(answers: readonly (readonly [Connection, WriterAnswer])[]): void {
    this.#connections.answer(answers, {
      changed: this.#writer.takeChanged(),
      failure: this.#writer.failure,
    });
  }
}

function start(port: MessagePort): WriterMessage {
  try {
    new WriterThread(port, workerData as WriterSettings);
    return { kind: "ready" };
  } catch (error) {
    return { kind: "openFailed", reason: describeError(error) };
  }
}

if (parentPort === null) throw new Error("This file is the writer thread of a store.");
lowerThreadPriority();
parentPort.postMessage(start(parentPort));
