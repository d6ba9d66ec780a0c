/**
 * A client that changes its own resources, one request after the other. After a power cut, one question is therefore open: did the
 * request in progress take effect? A seed decides each request, and the client knows what its resources are after it. All clients
 * also change the same counters, and read what others have written.
 */
import { isDeepStrictEqual } from "node:util";
import type { Answer, createClient } from "../durability/program.ts";
import type { Random } from "../seed.ts";
import { machineTime, nextMillisecond } from "../until.ts";

/** The attributes of a resource except its id. `mark` identifies it among the client's resources. */
export type Fields = Record<string, unknown> & { mark: string };

/** The client's resources, by collection and mark. */
export type State = ReadonlyMap<string, Fields>;

/** How long the texts of resources are: mostly short, or each of several pages, so that the log soon has 1,000 pages. */
export type TextLength = "mixed" | "long";

/** A resource that a client read, as its JSON text: `undefined` if it was deleted. */
export interface Sight {
  collection: string;
  id: string;
  text: string | undefined;
}

/** A request, and the client's resources after it. */
export interface Request {
  after: State;
  key?: string | undefined;
  /** The counter that it changes, and the text that it adds there. */
  counts?: { counter: string; text: string };
  /** The resource that it erases: its place, its id and a text that nothing else has. */
  erases?: { address: string; id: string; text: string };
  /** The body of the response, if it arrived. */
  body?: string;
  /** Whether the response was a refusal that changes nothing. */
  isRefused?: boolean;
  /** What the response showed. */
  sights?: readonly Sight[];
  /** How many changes of books the client had received with this response, from the first one. */
  followed?: number;
}

/** The requests and responses of a client. Requests are numbered from 0. */
export interface ClientLog {
  client: string;
  requests: readonly Request[];
  /** The changes of books that the client received, in order: the id and version of each. */
  followed: readonly string[];
  /** A response that a sound service does not send. The client sends nothing more after it. */
  complaint: string | undefined;
}

/** The resources of a client after so many requests. */
export function stateAfter({ requests }: ClientLog, count: number): State | undefined {
  return count === 0 ? new Map() : requests[count - 1]?.after;
}

/** The number of the request with this `X-Request-Id`; `undefined` if another client sent it. */
export function numberOf(requestId: string, { client }: ClientLog): number | undefined {
  const [name, number] = requestId.split(".");
  return name === client ? Number(number) : undefined;
}

interface Attempt extends Request {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  content?: unknown;
  headers?: Record<string, string>;
  /** Whether an error means that nothing is left to do. */
  isDone?(answer: NonNullable<Answer>, isRepeated: boolean): boolean;
  /** Takes from the response what the client does not know yet. */
  learn?(answer: NonNullable<Answer>): void;
}

const text = { type: "string" } as const;
const own = { client: text, mark: text, text } as const;
const whole = { type: "integer" } as const;

/** The counters that all clients share. */
export const counters = ["one", "two"] as const;

/** The configuration of the service. `history` says how long changes are kept. */
export function configurationOf(history: unknown) {
  return {
    ...(history !== undefined && { history }),
    webhooks: { allow: ["127.0.0.1/32"] },
    collections: {
      authors: {
        schema: {
          type: "object",
          required: ["email"],
          properties: { ...own, email: { type: "string", maxLength: 100 } },
        },
        unique: ["email"],
      },
      books: {
        id: "integer",
        indexes: ["client"],
        search: ["title"],
        references: { authorId: { collection: "authors", onDelete: "cascade" } },
        schema: { type: "object", properties: { ...own, authorId: text, title: text, views: whole } },
      },
      drafts: { schema: { type: "object", properties: own } },
      counters: {
        schema: { type: "object", properties: { n: whole, log: { type: "array", items: text } } },
      },
    },
  };
}

/** How an actor works. */
export interface Part {
  client: string;
  random: Random;
  texts: TextLength;
  /** The names of all clients. */
  all: readonly string[];
  /** Whether the service keeps all changes. The client then follows them, and the first client rewinds its drafts. */
  keepsAll: boolean;
}

/** One client. */
export class Actor {
  readonly #part: Part;
  readonly #client: string;
  readonly #random: Random;
  readonly #ids = new Map<string, string | number>();
  readonly #requests: Request[] = [];
  readonly #followed: string[] = [];
  /** The counters as the client last saw them. */
  readonly #seen = new Map<string, { etag: string; n: number; log: string[] }>();
  #next = "/books/_events?limit=100";
  #bookSeen: string | undefined;
  /** A time at which no request of the client was in progress, and its drafts then. */
  #moment: { to: string; drafts: State } | undefined;
  #state: State = new Map();
  #open: Attempt | undefined;
  #tries = 0;
  #complaint: string | undefined;

  constructor(part: Part) {
    this.#part = part;
    this.#client = part.client;
    this.#random = part.random;
  }

  /** Whether a response was wrong. */
  get hasComplaint(): boolean {
    return this.#complaint !== undefined;
  }

  log(): ClientLog {
    return {
      client: this.#client,
      requests: this.#requests,
      followed: this.#followed,
      complaint: this.#complaint,
    };
  }

  /** Sends the next request, or repeats one that got no response. Returns false if no response arrives, or a wrong one. */
  async act(connection: ReturnType<typeof createClient>): Promise<boolean> {
    if (this.hasComplaint) return false;
    const isRepeated = this.#open !== undefined;
    if (this.#open === undefined) await this.#notice();
    this.#open ??= this.#begin(this.#decide(String(this.#requests.length)));
    const { method, path, content, headers, isDone, key } = this.#open;
    const answer = await connection.send(method, path, content, {
      "x-request-id": `${this.#client}.${this.#requests.length - 1}.${this.#tries++}`,
      ...(key !== undefined && { "idempotency-key": key }),
      ...headers,
    });
    if (answer === undefined) return false;
    if (answer.status >= 300 && isDone?.(answer, isRepeated) !== true) {
      this.#complaint = `${this.#client}: ${method} ${path} is ${answer.status}: ${answer.text}`;
      return false;
    }
    this.#settle(answer);
    return true;
  }

  /**
   * Begins the erasure of an author, which a command does. Returns the arguments of the command, or `undefined` without an author or
   * while a request has no response. `erased` must follow.
   */
  erase(): { name: string; args: string[] } | undefined {
    const author = this.#any("authors");
    if (author === undefined || this.#open !== undefined) return undefined;
    const { address, fields } = author;
    const id = String(this.#ids.get(address));
    const { after } = this.#delete(author);
    this.#open = this.#begin({
      method: "DELETE",
      path: "",
      after,
      erases: { address, id, text: String(fields.email) },
    });
    return { name: `${this.#client}.${this.#requests.length - 1}`, args: ["erase", "authors", id] };
  }

  /** The erasure has ended. */
  erased(): void {
    this.#settle({ status: 205, headers: {}, text: "" });
  }

  #begin(attempt: Attempt): Attempt {
    const { method } = attempt;
    const hasKey = method === "POST" && !attempt.path.endsWith("_import");
    const key = hasKey || attempt.counts !== undefined || (method === "PATCH" && this.#random() < 0.5);
    const number = this.#requests.length;
    const begun = { ...attempt, ...(key && { key: `key-${this.#client}-${number}-` }) };
    const { after, counts, erases } = begun;
    this.#requests.push({ after, key: begun.key, ...(counts && { counts }), ...(erases && { erases }) });
    return begun;
  }

  #settle(answer: NonNullable<Answer>): void {
    const request = this.#requests.at(-1);
    const attempt = this.#open;
    if (request === undefined || attempt === undefined) throw new Error("no request is in progress");
    request.body = answer.text;
    request.isRefused = answer.status >= 300;
    this.#open = undefined;
    this.#state = attempt.after;
    attempt.learn?.(answer);
  }

  /** Notices a moment to which the client can go back later. Its next change is later. */
  async #notice(): Promise<void> {
    const drafts = this.#drafts();
    if (drafts.size === 0 || this.#random() > 0.3) return;
    this.#moment = { to: new Date(machineTime()).toISOString(), drafts };
    await nextMillisecond();
  }

  #drafts(): State {
    return new Map([...this.#state].filter(([address]) => address.startsWith("drafts/")));
  }

  #decide(mark: string): Attempt {
    const { keepsAll, client, all } = this.#part;
    const author = this.#any("authors");
    const book = this.#any("books");
    const dice = this.#random();
    if (author === undefined || dice < 0.08) return this.#create("authors", this.#author(mark));
    if (book === undefined || dice < 0.24) return this.#create("books", this.#book(mark, author));
    if (dice < 0.3) return this.#import(mark);
    if (dice < 0.37) return this.#change("PATCH", book, { title: this.#title(mark), text: this.#text() });
    if (dice < 0.42) return this.#update(book);
    if (dice < 0.48) return this.#change("PUT", author, this.#author(author.fields.mark, mark));
    if (dice < 0.52) return this.#delete(book);
    if (dice < 0.55) return this.#delete(author);
    if (dice < 0.65) return this.#batch(mark, book);
    if (dice < 0.72) return this.#bulk(book);
    if (dice < 0.82) return this.#count(mark);
    if (keepsAll && client === all[0]) return this.#draft(mark);
    return this.#read();
  }

  #create(collection: string, fields: Fields): Attempt {
    return {
      method: "POST",
      path: `/${collection}`,
      content: fields,
      after: this.#with([`${collection}/${fields.mark}`, fields]),
      learn: ({ text }) => this.#learn(`${collection}/${fields.mark}`, JSON.parse(text).id),
    };
  }

  /** Imports authors with their ids. An import has no key: if its response is lost, a repetition finds the ids taken. */
  #import(mark: string): Attempt {
    const authors = ["x", "y", "z"].map((letter) => this.#author(`${mark}${letter}`));
    const idOf = (fields: Fields) => `${this.#client}-${fields.mark}`;
    for (const fields of authors) this.#learn(`authors/${fields.mark}`, idOf(fields));
    return {
      method: "POST",
      path: "/authors/_import",
      content: authors.map((fields) => ({ id: idOf(fields), ...fields })),
      after: this.#with(...authors.map((fields): [string, Fields] => [`authors/${fields.mark}`, fields])),
      isDone: ({ status, text }, isRepeated) => isRepeated && status === 400 && text.includes('"unique"'),
    };
  }

  #change(method: "PUT" | "PATCH", { address, fields }: Known, change: Partial<Fields>): Attempt {
    const id = this.#ids.get(address);
    const [collection] = address.split("/");
    return {
      method,
      path: `/${collection}/${id}`,
      content: method === "PUT" ? { id, ...change } : change,
      after: this.#with([address, (method === "PUT" ? change : { ...fields, ...change }) as Fields]),
    };
  }

  #update({ address, fields }: Known): Attempt {
    return {
      method: "PATCH",
      path: `/books/${this.#ids.get(address)}`,
      content: { views: { $max: Number(fields.views) + 2 } },
      headers: { "content-type": operators },
      after: this.#with([address, { ...fields, views: Number(fields.views) + 2 }]),
    };
  }

  /** Deletes a resource. With an author, the service deletes the author's books. */
  #delete({ address }: Known): Attempt {
    const id = this.#ids.get(address);
    const [collection] = address.split("/");
    const left = [...this.#state].filter(
      ([other, { authorId }]) => other !== address && !(collection === "authors" && authorId === id),
    );
    return {
      method: "DELETE",
      path: `/${collection}/${id}`,
      after: new Map(left),
      isDone: ({ status }) => status === 404,
    };
  }

  /** Creates an author with a book and changes another book, in one batch. */
  #batch(mark: string, book: Known): Attempt {
    const author = this.#author(`${mark}a`);
    const title = this.#title(mark);
    const own = this.#book(`${mark}b`, undefined);
    return {
      method: "POST",
      path: "/_batch",
      content: {
        operations: [
          { method: "POST", path: "/authors", body: author, as: "author" },
          { method: "POST", path: "/books", body: { ...own, authorId: { $ref: "author" } } },
          { method: "PATCH", path: `/books/${this.#ids.get(book.address)}`, body: { title } },
        ],
      },
      after: this.#with(
        [`authors/${author.mark}`, author],
        [`books/${own.mark}`, own],
        [book.address, { ...book.fields, title }],
      ),
      learn: ({ text }) => {
        const [first, second] = JSON.parse(text).results;
        this.#learn(`authors/${author.mark}`, first.body.id);
        this.#learn(`books/${own.mark}`, second.body.id);
        own.authorId = first.body.id;
      },
    };
  }

  /** Changes all books of the client, or deletes one of them by a filter. */
  #bulk({ address, fields }: Known): Attempt {
    const isDelete = this.#random() < 0.3;
    const filter = { client: this.#client, ...(isDelete && { mark: fields.mark }) };
    const what = isDelete ? { delete: true } : { update: { views: { $increment: 1 } } };
    const all = [...this.#state].filter(([other]) => other.startsWith("books/"));
    const more = all.map(([other, book]): [string, Fields] => [
      other,
      { ...book, views: Number(book.views) + 1 },
    ]);
    return {
      method: "POST",
      path: "/books/_bulk",
      content: { filter, ...what, max: 1_000 },
      after: isDelete ? this.#without(address) : this.#with(...more),
    };
  }

  /** Reads a counter, or adds to it: without reading it, or over the version that was read. */
  #count(mark: string): Attempt {
    const counter = counters[this.#random() < 0.5 ? 0 : 1];
    const path = `/counters/${counter}`;
    const dice = this.#random();
    const entry = `${this.#client}.${mark}`;
    const counts = { counter, text: entry };
    const seen = this.#seen.get(counter);
    if (dice < 0.3)
      return this.#readOne("counters", counter, ({ headers, text }) =>
        this.#seen.set(counter, { ...JSON.parse(text), etag: headers.etag }),
      );
    if (dice < 0.6 || seen === undefined) {
      const body = { n: { $increment: 1 }, log: { $append: [entry] } };
      const headers = { "content-type": operators };
      return { method: "PATCH", path, content: body, headers, counts, after: this.#state };
    }
    this.#seen.delete(counter);
    return {
      method: "PATCH",
      path,
      content: { n: seen.n + 1, log: [...seen.log, entry] },
      headers: { "if-match": seen.etag },
      counts,
      after: this.#state,
      isDone: ({ status }) => status === 412,
    };
  }

  /** Creates or changes a draft, or takes all drafts back to an earlier time. */
  #draft(mark: string): Attempt {
    const draft = this.#any("drafts");
    const dice = this.#random();
    const { to, drafts } = this.#moment ?? {};
    const isMoved = drafts !== undefined && !isDeepStrictEqual(drafts, this.#drafts());
    if (dice < 0.3 && isMoved) {
      const others = [...this.#state].filter(([address]) => !address.startsWith("drafts/"));
      return {
        method: "POST",
        path: "/_rewind",
        content: { to, collections: ["drafts"], max: 1_000 },
        after: new Map([...others, ...drafts]),
      };
    }
    if (draft === undefined || dice < 0.6)
      return this.#create("drafts", { client: this.#client, mark, text: this.#text() });
    return dice < 0.8
      ? this.#delete(draft)
      : this.#change("PATCH", draft, { text: `${mark}${this.#text()}` });
  }

  /** Reads books of another client, or the changes of books since the last time. */
  #read(): Attempt {
    const dice = this.#random();
    if (dice < 0.4 && this.#part.keepsAll) return this.#follow();
    if (dice < 0.7 && this.#bookSeen !== undefined) return this.#readOne("books", this.#bookSeen);
    const other = this.#part.all[Math.floor(this.#random() * this.#part.all.length)];
    return this.#look(`/books?client=${other}&limit=20&sort=-id`, ({ text }) => {
      const books = JSON.parse(text) as { id: number }[];
      this.#bookSeen = books.length === 0 ? undefined : String(books[0]?.id);
      return books.map((book) => ({ collection: "books", id: String(book.id), text: JSON.stringify(book) }));
    });
  }

  #follow(): Attempt {
    return this.#look(this.#next, ({ text, headers }) => {
      const events = JSON.parse(text) as { subject: string; version: string }[];
      this.#followed.push(...events.map(({ subject, version }) => `${subject}/${version}`));
      this.#next = /<\/api\/v1([^>]+)>; rel="next"/.exec(String(headers.link))?.[1] ?? this.#next;
      const request = this.#requests.at(-1);
      if (request !== undefined) request.followed = this.#followed.length;
      return [];
    });
  }

  #readOne(collection: string, id: string, learn = (_: NonNullable<Answer>) => {}): Attempt {
    return {
      ...this.#look(`/${collection}/${id}`, (answer) => {
        if (answer.status === 404) return [{ collection, id, text: undefined }];
        learn(answer);
        return [{ collection, id, text: answer.text }];
      }),
      isDone: ({ status }) => status === 404,
    };
  }

  #look(path: string, sightsIn: (answer: NonNullable<Answer>) => readonly Sight[]): Attempt {
    return {
      method: "GET",
      path,
      after: this.#state,
      learn: (answer) => {
        const request = this.#requests.at(-1);
        if (request !== undefined) request.sights = sightsIn(answer);
      },
    };
  }

  #learn(address: string, id: string | number | undefined): void {
    if (id === undefined) throw new Error(`${address} has no id`);
    this.#ids.set(address, id);
  }

  #with(...changes: [string, Fields][]): State {
    return new Map([...this.#state, ...changes]);
  }

  #without(address: string): State {
    return new Map([...this.#state].filter(([other]) => other !== address));
  }

  #any(collection: string): Known | undefined {
    const all = [...this.#state].filter(([address]) => address.startsWith(`${collection}/`));
    const found = all[Math.floor(this.#random() * all.length)];
    return found && { address: found[0], fields: found[1] };
  }

  #author(mark: string, turn = mark): Fields {
    return {
      client: this.#client,
      mark,
      email: `${mark}-${turn}@${this.#client}.example`,
      text: this.#text(),
    };
  }

  #book(mark: string, author: Known | undefined): Fields {
    const authorId = author && this.#ids.get(author.address);
    const title = this.#title(mark);
    return { client: this.#client, mark, authorId, title, views: 0, text: this.#text() };
  }

  /** A word that no other title has, and a word that many titles have. */
  #title(mark: string): string {
    return `word${this.#client}x${mark} ${this.#random() < 0.5 ? "winter" : "summer"}`;
  }

  #text(): string {
    const [least, most] =
      this.#part.texts === "long" ? [20_000, 60_000] : [0, this.#random() < 0.2 ? 20_000 : 300];
    return "x".repeat(least + Math.floor(this.#random() * (most - least)));
  }
}

const operators = "application/vnd.holdfast.update+json";

interface Known {
  address: string;
  fields: Fields;
}
