/**
 * A client that changes resources of its own, one request after the other. So a power cut leaves one question open: has its next
 * request taken effect, or not? Each request is decided by a seed, and knows what the client's resources are once it has happened.
 */
import type { createClient } from "../durability/program.ts";
import type { Random } from "./random.ts";

/** What a resource holds beside its id. `mark` tells it from the client's others. */
export type Fields = Record<string, unknown> & { mark: string };

/** The client's resources, by collection and mark. */
export type State = ReadonlyMap<string, Fields>;

/** A request, and what is so once it has happened. */
interface Attempt {
  name: string;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body?: unknown;
  key?: string;
  after: State;
  /** Learns the new ids from the answer. */
  learn(answer: Answered): void;
}

type Answered = { id?: string | number; results?: { body?: { id?: string | number } }[] };

/** The collections of the service that actors talk to. */
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
  readonly client: string;
  readonly #random: Random;
  readonly #ids = new Map<string, string | number>();
  #state: State = new Map();
  #open: Attempt | undefined;
  #tries = 0;
  /** What is so after each request, the first being what is so before any. */
  readonly states: State[] = [new Map()];
  /** A response that no request of a sound service gets; the client sends nothing more then. */
  complaint: string | undefined;
  /** The key of each request that has one. */
  readonly keys: (string | undefined)[] = [];

  constructor(client: string, random: Random) {
    this.client = client;
    this.#random = random;
  }

  /** The place among the requests of the one with this name, or of a retry of it; `undefined` for those of others. */
  positionOf(name: string): number | undefined {
    const [client, position] = name.split(".");
    return client === this.client ? Number(position) : undefined;
  }

  /** Sends the next request, or again one that got no answer. Gives false when no answer comes, or a wrong one. */
  async act(connection: ReturnType<typeof createClient>): Promise<boolean> {
    if (this.complaint !== undefined) return false;
    const attempt = this.#open ?? this.#next();
    if (attempt !== this.#open) this.states.push(attempt.after);
    this.#open = attempt;
    const { name, method, path, body, key, after } = attempt;
    const headers = {
      "x-request-id": `${name}.${this.#tries++}`,
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const answer = await connection.send(method, path, body, headers);
    if (answer === undefined) return false;
    const isDone = answer.status < 300 || (method === "DELETE" && answer.status === 404);
    if (!isDone) {
      this.complaint = `${name}: ${method} ${path} is ${answer.status}: ${answer.text}`;
      return false;
    }
    if (answer.text !== "") attempt.learn(JSON.parse(answer.text) as Answered);
    this.#open = undefined;
    this.#state = after;
    return true;
  }

  #next(): Attempt {
    const position = this.states.length - 1;
    const key = `key-${this.client}-${position}-`;
    const name = `${this.client}.${position}`;
    const attempt = this.#decide(String(position));
    const hasKey = attempt.method === "POST" || (attempt.method === "PATCH" && this.#random() < 0.5);
    this.keys.push(hasKey ? key : undefined);
    return { learn: () => {}, ...attempt, name, ...(hasKey && { key }) };
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
      learn: ({ id }: Answered) => this.#learn(`${collection}/${fields.mark}`, id),
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

  /** Deletes a resource, and with an author all books of theirs. */
  #delete({ address }: Known) {
    const id = this.#ids.get(address);
    const [collection] = address.split("/");
    const left = [...this.#state].filter(
      ([other, { authorId }]) => other !== address && !(collection === "authors" && authorId === id),
    );
    return { method: "DELETE" as const, path: `/${collection}/${id}`, after: new Map(left) };
  }

  /** Makes an author with a book and changes another book, all or nothing. */
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
      learn: ({ results }: Answered) => {
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
    return { client: this.client, mark, email: `${mark}-${turn}@${this.client}.example`, text: this.#text() };
  }

  #book(mark: string, author: Known | undefined): Fields {
    const authorId = author && this.#ids.get(author.address);
    return { client: this.client, mark, authorId, title: this.#title(mark), text: this.#text() };
  }

  /** A word that no other title has, and one that many have. */
  #title(mark: string): string {
    return `word${this.client}x${mark} ${this.#random() < 0.5 ? "winter" : "summer"}`;
  }

  /** Mostly short, sometimes of several pages. */
  #text(): string {
    const length = this.#random() < 0.2 ? 20_000 : 300;
    return "x".repeat(Math.floor(this.#random() * length));
  }
}

interface Known {
  address: string;
  fields: Fields;
}
