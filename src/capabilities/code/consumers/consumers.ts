/** The consumers of one service: functions that handle changes after their commit, and what administrators do with them. */
import type { ThreadWork } from "../../../capability.ts";
import { pendingOf } from "../../../changes/consume/backlog.ts";
import type { ConsumedFeed, ConsumeParts, Outcome } from "../../../changes/consume/consumer.ts";
import {
  type ConsumerState,
  type DeliveryRecord,
  deliveriesName,
  deliveryId,
} from "../../../changes/consume/consumer-records.ts";
import { ConsumerEngine } from "../../../changes/consume/engine.ts";
import type { Clock } from "../../../clock.ts";
import type { InsideCaller, InsideFetch } from "../../../http/inside.ts";
import type { Service } from "../../../http/service.ts";
import { ageSeconds } from "../../../observe/metrics-source.ts";
import { put } from "../../../records.ts";
import type { Store } from "../../../store/port/store.ts";
import type { CodeRunner } from "../calls/code-runner.ts";
import { CodeConsumer } from "./code-consumer.ts";
import type { ConsumerSettings } from "./consumer-settings.ts";
import { type Registered, Registry } from "./registry.ts";
import { type ConsumerStatus, type ShownDelivery, shownDelivery, statusOf } from "./shown.ts";

/** What the consumers of a service depend on. */
export interface ConsumersParts {
  service: Service;
  store: Store;
  feed: ConsumedFeed;
  /** What the configuration declares. */
  declared: readonly ConsumerSettings[];
  runner: CodeRunner;
  inside(caller: InsideCaller): InsideFetch;
  clock: Clock;
  /** From 0 to 1. */
  random: () => number;
  /** Whether several instances or threads can use the store. */
  isShared: boolean;
  /** Lets the thread that runs the consumers look at them now. `undefined` in that thread. */
  wakeOthers: (() => Promise<unknown>) | undefined;
  /** How long calls that run when the service stops go on before their signals are aborted, and how long they have to end after that, in milliseconds. */
  stopMs: { grace: number; interrupt: number };
}

/** The consumers of one service. */
export class Consumers {
  readonly #parts: ConsumersParts;
  readonly #registry: Registry;
  readonly #consumers: ReadonlyMap<string, CodeConsumer>;
  readonly #engine: ConsumerEngine;
  /** The failed attempts during `handleAll`, each as a sentence. */
  #failures: string[] | undefined;
  #hasStopped = false;
  /** Aborted when the calls that run must end. */
  readonly #ending = new AbortController();

  constructor(parts: ConsumersParts) {
    const { service, store, feed, clock, declared } = parts;
    this.#parts = parts;
    this.#registry = new Registry({ store, feed, now: clock.now });
    const callParts = { ...parts, ending: this.#ending.signal, interruptMs: parts.stopMs.interrupt };
    this.#consumers = new Map(declared.map((each) => [each.name, new CodeConsumer(each, callParts)]));
    this.#engine = new ConsumerEngine({
      ...parts,
      kind: this.#kind,
      records: this.#registry,
      collectionNames: () => [...service.collections().keys()],
      isReady: service.hasStarted,
      newUuid: service.newUuid,
      warn: (message) => service.log.warn(message),
    });
  }

  /** Lets the store know the consumers, before a change can come that a new one must get. */
  async prepare({ works }: ThreadWork): Promise<void> {
    if (!works) return;
    await this.#registry.add(this.#parts.declared);
    await this.#registry.retire(new Set(this.#consumers.keys()));
  }

  start({ works }: ThreadWork): void {
    if (works) this.#engine.start();
  }

  /** Stops all consumers, and after some time the calls that run. A call that was ended is made again after the next start. */
  async stop(): Promise<void> {
    const { grace } = this.#parts.stopMs;
    this.#hasStopped = true;
    const end = () => this.#ending.abort(new Error("The service stops."));
    const timer = grace === 0 ? undefined : setTimeout(end, grace);
    if (timer === undefined) end();
    await this.#engine.stop();
    clearTimeout(timer);
  }

  /**
   * Handles every change until now and every delivery that is due, in consumers that were not started. Returns the attempts that have failed,
   * each as a sentence. Throws an Error if the service stops meanwhile.
   */
  async handleAll(): Promise<readonly string[]> {
    const failures: string[] = [];
    this.#failures = failures;
    await this.#engine.catchUp();
    if (this.#hasStopped) throw new Error("The service has stopped.");
    return failures;
  }

  /** Looks at the consumers now. */
  wake(): void {
    this.#engine.wake();
  }

  get #kind(): ConsumeParts["kind"] {
    const registry = this.#registry;
    const find = (name: string) => this.#consumers.get(name);
    return {
      name: "consumers",
      all: async () => {
        const known = await this.#known();
        return [...this.#consumers.values()].flatMap((each) => {
          const record = known.get(each.name);
          return record?.value.enabled === true ? [each.inVersion(record.version)] : [];
        });
      },
      isCurrent: async ({ id, version }) => (await registry.registered(id))?.version === version,
      misfitOf: ({ id }) => find(id)?.misfit,
      handle: async (consumer, handed) => {
        const outcome = await find(consumer.id)?.handle(consumer, handed);
        if (outcome?.isDelivered === false) this.#noteFailure(consumer.label, handed.event, outcome);
        return outcome;
      },
      reasonToDisable: () => undefined,
      disable: () => [],
    };
  }

  /** The consumers that the store knows. An instance with an older configuration can have noted that a consumer was removed. */
  async #known(): ReturnType<Registry["all"]> {
    const known = await this.#registry.all();
    const names = [...this.#consumers.keys()];
    if (names.every((name) => known.get(name)?.value.removedAt === null)) return known;
    await this.#registry.add(this.#parts.declared);
    return this.#registry.all();
  }

  #noteFailure(
    label: string,
    { event, attempts }: Pick<DeliveryRecord, "event" | "attempts">,
    { error }: Outcome,
  ): void {
    const failure = `${label} failed for the event ${event}, attempt ${attempts + 1}: ${error}`;
    this.#parts.service.log.warn(failure);
    this.#failures?.push(failure);
  }

  /** The status of every consumer that the configuration has, or that the store still keeps. */
  async list(): Promise<ConsumerStatus[]> {
    const known = await this.#registry.all();
    return this.#statuses([...new Set([...this.#consumers.keys(), ...known.keys()])], known);
  }

  /** The status of a consumer; `undefined` if neither the configuration nor the store has it. */
  async status(name: string): Promise<ConsumerStatus | undefined> {
    const known = await this.#registry.all();
    if (!known.has(name) && !this.#consumers.has(name)) return undefined;
    return (await this.#statuses([name], known))[0];
  }

  async #statuses(
    names: readonly string[],
    known: ReadonlyMap<string, { value: Registered }>,
  ): Promise<ConsumerStatus[]> {
    const { feed, service, clock } = this.#parts;
    const states = await this.#registry.states();
    const [pending, counts] = await Promise.all([
      this.#pending(states, names),
      this.#registry.deliveryCounts(names),
    ]);
    return names.map((name) =>
      statusOf(name, {
        registered: known.get(name)?.value,
        consumer: this.#consumers.get(name),
        state: states.get(name),
        pending: pending.get(name),
        counts: counts.get(name),
        positions: feed.positions,
        readOnly: service.readOnly,
        now: clock.now(),
      }),
    );
  }

  #pending(states: ReadonlyMap<string, ConsumerState>, names: Iterable<string>) {
    const { store } = this.#parts;
    const running = [...names].flatMap((name) => this.#consumers.get(name) ?? []);
    // A consumer without a state has not begun.
    const begun = running.filter(({ name }) => states.has(name)).map((each) => each.inVersion(0));
    return pendingOf({ store, collectionNames: () => [] }, begun, states);
  }

  /** The age of the oldest change that each consumer of the configuration has not handled, in seconds. */
  async lags(): Promise<ReadonlyMap<string, number>> {
    const pending = await this.#pending(await this.#registry.states(), this.#consumers.keys());
    const now = this.#parts.clock.now();
    const names = [...this.#consumers.keys()];
    return new Map(names.map((name) => [name, ageSeconds(pending.get(name)?.oldestAt, now)]));
  }

  /** Lets a consumer run or not. Returns its status; `undefined` if the store does not know it. */
  async enable(name: string, enabled: boolean): Promise<ConsumerStatus | undefined> {
    if (!(await this.#registry.enable(name, enabled))) return undefined;
    await this.#wakeAll();
    return this.status(name);
  }

  /** The recent deliveries of a consumer, the latest first; `undefined` if the store does not know the consumer. */
  async deliveries(name: string, limit: number): Promise<ShownDelivery[] | undefined> {
    if ((await this.#registry.registered(name)) === undefined) return undefined;
    return (await this.#registry.deliveries(name, limit)).map(({ value }) => shownDelivery(value));
  }

  /** Lets a consumer handle an event again, soon. `undefined` if there is no such delivery. */
  retry(name: string, event: string): Promise<ShownDelivery | undefined> {
    const nextAt = this.#parts.clock.now();
    return this.#changeDelivery(name, event, (before) => ({ ...before, state: "retrying", nextAt }));
  }

  /** Lets a consumer never try an event again. `undefined` if there is no such delivery. */
  skip(name: string, event: string): Promise<ShownDelivery | undefined> {
    return this.#changeDelivery(name, event, (before) =>
      before.state === "retrying" ? { ...before, state: "dead", nextAt: null } : before,
    );
  }

  /** The new version of the consumer makes its worker read the delivery again. */
  async #changeDelivery(
    name: string,
    event: string,
    next: (before: DeliveryRecord) => DeliveryRecord,
  ): Promise<ShownDelivery | undefined> {
    const registry = this.#registry;
    let result: DeliveryRecord | undefined;
    await registry.change(
      name,
      (before) => before,
      async () => {
        const before = await registry.delivery(name, event);
        result = before && next(before.value);
        if (before === undefined || result === undefined || result === before.value) return [];
        return [put(deliveriesName, deliveryId(result), before.version, result)];
      },
    );
    await this.#wakeAll();
    return result && shownDelivery(result);
  }

  async #wakeAll(): Promise<void> {
    const { wakeOthers } = this.#parts;
    if (wakeOthers === undefined) this.wake();
    else await wakeOthers();
  }
}
