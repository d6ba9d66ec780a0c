/** Orders that clients change, delete and create, and what must be stored of them, although the service is killed in between. */
import assert from "node:assert/strict";
import { createClient, type Program } from "../../../durability/program.ts";
import { generator } from "../../../seed.ts";
import { pause } from "../../../until.ts";

/** An order as the service shows it. */
export interface Order {
  id: string;
  n: number;
  total: number;
}

/** A write whose response did not come. */
interface Unsure {
  id: string;
  n: number | undefined;
}

/** The first orders have the numbers 0, 1, 2 and so on. Beside each of them there is room for a new one. */
export class Orders {
  readonly #count: number;
  readonly #pauseMs: number;
  readonly #random = generator(11);
  /** The numbers of orders after confirmed writes; `undefined` for one that was deleted. */
  readonly #written = new Map<string, number | undefined>();
  #unsure: Unsure[] = [];
  #serial: number;
  /** How many creates were confirmed. */
  created = 0;
  /** How long each confirmed write took, in milliseconds. */
  times: number[] = [];

  /** `pauseMs`: how long each client waits after a write. */
  constructor(count: number, pauseMs = 0) {
    this.#count = count;
    this.#serial = count;
    this.#pauseMs = pauseMs;
  }

  /** The lines of an import of the first orders. */
  *lines(): Generator<string> {
    for (let n = 0; n < this.#count; n++) yield `${JSON.stringify({ id: idOf(n), n })}\n`;
  }

  /** What is stored, in the order of the ids. */
  *expected(): Generator<Pick<Order, "id" | "n">> {
    for (let place = 0; place < this.#count; place++)
      for (const id of [idOf(place), besideOf(place)]) {
        const n = this.#nOf(id);
        if (n !== undefined) yield { id, n };
      }
  }

  /** Writes to a service with several clients until they are stopped or the service ends. No two write the same order. */
  async write({ port }: Program, clients: number, stopped: AbortSignal): Promise<void> {
    await this.#findOut(port);
    await Promise.all(Array.from({ length: clients }, (_, n) => this.#writeMany(port, n, clients, stopped)));
  }

  #nOf(id: string): number | undefined {
    if (this.#written.has(id)) return this.#written.get(id);
    return id.endsWith(beside) ? undefined : Number(id.slice(prefix.length));
  }

  /** Looks whether writes without a response were made. */
  async #findOut(port: number): Promise<void> {
    const { send, close } = createClient(port);
    for (const { id, n } of this.#unsure) {
      const answer = await send("GET", `/orders/${id}`);
      assert.ok(answer?.status === 200 || answer?.status === 404, String(answer?.text));
      const found = answer.status === 200 ? (JSON.parse(answer.text) as Order).n : undefined;
      assert.ok(found === n || found === this.#nOf(id), `${id}: ${found}`);
      this.#written.set(id, found);
    }
    this.#unsure = [];
    close();
  }

  async #writeMany(port: number, client: number, clients: number, stopped: AbortSignal): Promise<void> {
    const { send, close } = createClient(port);
    while (!stopped.aborted) {
      const place = client + clients * Math.floor((this.#random() * (this.#count - client)) / clients);
      const id = this.#random() < 0.7 ? idOf(place) : besideOf(place);
      if (!(await this.#writeOne(send, id))) break;
      if (this.#pauseMs > 0) await pause(this.#pauseMs);
    }
    close();
  }

  /** Returns whether the service still responds. */
  async #writeOne(send: ReturnType<typeof createClient>["send"], id: string): Promise<boolean> {
    const exists = this.#nOf(id) !== undefined;
    const isDelete = exists && this.#random() < 0.2;
    const n = isDelete ? undefined : ++this.#serial;
    const begun = performance.now();
    const [answer, status] = isDelete
      ? [await send("DELETE", `/orders/${id}`), 205]
      : exists
        ? [await send("PATCH", `/orders/${id}`, { n }), 200]
        : [await send("PUT", `/orders/${id}`, { id, n }, { "if-none-match": "*" }), 201];
    if (answer === undefined) {
      this.#unsure.push({ id, n });
      return false;
    }
    assert.equal(answer.status, status, answer.text);
    if (!exists) this.created++;
    this.#written.set(id, n);
    this.times.push(performance.now() - begun);
    return true;
  }
}

const prefix = "order-";
const beside = "-beside";

const idOf = (n: number) => `${prefix}${String(n).padStart(7, "0")}`;
const besideOf = (n: number) => `${idOf(n)}${beside}`;
