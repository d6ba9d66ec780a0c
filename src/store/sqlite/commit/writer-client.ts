/** The store's side of the writer thread: its connection, its requests, its commits and its imports. */
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { Problem, StartError, StoreFull, toSentence } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { problemOf, type Refusal } from "../../core/commits/refusals.ts";
import { type ExpectedEnd, inProgress, type LoadTransaction } from "../../core/loads.ts";
import type { Outcome } from "../../port/batch.ts";
import { type Commit, CommitQueue, type Committed, isLargeCommit, versionOf } from "../../port/commit.ts";
import { toPlace } from "../../port/log-place.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { ImportedResource, LoadOptions } from "../../port/store.ts";
import { InvalidStateError } from "../file/failures.ts";
import type { Health } from "../upkeep/health.ts";
import {
  type Cell,
  encodeCommit,
  type ResultOf,
  type SentRequest,
  type Tasks,
  type WriterAnswer,
  type WriterMessage,
  type WriterRequest,
  type WriterSettings,
} from "./protocol.ts";

/** An answer after which the request is not repeated. */
export type FinalAnswer = Exclude<WriterAnswer, { isHeld: true }>;

/** A request without an answer. */
interface Pending {
  request: WriterRequest;
  resolve(answer: FinalAnswer): void;
  reject(error: unknown): void;
  /** Ends the wait for a thread that holds the writer. */
  timer?: NodeJS.Timeout | undefined;
}

/** The writer as the store uses it. */
export type WriterConnection = Pick<WriterClient, "send" | "connect" | "close">;

/** The writer of a read-only store. It refuses every request. */
export const refusingWriter: WriterConnection = {
  send: async () => ({ refusal: { code: "UNAVAILABLE", detail: "The store is read-only." } }),
  connect: () => {
    throw new Error("A read-only store has no writer.");
  },
  close: async () => {},
};

/** What a connection does when the writer tells it something. */
export interface WriterEvents {
  /** The writer has stopped permanently. */
  onFailure(reason: string): void;
  /** Collections with these numbers may have changed. */
  onChanged(collections: readonly number[]): void;
  /** How long a request waits while another thread holds the writer, in milliseconds. */
  maxWaitMs: number;
  /** When the import of another thread will end. */
  expectedEnd: ExpectedEnd;
}

/** Starts the writer thread. Throws StartError if it cannot open the file. */
export async function startWriter(settings: WriterSettings, events: WriterEvents): Promise<WriterClient> {
  const worker = startThread("store/sqlite/writer/thread", { workerData: settings, name: "holdfast-writer" });
  await new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("message", (message: WriterMessage) => {
      if (message.kind !== "openFailed") return resolve();
      worker.terminate().catch(() => {});
      reject(
        message.isFull
          ? new StoreFull(settings.path)
          : new StartError(toSentence(`${settings.path} cannot be opened for writing: ${message.reason}`)),
      );
    });
  });
  return new WriterClient(worker, events, "close");
}

/** Connects this thread to the writer that another thread has started. `port` is the result of `connect` there. */
export function joinWriter(port: MessagePort, events: WriterEvents): WriterClient {
  return new WriterClient(port, events, "disconnect");
}

/** A connection to the writer thread. */
export class WriterClient {
  readonly #channel: Worker | MessagePort;
  readonly #events: WriterEvents;
  readonly #lastRequest: "close" | "disconnect";
  readonly #exited: Promise<void>;
  /** The requests without an answer, by their numbers. */
  readonly #pending = new Map<number, Pending>();
  #lastNumber = 0;
  /** The requests that wait until no other thread holds the writer. */
  readonly #held = new Set<Pending>();
  #isClosing = false;
  #hasEnded = false;

  /** `lastRequest` ends the writer, or only this connection. */
  constructor(channel: Worker | MessagePort, events: WriterEvents, lastRequest: "close" | "disconnect") {
    this.#channel = channel;
    this.#events = events;
    this.#lastRequest = lastRequest;
    channel.on("message", (message: WriterMessage) => this.#receive(message));
    channel.on("error", (error: unknown) =>
      this.#end(error instanceof Error ? error.message : String(error)),
    );
    this.#exited = new Promise((resolve) => {
      const onExit = () => {
        this.#end("the thread that writes to the store has ended");
        resolve();
      };
      if (lastRequest === "close") (channel as Worker).once("exit", onExit);
      else (channel as MessagePort).once("close", onExit);
    });
  }

  /**
   * Sends a request to the writer. While another thread holds the writer, the request waits, and gets the problem UNAVAILABLE if
   * that takes too long. Throws OUTCOME_UNKNOWN if the writer ends before it answers.
   */
  send(request: WriterRequest): Promise<FinalAnswer> {
    if (this.#hasEnded) return Promise.reject(new Problem("UNAVAILABLE", "The store has failed."));
    return new Promise((resolve, reject) => {
      this.#post({ request, resolve, reject });
    });
  }

  /** Returns a port for another thread of the process, which passes it to `joinWriter`. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#post({ request: { name: "connect", args: [port1] }, resolve: () => {}, reject: () => {} }, [port1]);
    return port2;
  }

  /** Ends the writer or the connection, after it has completed all requests. */
  async close(): Promise<void> {
    if (!this.#hasEnded) {
      this.#isClosing = true;
      await this.send({ name: this.#lastRequest, args: [] }).catch(() => {}); // fails if the thread ends before it answers
    }
    await this.#exited;
  }

  #post(pending: Pending, transfer: MessagePort[] = []): void {
    const sent: SentRequest = { number: ++this.#lastNumber, request: pending.request };
    this.#pending.set(sent.number, pending);
    this.#channel.postMessage(sent, transfer);
  }

  #receive(message: WriterMessage): void {
    if (message.kind === "free") this.#repeatHeld();
    if (message.kind !== "answers") return;
    const { answers, changed, failure } = message;
    if (changed.length > 0) this.#events.onChanged(changed);
    for (const [number, answer] of answers) {
      const pending = this.#pending.get(number) as Pending;
      this.#pending.delete(number);
      if ("isHeld" in answer) this.#hold(pending);
      else settle(pending).resolve(answer);
    }
    if (failure !== undefined) this.#events.onFailure(failure);
  }

  #hold(pending: Pending): void {
    this.#held.add(pending);
    pending.timer ??= setTimeout(() => {
      pending.timer = undefined;
      if (!this.#held.delete(pending)) return; // it was sent again: if it is held again, it waits anew
      pending.reject(inProgress(this.#events.expectedEnd.secondsLeft(this.#events.maxWaitMs)));
    }, this.#events.maxWaitMs);
  }

  #repeatHeld(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const pending of held) this.#post(pending);
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const each of pending)
      settle(each).reject(
        new Problem("OUTCOME_UNKNOWN", "The store failed before it reported the outcome of the write."),
      );
    for (const each of this.#held)
      settle(each).reject(new Problem("UNAVAILABLE", "The store has failed. Nothing was written."));
    this.#held.clear();
    if (!this.#isClosing) this.#events.onFailure(reason);
  }
}

function settle(pending: Pending): Pending {
  clearTimeout(pending.timer);
  return pending;
}

/** The tasks that prove that the disk has space. */
const writesFile: ReadonlySet<keyof Tasks> = new Set([
  "migrate",
  "finish",
  "finishErasures",
  "probe",
  "restartLog",
]);

/** The requests to the writer of one store. It reports to the health of the store what follows from the answers. */
export class WriterRequests {
  readonly #writer: WriterConnection;
  readonly #health: Health;

  constructor(writer: WriterConnection, health: Health) {
    this.#writer = writer;
    this.#health = health;
  }

  /** Sends a request. Throws the refusal, and InvalidStateError if the writer cannot do it now. */
  async send<Name extends keyof Tasks>(
    name: Name,
    ...args: Parameters<Tasks[Name]>
  ): Promise<ResultOf<Name>> {
    const answer = await this.#writer.send({ name, args } as unknown as WriterRequest);
    if ("refusal" in answer) throw this.errorOf(answer.refusal);
    if ("invalidState" in answer) throw new InvalidStateError(answer.invalidState);
    if (writesFile.has(name)) this.#health.noteSpace();
    return answer.result as ResultOf<Name>;
  }

  /** As `send`, but only if the store works. Throws UNAVAILABLE, or the result of `toError`, if the writer cannot do it now. */
  async run<Name extends keyof Tasks>(
    name: Name,
    args: Parameters<Tasks[Name]>,
    toError: (message: string) => Error = (message) => new Problem("UNAVAILABLE", message),
  ): Promise<ResultOf<Name>> {
    this.#health.requireWorking(); // a write to a file that is gone would be lost
    return this.send(name, ...args).catch((error: unknown) => {
      throw error instanceof InvalidStateError ? toError(error.message) : error;
    });
  }

  /** The refusal as an error. Also updates the health of the store. */
  errorOf(refusal: Refusal): Error {
    const { code, detail } = refusal;
    if (code === "INTERNAL") return new Error(detail);
    // An unknown outcome has two possible causes: the disk is full, or it has failed. If it has failed, the store stops anyway.
    if (code === "STORAGE_FULL" || code === "OUTCOME_UNKNOWN") this.#health.noteFull();
    return this.#health.damage.seen(problemOf(refusal));
  }
}

/** The parts of the store that commits use. */
export interface CommitsParts extends Pick<ResolvedStoreOptions, "answersPerTurn" | "groupCommit" | "meter"> {
  requests: WriterRequests;
  health: Health;
  numberOf: (collection: string) => number;
}

/** The commits of one store. */
export class Commits {
  readonly #parts: CommitsParts;
  readonly #queue: CommitQueue;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
    this.#queue = new CommitQueue(parts, { perform: (commits, since) => this.#send(commits, since) });
  }

  /** Writes a commit. Throws the reason if it was not written. */
  run(commit: Commit): Promise<Committed> {
    return this.#queue.run(commit);
  }

  /** Resolves when every commit has its outcome. */
  drained(): Promise<void> {
    return this.#queue.drained();
  }

  async #send(
    commits: readonly Commit[],
    since: readonly number[] | undefined,
  ): Promise<Outcome<Committed>[]> {
    const { requests, health, numberOf } = this.#parts;
    const cells: Cell[] = [];
    for (const commit of commits) encodeCommit(cells, commit, numberOf);
    const name = commits.some(isLargeCommit) ? "commitLarge" : "commit";
    const { sequences, refusals } = await requests.send(name, commits.length, cells, since);
    let position = 0;
    return commits.map(({ changes, isDryRun }, index) => {
      const refusal = refusals.get(index);
      if (refusal !== undefined) return { error: requests.errorOf(refusal) };
      if (isDryRun) return { answer: [] };
      health.noteSpace();
      return {
        answer: changes.map((change) => ({
          version: versionOf(change),
          sequence: toPlace(sequences[position++] as number),
        })),
      };
    });
  }
}

/** Starts an import into the collection with this number, or into one that it creates. Throws StartError. */
export async function beginLoad(
  requests: WriterRequests,
  into: number | CollectionRecord,
  options: Required<LoadOptions>,
): Promise<LoadTransaction> {
  const begin = (each: number | CollectionRecord) => {
    const toError = typeof each === "object" ? (message: string) => new StartError(message) : undefined;
    return requests.run("load", [each, options], toError);
  };
  let collection = await begin(into);
  return {
    async next(record) {
      collection = await begin(record);
    },
    add: (resources) => requests.run("add", [cellsOf(resources)]),
    holders: (unique, values) => requests.run("holders", [unique, values]),
    reserve: (n) => requests.run("reserve", [collection, n]),
    async check() {
      await requests.run("checkLoad", []);
    },
    async commit() {
      await requests.run("finish", []);
    },
    rollBack: () => requests.send("cancel"),
  };
}

function cellsOf(resources: readonly ImportedResource[]): Cell[] {
  const cells: Cell[] = [];
  for (const { id, text, replaces = null, endedBy = null } of resources)
    cells.push(id, text, replaces, endedBy);
  return cells;
}
