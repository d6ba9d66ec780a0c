/** A service with consumers on a store that outlives it, so that a test can start it again with another configuration. */
import { after } from "node:test";
import type { ConsumerStatus } from "../../../../src/capabilities/code/consumers/shown.ts";
import { makeFolder } from "../../../folder.ts";
import { type Service, type ServiceOptions, startService } from "../../../http/service.ts";
import { openTestStore } from "../../../http/test-store.ts";
import { until } from "../../../until.ts";
import { noteCalls } from "./noted-calls.ts";

/** A delivery of a consumer. */
export interface Delivery {
  event: string;
  type: string;
  state: string;
  attempts: number;
  time: string;
  error: string | null;
  next: string | null;
}

const path = "/api/v1/_consumers";

/** The store, the calls that functions note in it, and the services on it. */
export class World {
  readonly calls = noteCalls();
  readonly #store = openTestStore(makeFolder());
  #service: Service | undefined;

  constructor() {
    after(async () => {
      await this.stop();
      (await this.#store).release();
    });
  }

  /** The service that runs. */
  get service(): Service {
    if (this.#service === undefined) throw new Error("No service runs.");
    return this.#service;
  }

  /** Starts a service with these collections, whose source can call `note` and `noteEvent`. `top` is before it, and `more` are other options. */
  async start(
    collections: string,
    { top = "", more = "", ...options }: ServiceOptions & { top?: string; more?: string } = {},
  ): Promise<Service> {
    const module = `
import { defineConfig } from "holdfast";
${this.calls.source}${top}
export default defineConfig({ ${more} collections: { ${collections} } });
`;
    const { address } = await this.#store;
    this.#service = await startService({ module, store: address, ...options });
    return this.#service;
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  /** Waits for so many calls, and returns them. */
  async called<T = { type: string; id: string; attempt: number; data: Record<string, unknown> }>(
    count: number,
  ): Promise<T[]> {
    await until(`the functions are called ${count} times`, () => this.calls.read().length >= count);
    return this.calls.read<T>();
  }

  async statuses(): Promise<ConsumerStatus[]> {
    const answer = await this.service.send({ path });
    return (answer.json as { consumers: ConsumerStatus[] }).consumers;
  }

  async status(name: string): Promise<ConsumerStatus> {
    return (await this.service.send({ path: `${path}/${name}` })).json as ConsumerStatus;
  }

  async deliveries(name: string): Promise<Delivery[]> {
    return (await this.service.send({ path: `${path}/${name}/_deliveries` })).json as Delivery[];
  }

  /** Waits until a consumer has handled or given up everything. */
  async untilIdle(name: string): Promise<void> {
    await until(`${name} has nothing to do`, async () => {
      const { waiting, retrying } = await this.status(name);
      return waiting === 0 && retrying === 0;
    });
  }

  /** Enables or disables a consumer. */
  enable(name: string, enabled: boolean) {
    const headers = { "content-type": "application/merge-patch+json" };
    return this.service.send({
      method: "PATCH",
      path: `${path}/${name}`,
      headers,
      body: JSON.stringify({ enabled }),
    });
  }

  /** Retries or skips a delivery. */
  async decide(name: string, event: string, what: "_retry" | "_skip"): Promise<Delivery> {
    const answer = await this.service.send({
      method: "POST",
      path: `${path}/${name}/_deliveries/${event}/${what}`,
    });
    return answer.json as Delivery;
  }
}
