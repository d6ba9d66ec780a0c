/** The load of a soak: workers with a constant total rate, and readers of event streams that connect again and again. */
import { request } from "node:http";
import { setTimeout as pass } from "node:timers/promises";
import { generator, type Random } from "../seed.ts";
import { type Answer, type Client, createClient } from "./client.ts";
import { Ledger } from "./ledger.ts";

/** How much of a load. */
export interface LoadOptions {
  port: number;
  workers: number;
  requestsPerSecond: number;
  streams: number;
  /** The resources of one worker. */
  resources: number;
}

/** What happened. */
export interface LoadFigures {
  requests: number;
  /** How many responses had each status. 0: there was none. */
  statuses: Record<string, number>;
  events: number;
  connectedStreams: number;
}

const text = "x".repeat(400);

/** A running load. */
export class Load {
  readonly ledgers: Ledger[] = [];
  readonly figures: LoadFigures = { requests: 0, statuses: {}, events: 0, connectedStreams: 0 };
  readonly #options: LoadOptions;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<unknown>;

  constructor(options: LoadOptions) {
    this.#options = options;
    const workers = Array.from({ length: options.workers }, (_, index) => this.#work(index));
    const streams = Array.from({ length: options.streams }, (_, index) =>
      this.#followAgainAndAgain(generator(options.workers + index)),
    );
    this.#ended = Promise.all([...workers, ...streams]);
  }

  /** Ends the load, and waits for all responses. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #work(index: number): Promise<void> {
    const { port, workers, requestsPerSecond, resources } = this.#options;
    const client = createClient(port);
    const ledger = new Ledger();
    this.ledgers.push(ledger);
    const steps = new Steps(client, ledger, { resources, worker: index });
    const pauseMs = (1_000 * workers) / requestsPerSecond;
    for (let next = performance.now(); !this.#stopping.signal.aborted; ) {
      for (const answer of await steps.next()) this.#note(answer);
      next = Math.max(next + pauseMs, performance.now() - 1_000); // it does not catch up after a restart
      await pass(Math.max(0, next - performance.now()));
    }
    client.close();
  }

  #note(answer: Answer): void {
    const status = String(answer?.status ?? 0);
    this.figures.requests++;
    this.figures.statuses[status] = (this.figures.statuses[status] ?? 0) + 1;
  }

  async #followAgainAndAgain(random: Random): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#follow(5_000 + random() * 20_000);
      await pass(100);
    }
  }

  /** Reads a stream for a while. Some readers are slow. */
  #follow(forMs: number): Promise<void> {
    return new Promise((resolve) => {
      const { port } = this.#options;
      const headers = { accept: "text/event-stream" };
      const call = request({ host: "127.0.0.1", port, path: "/api/v1/articles/_events", headers });
      const end = () => call.destroy();
      const timer = setTimeout(end, forMs);
      this.#stopping.signal.addEventListener("abort", end);
      call.on("response", (stream) => {
        this.figures.connectedStreams++;
        stream.setEncoding("utf8").on("data", (part: string) => {
          this.figures.events += part.split("\ndata: ").length - 1;
        });
        stream.on("error", () => {});
      });
      call.on("error", () => {});
      call.on("close", () => {
        clearTimeout(timer);
        this.#stopping.signal.removeEventListener("abort", end);
        resolve();
      });
      call.end();
    });
  }
}

/** The requests of one worker, chosen at random. */
class Steps {
  readonly #client: Client;
  readonly #ledger: Ledger;
  readonly #resources: number;
  readonly #worker: number;
  readonly #random: Random;
  #value = 0;

  constructor(client: Client, ledger: Ledger, { resources, worker }: { resources: number; worker: number }) {
    this.#client = client;
    this.#ledger = ledger;
    this.#resources = resources;
    this.#worker = worker;
    this.#random = generator(worker);
  }

  async next(): Promise<Answer[]> {
    const { ids } = this.#ledger;
    if (ids.length < this.#resources) return [await this.#create()];
    const id = ids[Math.floor(this.#random() * ids.length)] as string;
    const dice = this.#random() * 100;
    if (dice < 45) return [await this.#client.send("GET", `/articles/${id}`)];
    if (dice < 55) return [await this.#client.send("GET", `/articles?worker=${this.#worker}&limit=20`)];
    if (dice < 75) return [await this.#patch(id)];
    if (dice < 82) return [await this.#delete(id)];
    if (dice < 87) return this.#replace(id);
    if (dice < 89) return [await this.#createSlowly()];
    if (dice < 91) return [await this.#client.send("GET", `/articles/${id}/_changes`)];
    return this.#mistake(id, dice);
  }

  /** What clients do wrong. */
  async #mistake(id: string, dice: number): Promise<Answer[]> {
    if (dice < 93) return [await this.#client.send("POST", "/articles", '{"broken":')];
    if (dice < 95)
      return [await this.#client.send("PATCH", `/articles/${id}`, {}, { "if-match": '"999999"' })];
    if (dice < 97) return [await this.#client.send("GET", "/articles/none?limit=x")];
    if (dice < 98.5) await this.#client.giveUp("/articles");
    else await this.#client.stopReading("/articles?limit=200");
    return [];
  }

  async #create(): Promise<Answer> {
    const value = this.#value++;
    const answer = await this.#client.send("POST", "/articles", this.#content(value));
    this.#ledger.created(value, answer);
    return answer;
  }

  async #createSlowly(): Promise<Answer> {
    const value = this.#value++;
    const answer = await this.#client.sendSlowly("/articles", this.#content(value));
    this.#ledger.created(value, answer);
    return answer;
  }

  async #patch(id: string): Promise<Answer> {
    const value = this.#value++;
    const headers = { "content-type": "application/merge-patch+json" };
    const answer = await this.#client.send("PATCH", `/articles/${id}`, { value }, headers);
    this.#ledger.changed(id, value, answer);
    return answer;
  }

  async #replace(id: string): Promise<Answer[]> {
    const read = await this.#client.send("GET", `/articles/${id}`);
    if (read?.status !== 200) return [read];
    const value = this.#value++;
    const headers = { "if-match": read.etag };
    const answer = await this.#client.send(
      "PUT",
      `/articles/${id}`,
      { id, ...this.#content(value) },
      headers,
    );
    this.#ledger.changed(id, value, answer);
    return [read, answer];
  }

  async #delete(id: string): Promise<Answer> {
    const answer = await this.#client.send("DELETE", `/articles/${id}`);
    this.#ledger.changed(id, null, answer);
    this.#ledger.forgetDeleted();
    return answer;
  }

  #content(value: number): Record<string, unknown> {
    return { value, worker: this.#worker, text };
  }
}
