/** The writer thread with its connections to other threads. As a separate thread, it delays only writes if the disk is slow. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../program.ts";
import { workInProgress } from "../../core/loads.ts";
import { CommitMeter, noteGroup } from "../../port/commit-meter.ts";
import type {
  ConnectionTasks,
  RequestFor,
  WriterAnswer,
  WriterMessage,
  WriterRequest,
  WriterSettings,
  WriterTasks,
} from "../commit/protocol.ts";
import { describeError } from "../file/failures.ts";
import { openWriter, type Writer } from "./writer.ts";

const names: ReadonlySet<string> = new Set<keyof ConnectionTasks>([
  "connect",
  "disconnect",
  "listen",
  "hold",
  "release",
]);

/** Whether a request is about the connection of its thread. */
function isAboutConnection(request: WriterRequest): request is RequestFor<keyof ConnectionTasks> {
  return names.has(request.name);
}

/** A thread that uses the writer. */
export interface Connection {
  readonly port: MessagePort;
  /** Whether it wants to know which collections other threads have changed. */
  isListening: boolean;
}

/** A request, with the thread that sent it. */
export interface Arrived<Request extends WriterRequest = WriterRequest> {
  from: Connection;
  request: Request;
}

/** What the writer tells its threads after it has written. */
export interface Written {
  /** The numbers of the collections that have changed. */
  changed: readonly number[];
  /** The reason why the writer has stopped permanently. */
  failure: string | undefined;
}

/**
 * The connections of one writer. Requests are performed in the order of arrival. During an import or a rewind, one thread holds the
 * writer: the requests of others are answered with `isHeld`, and these threads repeat them later.
 */
export class Connections {
  readonly #onRequest: (first: Arrived) => void;
  #all: readonly Connection[] = [];
  #holder: Connection | undefined;
  /** The connection that is asked first for the next request, so that each has its turn. */
  #turn = 0;
  #returned: Arrived | undefined;

  /** `onRequest` is called when a request has arrived. It then takes those that have arrived since. */
  constructor(onRequest: (first: Arrived) => void) {
    this.#onRequest = onRequest;
  }

  /** Adds a thread. */
  add(port: MessagePort): void {
    const from = { port, isListening: false };
    this.#all = [...this.#all, from];
    port.on("message", (request: WriterRequest) => this.#onRequest({ from, request }));
  }

  /** The next request that has arrived; `undefined` if no request waits. */
  take(): Arrived | undefined {
    const returned = this.#returned;
    this.#returned = undefined;
    if (returned !== undefined) return returned;
    for (const _ of this.#all) {
      const from = this.#all[this.#turn++ % this.#all.length] as Connection;
      const request = receiveMessageOnPort(from.port)?.message as WriterRequest | undefined;
      if (request !== undefined) return { from, request };
    }
    return undefined;
  }

  /** Returns a request, so that `take` gives it next. */
  putBack(arrived: Arrived): void {
    this.#returned = arrived;
  }

  /** Whether another thread than this one holds the writer. */
  isHeldFor(connection: Connection): boolean {
    return this.#holder !== undefined && this.#holder !== connection;
  }

  /** Performs a request about a connection. */
  perform({ from, request }: Arrived<RequestFor<keyof ConnectionTasks>>): WriterAnswer {
    switch (request.name) {
      case "connect":
        this.add(...request.args);
        break;
      case "disconnect":
        this.#release(from);
        this.#all = this.#all.filter((each) => each !== from);
        setImmediate(() => from.port.close()); // after the answer
        break;
      case "listen":
        from.isListening = request.args[0];
        break;
      case "hold":
        if (this.isHeldFor(from)) return { refusal: { code: "UNAVAILABLE", detail: workInProgress } };
        this.#holder = from;
        break;
      case "release":
        this.#release(from);
        break;
    }
    return { result: undefined };
  }

  /** Sends the answers to requests, in their order, and tells every thread what it must know. */
  answer(answered: readonly (readonly [Connection, WriterAnswer])[], { changed, failure }: Written): void {
    const own = new Set(answered.map(([connection]) => connection));
    for (const connection of own) {
      const answers = answered.filter(([each]) => each === connection).map(([, answer]) => answer);
      post(connection, { kind: "answers", answers, changed, failure });
    }
    for (const connection of this.#all) {
      if (own.has(connection)) continue;
      const isTold = connection.isListening && changed.length > 0;
      if (isTold || failure !== undefined)
        post(connection, { kind: "answers", answers: [], changed, failure });
    }
  }

  /** Closes all connections, so that the thread can end. */
  closeAll(): void {
    for (const { port } of this.#all) port.close();
  }

  #release(from: Connection): void {
    if (this.#holder !== from) return;
    this.#holder = undefined;
    for (const connection of this.#all) if (connection !== from) post(connection, { kind: "free" });
  }
}

function post({ port }: Connection, message: WriterMessage): void {
  port.postMessage(message);
}

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
