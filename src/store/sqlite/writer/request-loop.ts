/** The requests to the writer: the connections of the threads that send them, and the order in which the writer performs them. */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { workInProgress } from "../../core/commits/refusals.ts";
import { CommitMeter, noteGroup } from "../../port/commit-meter.ts";
import type {
  ConnectionTasks,
  RequestFor,
  SentRequest,
  WriterAnswer,
  WriterMessage,
  WriterRequest,
  WriterSettings,
  WriterTasks,
} from "../commit/protocol.ts";
import { openWriter, type Writer } from "./writer.ts";

const names: ReadonlySet<string> = new Set<keyof ConnectionTasks>([
  "connect",
  "disconnect",
  "listen",
  "hold",
  "release",
]);

/** Whether a request is about the connection of its thread. */
export function isAboutConnection(request: WriterRequest): request is RequestFor<keyof ConnectionTasks> {
  return names.has(request.name);
}

/** A thread that uses the writer. */
export interface Connection {
  readonly port: MessagePort;
  /** Whether it wants to know which collections other threads have changed. */
  isListening: boolean;
}

/** A request, with the thread that sent it, and the number that this thread has given it. */
export interface Arrived<Request extends WriterRequest = WriterRequest> {
  from: Connection;
  number: number;
  request: Request;
}

/** An answer to a request. */
type Answered = readonly [Arrived, WriterAnswer];

/** What the writer tells its threads after it has written. */
export interface Written {
  /** The numbers of the collections that have changed. */
  changed: readonly number[];
  /** The reason why the writer has stopped permanently. */
  failure: string | undefined;
}

/**
 * The connections of one writer. During an import or a rewind, one thread holds the
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
    port.on("message", (sent: SentRequest) => this.#onRequest({ from, ...sent }));
  }

  /** The next request that has arrived; `undefined` if no request waits. */
  take(): Arrived | undefined {
    const returned = this.#returned;
    this.#returned = undefined;
    if (returned !== undefined) return returned;
    for (const _ of this.#all) {
      const from = this.#all[this.#turn++ % this.#all.length] as Connection;
      const sent = receiveMessageOnPort(from.port)?.message as SentRequest | undefined;
      if (sent !== undefined) return { from, ...sent };
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
  perform(from: Connection, request: RequestFor<keyof ConnectionTasks>): WriterAnswer {
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
        if (this.isHeldFor(from)) return { refusal: workInProgress };
        this.#holder = from;
        break;
      case "release":
        this.#release(from);
        break;
    }
    return { result: undefined };
  }

  /** Sends the answers to requests, and tells every thread what it must know. */
  answer(answered: readonly Answered[], { changed, failure }: Written): void {
    const own = new Set(answered.map(([{ from }]) => from));
    for (const connection of own) {
      const answers = answered.flatMap(([{ from, number }, answer]) =>
        from === connection ? [[number, answer] as const] : [],
      );
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

/** Performs the requests of all threads. */
export class RequestLoop {
  readonly #settings: WriterSettings;
  readonly #writer: Writer;
  readonly #meter: CommitMeter | undefined;
  readonly #connections = new Connections((first) => this.#work(first));
  /** Large commits that wait. Each thread has at most one here, so threads take turns. */
  readonly #large: Arrived<RequestFor<"commitLarge">>[] = [];

  /** `port` is the connection of the first thread. Throws the error of SQLite if the file cannot be opened. */
  constructor(port: MessagePort, settings: WriterSettings) {
    this.#settings = settings;
    this.#meter = settings.meter && new CommitMeter(settings.meter);
    this.#writer = openWriter(settings, this.#meter);
    this.#connections.add(port);
  }

  /** Performs this request and all others that have arrived. After the small commits that have arrived comes one large commit. */
  #work(first: Arrived): void {
    for (
      let arrived: Arrived | undefined = first;
      arrived !== undefined || this.#large.length > 0;
      arrived = this.#connections.take()
    ) {
      if (arrived !== undefined) this.#performNext(arrived);
      const large = this.#large.shift();
      if (large !== undefined) this.#commitLarge(large);
    }
  }

  #performNext(arrived: Arrived): void {
    const { from, request } = arrived;
    if (isAboutConnection(request)) this.#answer(arrived, this.#connections.perform(from, request));
    else if (this.#connections.isHeldFor(from)) this.#answer(arrived, { isHeld: true });
    else if (request.name === "commit" || request.name === "commitLarge")
      this.#commit(this.#takeGroup(arrived));
    else this.#perform(arrived, request);
  }

  /** Writes commits in one transaction. */
  #commit(group: readonly Arrived<RequestFor<"commit" | "commitLarge">>[]): void {
    if (group.length === 0) return;
    const requests = group.map(({ request }) => request.args);
    const size = requests.reduce((sum, [count]) => sum + count, 0);
    if (this.#meter !== undefined)
      noteGroup(
        this.#meter,
        size,
        requests.flatMap(([, , since = []]) => since),
      );
    const answers = this.#writer.commit(requests);
    this.#send(group.map((arrived, n) => [arrived, answers[n] as WriterAnswer]));
    this.#writer.checkpointIfDue(size);
    if (this.#writer.failure !== undefined) this.#send([]);
  }

  /** Another thread can hold the writer since the commit has arrived. */
  #commitLarge(large: Arrived<RequestFor<"commitLarge">>): void {
    if (this.#connections.isHeldFor(large.from)) this.#answer(large, { isHeld: true });
    else this.#commit([large]);
  }

  #perform(arrived: Arrived, request: RequestFor<keyof WriterTasks>): void {
    if (request.name === "close") for (const large of this.#large.splice(0)) this.#commitLarge(large);
    this.#answer(arrived, this.#writer.perform(request));
    if (request.name === "trim" || request.name === "finish") this.#writer.checkpointIfDue();
    if (request.name === "close") this.#connections.closeAll();
  }

  /** The small commits that have arrived and can be written in one transaction. Large ones are put aside. */
  #takeGroup(first: Arrived): Arrived<RequestFor<"commit">>[] {
    const group: Arrived<RequestFor<"commit">>[] = [];
    let count = 0;
    for (let next: Arrived | undefined = first; next !== undefined; next = this.#connections.take()) {
      const { request } = next;
      if (
        this.#connections.isHeldFor(next.from) ||
        (request.name !== "commit" && request.name !== "commitLarge")
      ) {
        this.#connections.putBack(next);
        break;
      }
      if (request.name === "commitLarge") {
        this.#large.push({ ...next, request });
        continue;
      }
      group.push({ ...next, request });
      count += request.args[0];
      if (!this.#settings.groupCommit || count >= maxGroup) break;
    }
    return group;
  }

  #answer(to: Arrived, answer: WriterAnswer): void {
    this.#send([[to, answer]]);
  }

  #send(answered: readonly Answered[]): void {
    this.#connections.answer(answered, {
      changed: this.#writer.takeChanged(),
      failure: this.#writer.failure,
    });
  }
}
