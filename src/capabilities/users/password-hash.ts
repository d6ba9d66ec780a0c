/**
 * Hashes of passwords: argon2id, in threads of their own. What waits for these threads is bounded, for the process and for each
 * network. With several threads that answer requests, the main thread has the hasher, and the others ask it.
 */
import crypto, { randomBytes, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { Problem, StartError } from "../../errors.ts";
import { startThread } from "../../program.ts";
import { normalizedPassword } from "./password-rules.ts";
import type { HashResult, HashTask } from "./password-thread.ts";

/** Hashes passwords and compares them with hashes. */
export interface PasswordHasher {
  /**
   * A new hash of a password in its normalized form, as a PHC string. Throws UNAVAILABLE if too many calls wait in the process, and QUOTA_EXCEEDED if too
   * many wait for this network. If `gone` is aborted before a thread begins, it does not begin, and the call rejects with
   * INVALID_REQUEST.
   */
  hash(password: string, network: string, gone?: AbortSignal): Promise<string>;
  /**
   * Compares a password with a PHC string. `undefined` means an unknown user: no password is right, and the answer takes as
   * long. Throws as `hash`, and an Error if the text is no hash.
   */
  verify(password: string, phc: string | undefined, network: string, gone?: AbortSignal): Promise<Verified>;
  /** The calls that have no answer yet, of all threads; 0 in a thread that is not the main thread. */
  readonly waiting: number;
  /** Ends the threads. Calls that wait, and later ones, reject with UNAVAILABLE. */
  close(): Promise<void>;
}

/** The result of a comparison. */
export interface Verified {
  isRight: boolean;
  /** The password is right, but new hashes have other parameters: replace the hash. */
  isOutdated: boolean;
}

/** How a hasher works. */
export interface HasherOptions {
  /** How many hashes are made at the same time. Each needs 19 MiB. @default 1, and 2 from four processors */
  threads?: number;
  /** Whether to hash in the calling thread, which does nothing else meanwhile. @default false */
  isHere?: boolean;
  /** Called with the time of each hash in its thread, in seconds. @default does nothing */
  onHash?: (seconds: number) => void;
}

/** The parameters of new hashes, as the OWASP recommends them: 19 MiB, 2 passes, 1 lane. */
const current = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const nonceLength = 16;

/** The calls without an answer, in the process and for one network. */
const most = { all: 100, ofNetwork: 4 };

/** A call without an answer. */
interface Pending {
  task: HashTask;
  resolve(tag: Uint8Array): void;
  reject(error: unknown): void;
}

/** The hasher of the main thread. It starts a thread at the first call, unless it hashes here. Throws StartError if this version of Node cannot hash. */
export function createPasswordHasher(options: HasherOptions = {}): PasswordHasher {
  if (crypto.argon2Sync === undefined)
    throw new StartError(`passwords need Node 24.7 or later, and this is ${process.version}.`);
  return new ThreadedHasher(options);
}

class ThreadedHasher implements PasswordHasher {
  readonly #threads: number;
  readonly #isHere: boolean;
  readonly #onHash: (seconds: number) => void;
  /** The threads that run, each with the call that it works on. */
  readonly #workers = new Map<Worker, Pending | undefined>();
  /** The calls that no thread works on. */
  #queue: Pending[] = [];
  readonly #waitingOf = new Map<string, number>();
  #waiting = 0;
  /** How long the last hash took. */
  #seconds = 0.03;
  #isClosed = false;

  constructor({
    threads = availableParallelism() < 4 ? 1 : 2,
    isHere = false,
    onHash = () => {},
  }: HasherOptions) {
    this.#threads = threads;
    this.#isHere = isHere;
    this.#onHash = onHash;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async hash(password: string, network: string, gone?: AbortSignal): Promise<string> {
    if (!password.isWellFormed()) throw new TypeError("The password has half of a surrogate pair.");
    const parameters = { ...current, nonce: randomBytes(nonceLength) };
    const message = Buffer.from(normalizedPassword(password));
    return toPhc(parameters, await this.#run({ ...parameters, message }, network, gone));
  }

  async verify(
    password: string,
    phc: string | undefined,
    network: string,
    gone?: AbortSignal,
  ): Promise<Verified> {
    const { parameters, tag: expected } = parsePhc(phc ?? unknown);
    const message = Buffer.from(normalizedPassword(password));
    const tag = await this.#run({ ...parameters, message }, network, gone);
    const isRight = timingSafeEqual(tag, expected) && phc !== undefined && password.isWellFormed();
    return { isRight, isOutdated: isRight && !isCurrent(parameters) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const workers = [...this.#workers.keys()];
    this.#rejectAll("The service stops.");
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  async #run(task: HashTask, network: string, gone: AbortSignal | undefined): Promise<Uint8Array> {
    if (this.#isClosed) throw new Problem("UNAVAILABLE", "The service stops.");
    if (gone?.aborted === true) throw clientWentAway();
    if (this.#isHere) return crypto.argon2Sync("argon2id", task);
    const ofNetwork = this.#waitingOf.get(network) ?? 0;
    if (ofNetwork >= most.ofNetwork)
      throw new Problem(
        "QUOTA_EXCEEDED",
        `${most.ofNetwork} passwords of your network are being checked. Try again in 1 second.`,
        { headers: { "retry-after": "1" }, policy: "password-waiting" },
      );
    if (this.#waiting >= most.all)
      throw new Problem("UNAVAILABLE", "Too many passwords are being checked. Try again in a few seconds.", {
        headers: { "retry-after": String(Math.ceil((most.all * this.#seconds) / this.#threads)) },
      });
    this.#waiting++;
    this.#waitingOf.set(network, ofNetwork + 1);
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const pending: Pending = { task, resolve, reject };
    const leave = () => {
      if (!this.#queue.includes(pending)) return; // a thread works on it
      this.#queue = this.#queue.filter((each) => each !== pending);
      reject(clientWentAway());
    };
    gone?.addEventListener("abort", leave);
    try {
      this.#queue.push(pending);
      this.#next();
      return await promise;
    } finally {
      gone?.removeEventListener("abort", leave);
      this.#waiting--;
      const left = (this.#waitingOf.get(network) as number) - 1;
      if (left === 0) this.#waitingOf.delete(network);
      else this.#waitingOf.set(network, left);
    }
  }

  /** Gives the first call of the queue to a thread that has nothing to do. */
  #next(): void {
    if (this.#queue.length === 0) return;
    const [idle] = [...this.#workers].find(([, pending]) => pending === undefined) ?? [];
    const worker = idle ?? (this.#workers.size < this.#threads ? this.#start() : undefined);
    if (worker === undefined) return;
    const pending = this.#queue.shift() as Pending;
    this.#workers.set(worker, pending);
    worker.ref(); // until it has answered
    worker.postMessage(pending.task);
  }

  #start(): Worker {
    const worker = startThread("capabilities/users/password-thread", { name: "holdfast-passwords" });
    worker.on("message", ({ tag, seconds }: HashResult) => {
      worker.unref();
      const pending = this.#workers.get(worker);
      if (pending === undefined) return; // it was rejected
      this.#workers.set(worker, undefined);
      this.#next();
      this.#seconds = seconds;
      this.#onHash(seconds);
      pending.resolve(tag);
    });
    worker.once("error", (error) => this.#rejectAll("The thread that checks passwords has failed.", error));
    worker.once("exit", () => {
      if (this.#workers.has(worker)) this.#rejectAll("The thread that checks passwords has ended.");
    });
    return worker;
  }

  /** Forgets the threads, so that the next call starts new ones. */
  #rejectAll(reason: string, cause?: unknown): void {
    const pending = [...this.#workers.values(), ...this.#queue];
    for (const worker of this.#workers.keys()) void worker.terminate();
    this.#workers.clear();
    this.#queue = [];
    for (const each of pending) each?.reject(new Problem("UNAVAILABLE", `${reason} Try again.`, { cause }));
  }
}

type Parameters = Omit<HashTask, "message">;

/** A hash that no password is known to have. */
const unknown = toPhc({ ...current, nonce: new Uint8Array(nonceLength) }, new Uint8Array(current.tagLength));

function toPhc({ memory, passes, parallelism, nonce }: Parameters, tag: Uint8Array): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
}

const phcForm = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([a-z\d+/]+)\$([a-z\d+/]+)$/i;

function parsePhc(phc: string): { parameters: Parameters; tag: Uint8Array } {
  const [, memory, passes, parallelism, nonceText = "", tagText = ""] = phcForm.exec(phc) ?? [];
  const nonce = Buffer.from(nonceText, "base64");
  const tag = Buffer.from(tagText, "base64");
  if (tag.length < 16) throw new Error("The stored hash of a password is damaged.");
  const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { parameters: { ...costs, nonce, tagLength: tag.length }, tag };
}

function isCurrent({ nonce, ...parameters }: Parameters): boolean {
  const names = Object.keys(current) as (keyof typeof current)[];
  return nonce.length === nonceLength && names.every((name) => parameters[name] === current[name]);
}

/** Base64 without padding, as in PHC strings. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the password was checked.");
}

/** What the main thread does for the passwords of one other thread. */
export type HashMethods = ReturnType<typeof hashMethods>;

/** The methods for one other thread. Each call has a name, so that its client can leave the queue. */
export function hashMethods(hasher: PasswordHasher) {
  const calls = new Map<string, AbortController>();
  const named = async <T>(name: string, work: (gone: AbortSignal) => Promise<T>): Promise<T> => {
    const gone = new AbortController();
    calls.set(name, gone);
    try {
      return await work(gone.signal);
    } finally {
      calls.delete(name);
    }
  };
  return {
    hashPassword: (name: string, password: string, network: string) =>
      named(name, (gone) => hasher.hash(password, network, gone)),
    verifyPassword: (name: string, password: string, phc: string | undefined, network: string) =>
      named(name, (gone) => hasher.verify(password, phc, network, gone)),
    leavePasswords: (name: string) => calls.get(name)?.abort(),
  };
}

/** The hasher of another thread: it asks that of the main thread. */
export function joinPasswordHasher(
  call: (method: keyof HashMethods, ...args: (string | undefined)[]) => Promise<unknown>,
): PasswordHasher {
  let calls = 0;
  const named = async (gone: AbortSignal | undefined, work: (name: string) => Promise<unknown>) => {
    if (gone?.aborted === true) throw clientWentAway();
    const name = String(++calls);
    const leave = () => void call("leavePasswords", name);
    gone?.addEventListener("abort", leave);
    try {
      return await work(name);
    } finally {
      gone?.removeEventListener("abort", leave);
    }
  };
  return {
    hash: (password, network, gone) =>
      named(gone, (name) => call("hashPassword", name, password, network)) as Promise<string>,
    verify: (password, phc, network, gone) =>
      named(gone, (name) => call("verifyPassword", name, password, phc, network)) as Promise<Verified>,
    waiting: 0,
    close: async () => {},
  };
}
