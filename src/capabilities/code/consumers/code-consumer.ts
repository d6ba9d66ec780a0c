/** One consumer: a function that gets the changes of a collection, one call for each. */
import type {
  Attempted,
  ConsumedFeed,
  Consumer,
  Handed,
  Outcome,
} from "../../../changes/consume/consumer.ts";
import { isWithdrawn } from "../../../changes/consume/worker.ts";
import type { View } from "../../../changes/event.ts";
import type { InsideCaller, InsideFetch } from "../../../http/inside.ts";
import type { Service } from "../../../http/service.ts";
import { authorOf } from "../../../store/port/change-log.ts";
import { principalOf } from "../calls/acting.ts";
import type { CodeOutcome, CodeRunner } from "../calls/code-runner.ts";
import { outcomeWithin } from "../calls/interruption.ts";
import { CallTurns } from "./call-turns.ts";
import type { ConsumerSettings } from "./consumer-settings.ts";
import { createView } from "./view.ts";
import { whyBlind } from "./warnings.ts";

/**
 * The longest chain of changes that consumers make because of each other. Without an end, two consumers that change what the other one
 * handles would call each other forever.
 */
export const longestChain = 10;

/** What the calls of consumers depend on. */
export interface CallParts {
  service: Service;
  feed: ConsumedFeed;
  runner: CodeRunner;
  /** Makes the requests of a caller inside the process. */
  inside(caller: InsideCaller): InsideFetch;
  /** Aborted when the calls that run must end, because the service stops. */
  ending: AbortSignal;
  /** How long they have to end after that, in milliseconds. */
  interruptMs: number;
}

/** A consumer of the configuration. */
export class CodeConsumer {
  readonly settings: ConsumerSettings;
  readonly #parts: CallParts;
  readonly #turns: CallTurns;
  readonly #view: () => View | undefined;

  constructor(settings: ConsumerSettings, parts: CallParts) {
    this.settings = settings;
    this.#parts = parts;
    this.#turns = new CallTurns(settings.concurrency);
    this.#view = createView(parts.service, settings);
  }

  get name(): string {
    return this.settings.name;
  }

  /** The consumer for the engine. `version`: that of its record. */
  inVersion(version: number): Consumer {
    const { name, collection, types } = this.settings;
    return {
      id: name,
      version,
      label: `the consumer ${name}`,
      collections: [collection],
      types,
      viewOf: () => this.#view(),
      skips: (principal) => this.#isOwn(principal),
    };
  }

  /** Why it gets nothing, in sentences; `undefined` if it gets its events. */
  get misfit(): string | undefined {
    if (this.#view()?.listed !== "nothing" || this.settings.sees === "service") return undefined;
    return `${whyBlind(this.settings)}.`;
  }

  /** Whether its own client has made a change that it does not get. */
  #isOwn(principal: string | undefined): boolean {
    if (this.settings.own || principal === undefined) return false;
    const author = authorOf(principal);
    return author.chain > 0 && author.principal === principalOf(this.name, "service").subject;
  }

  /** Handles an event. `undefined` if the worker stops before the call, or the service ends it: when it stops, or loses the lease. */
  handle(
    consumer: Consumer,
    { event, body, principal, mayStart, leaseLost }: Handed,
  ): Promise<Outcome | undefined> {
    return this.#turns.run(async () => {
      if (!(await mayStart())) return undefined;
      if (await isWithdrawn(this.#parts.feed, consumer, event))
        return refused("Its roles could see the resource at the change, and cannot see it now.");
      const { chain } = authorOf(principal);
      if (chain >= longestChain)
        return refused(
          `This change is number ${chain} in a chain: a consumer made each of them because of the one before. The function was not called, so that the chain ends.`,
        );
      const input = { event: JSON.parse(body), attempt: event.attempts + 1 };
      return this.#call(event, input, { chain: chain + 1, leaseLost });
    });
  }

  async #call(
    { collection, sequence }: Attempted,
    input: Readonly<Record<string, unknown>>,
    { chain, leaseLost }: { chain: number; leaseLost: AbortSignal },
  ): Promise<Outcome | undefined> {
    const { runner, ending, interruptMs } = this.#parts;
    const { place, timeoutMs } = this.settings;
    const begun = performance.now();
    const origin = { collection, sequence };
    const clients = this.#clients(chain);
    const signal = AbortSignal.any([ending, leaseLost]);
    const call = runner.run({ place, input, clients, timeoutMs, origin, signal });
    const outcome = await outcomeWithin(call, { signal: ending, ms: interruptMs });
    if (outcome.kind === "failed" && signal.aborted) return undefined; // it is called again, here or in another instance
    return outcomeOf(outcome, Math.round(performance.now() - begun));
  }

  #clients(chain: number): Readonly<Record<string, InsideFetch>> {
    const { as } = this.settings;
    if (as === undefined) return {};
    return { client: this.#parts.inside({ principal: { ...principalOf(this.name, as), chain } }) };
  }
}

function outcomeOf(outcome: CodeOutcome, milliseconds: number): Outcome {
  if (outcome.kind === "done") return { isDelivered: true, milliseconds, error: null, details: {} };
  const { reason, message } = outcome;
  return { isDelivered: false, milliseconds, error: message, details: { reason } };
}

/** An event for which the function is never called. */
function refused(error: string): Outcome {
  return { isDelivered: false, milliseconds: 0, error, isFinal: true, details: {} };
}
