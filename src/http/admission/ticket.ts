/**
 * Admission: what all requests of one application share, and the ticket of each request. A ticket has everything that its
 * request holds: its place, its memory, its turns and its event stream. The end of the ticket gives all of it back.
 *
 * Small requests and responses always get memory: if a few clients use it up, only large ones are refused. The number of
 * connections limits the small ones.
 */
import { Problem } from "../../errors.ts";
import type { Limits } from "../settings.ts";
import { ByteQueue, type Expected, type Queued } from "./byte-queue.ts";
import type { Count } from "./counts.ts";
import type { Counting, Release, StreamRefusal } from "./exact-counts.ts";
import type { Connected } from "./gone.ts";
import { largeBytes } from "./turns.ts";

/** Content up to this size, in bytes, is never refused. */
const smallBytes = 16_384;

/** The size that counts for a read of unknown size: the longest page. */
const unknownBytes = 2_097_152;

/** Two of the longest pages at the same time. 500 waiting reads take a few seconds. */
const readLimits = { what: "large reads", maxBytes: 2 * unknownBytes, unknownBytes, maxWaiting: 500 };

/** The limits of all threads together. */
export interface AdmissionBounds {
  /** Content of requests in progress and of responses that are not read yet, in bytes. */
  maxHeldBytes: number;
  /** Requests in progress. */
  maxRequests: number;
}

/** The part of the service that admission uses. */
export interface AdmissionParts extends Pick<Counting, "counts" | "exact"> {
  readonly settings: {
    readonly limits: Pick<Limits, "streams" | "streamsPerCaller" | "handlerTimeoutMs" | "bodyBytes">;
  };
}

/** The admission of one application, in one thread. The queues belong to the thread. What is held counts for all threads. */
export class Admission {
  readonly parts: AdmissionParts;
  readonly requests: Count;
  readonly sizes = new ResourceSizes();
  readonly reads = new ByteQueue(readLimits);
  /** Large bodies that arrive: many at the same time, because clients can be slow. Each thread has its part of the memory. */
  readonly arriving: ByteQueue;
  /** Large bodies that are worked on: few at the same time, so that small requests run in between. */
  readonly atWork: ByteQueue;
  readonly #bounds: AdmissionBounds;
  readonly #held: Count;

  constructor(parts: AdmissionParts, bounds: AdmissionBounds) {
    const { counts, settings } = parts;
    this.parts = parts;
    this.requests = counts.requests;
    this.#held = counts.held;
    this.#bounds = bounds;
    const { bodyBytes, handlerTimeoutMs } = settings.limits;
    const bodies = { what: "large request bodies", unknownBytes: bodyBytes, maxWaitMs: handlerTimeoutMs };
    this.arriving = new ByteQueue({ ...bodies, maxBytes: 50_331_648 / counts.threads, maxWaiting: 500 });
    // `arriving` already limits how many bodies wait here.
    this.atWork = new ByteQueue({ ...bodies, maxBytes: 4_194_304, maxWaiting: Number.POSITIVE_INFINITY });
  }

  /** The bytes that this thread holds. Code that adds to it must subtract the same later. */
  get held(): number {
    return this.#held.own;
  }

  set held(bytes: number) {
    this.#held.own = bytes;
  }

  /** Whether no further request can start. */
  isFull(): boolean {
    return this.requests.all >= this.#bounds.maxRequests;
  }

  /**
   * Whether content of this size must be refused. `own` bytes of it are held already. Only what others hold counts, so a
   * single content can be larger than the limit.
   */
  isOver(bytes: number, own: number): boolean {
    return bytes > smallBytes && this.#held.all - own >= this.#bounds.maxHeldBytes;
  }

  /** Whether the memory or the number of requests is used up, so that other requests are refused. */
  isUsedUp(): boolean {
    return this.#held.all >= this.#bounds.maxHeldBytes || this.isFull();
  }

  /** Notes that a connection has arrived: large work lets it go first. */
  noteConnection(): void {
    this.reads.noteConnection();
    this.atWork.noteConnection();
  }
}

/** What one request holds. */
export class Ticket implements Queued {
  readonly #admission: Admission;
  readonly #client: Connected;
  readonly #isPart: boolean;
  /** The bytes of the content, and further ones. */
  #content = 0;
  #further = 0;
  #isInProgress = false;
  #endStream: Release | undefined;
  #nameCaller = () => "";
  #caller: string | undefined;

  constructor(admission: Admission, client: Connected, { isPart = false } = {}) {
    this.#admission = admission;
    this.#client = client;
    this.#isPart = isPart;
  }

  /** The ticket of an operation of a batch. It has its own turns. The batch counts the memory. */
  part(): Ticket {
    const part = new Ticket(this.#admission, this.#client, { isPart: true });
    part.identify(() => this.caller());
    return part;
  }

  /** `nameCaller` returns the name of the caller. It is only called if callers must take turns. */
  identify(nameCaller: () => string): void {
    this.#nameCaller = nameCaller;
  }

  /** The name of the caller; an empty text if it is not known yet, or if the service itself sends the request. */
  caller(): string {
    this.#caller ??= this.#nameCaller();
    return this.#caller;
  }

  get method(): string | undefined {
    return this.#client.method;
  }

  get socket(): Connected["socket"] {
    return this.#client.socket;
  }

  /** The sizes of resources that were read last. */
  get sizes(): ResourceSizes {
    return this.#admission.sizes;
  }

  /** All bytes that the request holds. */
  get heldBytes(): number {
    return this.#content + this.#further;
  }

  /** Counts the request as in progress. Returns false if there are too many. `mustPass`: it always counts. */
  enter(mustPass: boolean): boolean {
    if (this.#admission.isFull() && !mustPass) return false;
    this.#isInProgress = true;
    this.#admission.requests.own++;
    return true;
  }

  /** Waits until a large body can arrive. Throws what `ByteQueue.enter` throws. */
  arrive(bytes: number): Promise<void> | undefined {
    return this.#admission.arriving.enter(this, () => bytes);
  }

  /** Whether it had to ask for its turn to arrive. */
  get isArriving(): boolean {
    return this.#admission.arriving.bytesOf(this) > 0;
  }

  /** Waits until a large body can be worked on. Throws what `ByteQueue.enter` throws. */
  work(bytes: number): Promise<void> | undefined {
    return this.#admission.atWork.enter(this, () => bytes);
  }

  /** Ends the turn of a large body: the request only waits from now on, and others can be worked on. Its content still counts as held. */
  endWork(): void {
    const { arriving, atWork } = this.#admission;
    arriving.leave(this);
    atWork.leave(this);
  }

  /** Counts so many more bytes of content as held. Throws UNAVAILABLE while other requests hold too much. */
  addContent(bytes: number): void {
    // The response to a small patch can be large.
    const size = this.method === "PATCH" ? Number.POSITIVE_INFINITY : this.#content + bytes;
    if (this.#admission.isOver(size, this.heldBytes)) throw noMemoryForContent();
    this.#content += bytes;
    this.#admission.held += bytes;
  }

  /**
   * Waits for the turn of a large read, and counts the expected bytes as held. `undefined` if the read need not wait. A read
   * that waits holds no memory. Throws UNAVAILABLE while other requests hold too much memory or too many reads wait, and
   * INVALID_REQUEST if the client goes away.
   */
  read(expected: Expected): Promise<void> | undefined {
    const bytes = expected();
    if (bytes !== undefined && bytes < largeBytes) return undefined;
    return this.#admission.reads.enter(this, expected, (started) => {
      if (started === undefined) return;
      this.requireMemory(started);
      this.#holdInAll(started);
    });
  }

  /**
   * Corrects the expected size of a read, as soon as the size is known. A read that is larger than expected waits for another
   * turn. Throws as `read` does.
   */
  correct(bytes: number): Promise<void> | undefined {
    const { reads } = this.#admission;
    this.requireMemory(bytes);
    if (bytes <= Math.max(reads.bytesOf(this), largeBytes)) return undefined;
    reads.leave(this);
    this.#holdInAll(bytes);
    return this.read(() => bytes);
  }

  /** Ends the large read of the request, if it has one, and gives back what it holds beside its content. */
  endRead(): void {
    if (!this.#isPart) this.#admission.held -= this.#further;
    this.#further = 0;
    this.#admission.reads.leave(this);
  }

  /** Whether other requests hold too much memory for a response of this size. */
  isOver(bytes: number): boolean {
    return !this.#isPart && this.#admission.isOver(bytes, this.heldBytes);
  }

  /** Throws UNAVAILABLE while other requests hold too much memory for a read of this many bytes. Does not count them as held. */
  requireMemory(bytes: number): void {
    if (this.isOver(bytes)) throw noMemoryForResponse();
  }

  /** Counts at least `bytes` in total as held. Throws UNAVAILABLE while other requests hold too much memory. */
  hold(bytes: number): void {
    if (bytes <= smallBytes) return;
    if (this.isOver(bytes)) throw noMemoryForResource();
    this.#holdInAll(bytes);
  }

  /**
   * Counts the request as an event stream or waiting page of a caller, and no longer as in progress. Returns what ends this.
   * Throws UNAVAILABLE and QUOTA_EXCEEDED.
   */
  async stream(caller: string): Promise<Release> {
    const { requests, parts } = this.#admission;
    const given = await parts.exact.stream(caller);
    if (typeof given !== "function") throw tooManyStreams(given, parts.settings);
    requests.own--;
    this.#endStream = () => {
      this.#endStream = undefined;
      given();
      requests.own++;
    };
    return () => this.#endStream?.();
  }

  /** Gives back memory and turns. From now on, the response counts. */
  release(): void {
    this.#admission.held -= this.#content;
    this.#content = 0;
    this.endWork();
    this.endRead();
  }

  /** Gives back everything. */
  end(): void {
    this.release();
    this.#endStream?.();
    if (this.#isInProgress) this.#admission.requests.own--;
    this.#isInProgress = false;
  }

  /** Counts at least `bytes` in total as held. */
  #holdInAll(bytes: number): void {
    const more = bytes - this.heldBytes;
    if (more <= 0) return;
    this.#further += more;
    if (!this.#isPart) this.#admission.held += more;
  }
}

/** The maximum number of collections with a known size of resources. */
const maxCollections = 1_000;

/** The size of a resource in each collection: the mean of the page, or the resource, that was read last. */
class ResourceSizes {
  readonly #means = new Map<string, number>();

  /** The expected bytes of a page with up to `limit` resources; `undefined` if unknown. */
  ofPage(collection: string, limit: number): number | undefined {
    const mean = this.#means.get(collection);
    return mean === undefined ? undefined : Math.min(mean * limit, unknownBytes);
  }

  /** The expected bytes of one resource; 0 if unknown, because most are small. */
  ofOne(collection: string): number {
    return this.#means.get(collection) ?? 0;
  }

  /** Notes the size of one resource. Ignores a small one if the collection has no known size, because that counts as small. */
  noteOne(collection: string, bytes: number): void {
    if (bytes >= largeBytes || this.#means.has(collection)) this.notePage(collection, 1, bytes);
  }

  /** Notes the size of a page. */
  notePage(collection: string, resources: number, bytes: number): void {
    if (resources === 0) return;
    if (this.#means.size >= maxCollections) this.#means.clear();
    this.#means.set(collection, bytes / resources);
  }
}

/** The problem of a request that cannot start. */
export function tooManyInProgress(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service is busy with the most requests that it can process at once. Try again.",
  );
}

function tooManyStreams(of: StreamRefusal, { limits }: AdmissionParts["settings"]): Problem {
  const { streams, streamsPerCaller } = limits;
  const headers = { "retry-after": "5" };
  if (of === "caller")
    return new Problem(
      "QUOTA_EXCEEDED",
      `The limit is ${streamsPerCaller} event streams and waiting pages for each caller. Close one of them first.`,
      { headers },
    );
  return new Problem(
    "UNAVAILABLE",
    `The service allows at most ${streams} event streams and waiting pages. Try again later.`,
    { headers },
  );
}

/** The problem of a request or response without memory. */
export function noMemoryForResponse(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service has no memory left for a request or response of this size now. Try again.",
  );
}

/** The problem of content without memory. The connection closes, because the client is still sending. */
function noMemoryForContent(): Problem {
  return new Problem("UNAVAILABLE", "The service has no memory left for the request body now. Try again.", {
    headers: { connection: "close" },
  });
}

/** The problem of a write that changes large resources without memory for them. */
function noMemoryForResource(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service has no memory left for such large resources now, and changed nothing. Try again.",
  );
}
