/**
 * A client that changes only its own resources, one request after the other. After a power cut, one question is therefore open: did
 * the request in progress take effect? A seed decides each request, and the client knows what its resources are after it.
 */
import type { createClient } from "../durability/program.ts";
import type { Random } from "./random.ts";

/** The attributes of a resource except its id. `mark` identifies it among the client's resources. */
export type Fields = Record<string, unknown> & { mark: string };

/** The client's resources, by collection and mark. */
export type State = ReadonlyMap<string, Fields>;

/** How long the texts of resources are: mostly short, or each of several pages, so that the log soon has 1,000 pages. */
export type TextLength = "mixed" | "long";

/** The requests and responses of a client. Requests are numbered from 0. */
export interface ClientLog {
  client: string;
  /** The resources after each request; the first entry is before any request. */
  states: readonly State[];
  /** The `Idempotency-Key` of each request that has one. */
  keys: readonly (string | undefined)[];
  /** The body of each response that arrived. */
  bodies: readonly (string | undefined)[];
  /** A response that a sound service does not send. The client sends nothing more after it. */
  complaint: string | undefined;
}

/** The number of the request with this `X-Request-Id`; `undefined` if another client sent it. */
export function numberOf(requestId: string, { client }: ClientLog): number | undefined {
  const [name, number] = requestId.split(".");
  return name === client ? Number(number) : undefined;
}

/** A request, and the client's resources after it. */
interface Attempt {
  name: string;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body?: unknown;
  key?: string;
  after: State;
  /** Takes the new ids from the response. */
  learn(body: Created): void;
}

type Created = { id?: string | number; results?: { body?: { id?: string | number } }[] };

/** The configuration of the service. */
export const configuration = {
  collections: {
    authors: {
      schema: {
        type: "object",
        required: ["email"],
        properties: {
          client: { type: "string" },
          mark: { type: "string" },
          email: { type: "string", maxLength: 100 },
          text: { type: "string" },
        },
      },
      unique: ["email"],
    },
    books: {
      id: "integer",
      indexes: ["client"],
      search: ["title"],
      references: { authorId: { collection: "authors", onDelete: "cascade" } },
      schema: {
        type: "object",
        properties: {
          client: { type: "string" },
          mark: { type: "string" },
          authorId: { type: "string" },
          title: { type: "string" },
          text: { type: "string" },
        },
      },
    },
  },
};

/** One client. */
export class Actor {
  readonly #client: string;
  readonly #random: Random;
  readonly #texts: TextLength;
  readonly #ids = new Map<string, string | number>();
  readonly #states: State[] = [new Map()];
  readonly #keys: (string | undefined)[] = [];
  readonly #bodies: (string | undefined)[] = [];
  #state: State = new Map();
  #open: Attempt | undefined;
  #tries = 0;
  #complaint: string | undefined;

  constructor(client: string, random: Random, texts: TextLength) {
    this.#client = client;
    this.#random = random;
    this.#texts = texts;
  }

  /** Whether a response was wrong. */
  get hasComplaint(): boolean {
    return this.#complaint !== undefined;
  }

  log(): ClientLog {
    return {
      client: this.#client,
      states: this.#states,
      keys: this.#keys,
      bodies: this.#bodies,
      complaint: this.#complaint,
    };
  }

  /** Sends the next request, or repeats one that got no response. Returns false if no response arrives, or a wrong one. */
  async act(connection: ReturnType<typeof createClient>): Promise<boolean> {
    if (this.hasComplaint) return false;
    this.#open ??= this.#next();
    const { name, method, path, body, key, after, learn } = this.#open;
    const headers = {
      "x-request-id": `${name}.${this.#tries++}`,
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const answer = await connection.send(method, path, body, headers);
    if (answer === undefined) return false;
    const isDone = answer.status < 300 || (method === "DELETE" && answer.status === 404);
    if (!isDone) {
      this.#complaint = `${name}: ${method} ${path} is ${answer.status}: ${answer.text}`;
      return false;
    }
    if (answer.text !== "") learn(JSON.parse(answer.text) as Created);
    this.#bodies[this.#keys.length - 1] = answer.text;
    this.#open = undefined;
    this.#state = after;
    return true;
  }

  #next(): Attempt {
    const number = this.#keys.length;
    const attempt = this.#decide(String(number));
    const hasKey = attempt.method === "POST" || (attempt.method === "PATCH" && this.#random() < 0.5);
    const key = hasKey ? `key-${this.#client}-${number}-` : undefined;
    this.#keys.push(key);
    this.#states.push(attempt.after);
    return { learn: () => {}, ...attempt, name: `${this.#client}.${number}`, ...(key && { key }) };
  }

  #decide(mark: string): Omit<Attempt, "name" | "key" | "learn"> & Partial<Pick<Attempt, "learn">> {
    const author = this.#any("authors");
    const book = this.#any("books");
    const dice = this.#random();
    if (author === undefined || dice < 0.12) return this.#create("authors", this.#author(mark));
    if (book === undefined || dice < 0.4) return this.#create("books", this.#book(mark, author));
    if (dice < 0.6) return this.#change("PATCH", book, { title: this.#title(mark), text: this.#text() });
    if (dice < 0.7) return this.#change("PUT", author, this.#author(author.fields.mark, mark));
    if (dice < 0.8) return this.#delete(book);
    if (dice < 0.85) return this.#delete(author);
    return this.#batch(mark, book);
  }

  #create(collection: string, fields: Fields) {
    return {
      method: "POST" as const,
      path: `/${collection}`,
      body: fields,
      after: this.#with([`${collection}/${fields.mark}`, fields]),
      learn: ({ id }: Created) => this.#learn(`${collection}/${fields.mark}`, id),
    };
  }

  #change(method: "PUT" | "PATCH", { address, fields }: Known, change: Partial<Fields>) {
    const id = this.#ids.get(address);
    const [collection] = address.split("/");
    return {
      method,
      path: `/${collection}/${id}`,
      body: method === "PUT" ? { id, ...change } : change,
      after: this.#with([address, (method === "PUT" ? change : { ...fields, ...change }) as Fields]),
    };
  }

  /** Deletes a resource. With an author, the service deletes the author's books. */
  #delete({ address }: Known) {
    const id = this.#ids.get(address);
    const [collection] = address.split("/");
    const left = [...this.#state].filter(
      ([other, { authorId }]) => other !== address && !(collection === "authors" && authorId === id),
    );
    return { method: "DELETE" as const, path: `/${collection}/${id}`, after: new Map(left) };
  }

  /** Creates an author with a book and changes another book, in one batch. */
  #batch(mark: string, book: Known) {
    const author = this.#author(`${mark}a`);
    const title = this.#title(mark);
    const own = this.#book(`${mark}b`, undefined);
    const after = this.#with(
      [`authors/${author.mark}`, author],
      [`books/${own.mark}`, own],
      [book.address, { ...book.fields, title }],
    );
    return {
      method: "POST" as const,
      path: "/_batch",
      body: {
        operations: [
          { method: "POST", path: "/authors", body: author, as: "author" },
          { method: "POST", path: "/books", body: { ...own, authorId: { $ref: "author" } } },
          { method: "PATCH", path: `/books/${this.#ids.get(book.address)}`, body: { title } },
        ],
      },
      after,
      learn: ({ results }: Created) => {
        this.#learn(`authors/${author.mark}`, results?.[0]?.body?.id);
        this.#learn(`books/${own.mark}`, results?.[1]?.body?.id);
        own.authorId = results?.[0]?.body?.id;
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
    return { client: this.#client, mark, authorId, title: this.#title(mark), text: this.#text() };
  }

  /** A word that no other title has, and a word that many titles have. */
  #title(mark: string): string {
    return `word${this.#client}x${mark} ${this.#random() < 0.5 ? "winter" : "summer"}`;
  }

  #text(): string {
    const [least, most] =
      this.#texts === "long" ? [20_000, 60_000] : [0, this.#random() < 0.2 ? 20_000 : 300];
    return "x".repeat(least + Math.floor(this.#random() * (most - least)));
  }
}

interface Known {
  address: string;
  fields: Fields;
}
