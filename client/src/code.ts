/** The code of a configuration: its functions, consumers and jobs, for administrators. */
import type { PageLimit } from "./list-types.ts";
import type { CallOptions, Send } from "./transport.ts";

/** The functions of a configuration, as one instance of the service has called them since its start. */
export interface CodeOverview {
  readonly functions: readonly CodeFunction[];
  /** At most 100, the latest first. */
  readonly failures: readonly CodeFailure[];
}

/** The kinds of functions in a configuration. */
export type CodeKind = "before" | "validate" | "computed" | "route" | "consumer" | "job";

/** A function. All computed attributes of a collection are one. */
export interface CodeFunction {
  readonly kind: CodeKind;
  /** The name of the collection, of the route or of the job; `orders/mail` for a consumer. */
  readonly name: string;
  readonly calls: number;
  readonly failures: number;
  /** The time of all calls. */
  readonly seconds: number;
}

/** A call that has failed. */
export interface CodeFailure {
  readonly time: string;
  readonly kind: CodeKind;
  readonly name: string;
  readonly reason: "throw" | "promise" | "result" | "time" | "memory" | "exit" | "load";
  /** The error, with the lines of the file. */
  readonly message: string;
}

/** How a consumer handles changes. */
export interface ConsumerStatus {
  /** The names of the collection and of the consumer, such as `orders/mail`. */
  readonly name: string;
  readonly enabled: boolean;
  readonly state: "active" | "failing" | "disabled" | "paused" | "removed";
  /** Why the consumer is not active, if the service knows. */
  readonly reason?: string;
  /** Changes that the consumer has not reached yet. */
  readonly waiting: number;
  /** Failed deliveries that the service tries again. */
  readonly retrying: number;
  /** Failed deliveries that the service has given up. */
  readonly dead: number;
  /** Changes that the history removed before the consumer reached them. */
  readonly lost: number;
  /** The age of the oldest change that the consumer has not handled. */
  readonly lagSeconds: number;
  /** Where the consumer is, as the `since` of a feed of its collection. */
  readonly position: string | null;
  readonly lastSuccess: string | null;
  readonly lastFailure: string | null;
}

/** A change that a consumer has got. */
export interface ConsumerDelivery {
  /** The id of the event. */
  readonly event: string;
  readonly type: string;
  readonly state: "delivered" | "retrying" | "dead";
  readonly attempts: number;
  /** The last attempt. */
  readonly time: string | null;
  readonly milliseconds: number;
  /** Why the last attempt failed. */
  readonly error: string | null;
  /** The next attempt. */
  readonly next: string | null;
}

/** A job of the configuration. */
export interface Job {
  readonly name: string;
  /** Five fields: minute, hour, day of the month, month and day of the week. */
  readonly cron: string;
  readonly timezone: string;
  /** `null` in a read-only service, which runs no jobs. */
  readonly next: string | null;
  /** The run in progress. */
  readonly running: Pick<JobRun, "due" | "missed" | "attempt" | "start"> | null;
  readonly last: JobRun | null;
  /** When the last successful attempt ended. */
  readonly lastSuccess: string | null;
}

/** An attempt of a job. */
export interface JobRun {
  /** The time for which it runs. */
  readonly due: string;
  /** How many missed times it makes up for. */
  readonly missed: number;
  readonly attempt: number;
  readonly start: string;
  readonly end: string;
  readonly result: "succeeded" | "failed" | "interrupted";
  readonly message: string | null;
}

/** The consumers of a service. The name of a consumer has the name of its collection in it: `orders/mail`. */
export class ConsumersClient {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** All consumers of the configuration, and those that were removed from it less than 30 days ago. Throws NotFoundError if the configuration has no consumer. */
  async list(options: CallOptions = {}): Promise<readonly ConsumerStatus[]> {
    return ((await get(this.#send, "/_consumers", options)) as { consumers: ConsumerStatus[] }).consumers;
  }

  /** A consumer. Throws NotFoundError. */
  async get(name: string, options: CallOptions = {}): Promise<ConsumerStatus> {
    return (await get(this.#send, pathOf(name), options)) as ConsumerStatus;
  }

  /** Makes a consumer run, or stops it where it is. Throws NotFoundError. */
  async enable(name: string, enabled: boolean, options: CallOptions = {}): Promise<ConsumerStatus> {
    const headers = { "Content-Type": "application/merge-patch+json" };
    const call = { ...options, method: "PATCH", path: pathOf(name), headers, content: { enabled } } as const;
    return (await this.#send({ ...call, isRepeatable: true })).body as ConsumerStatus;
  }

  /** The deliveries of the last 7 days, the latest first: 100 by default, at most 1,000, or `max`. Throws NotFoundError. */
  async deliveries(
    name: string,
    { limit, ...options }: CallOptions & { readonly limit?: PageLimit } = {},
  ): Promise<readonly ConsumerDelivery[]> {
    const query = limit === undefined ? "" : `?limit=${limit}`;
    return (await get(this.#send, `${pathOf(name)}/_deliveries${query}`, options)) as ConsumerDelivery[];
  }

  /** Lets a consumer handle an event again as soon as it can. Throws NotFoundError. */
  retry(name: string, event: string, options: CallOptions = {}): Promise<ConsumerDelivery> {
    return this.#change(name, event, { ...options, verb: "_retry" });
  }

  /** Ends the attempts for an event. Its delivery is then dead. Throws NotFoundError. */
  skip(name: string, event: string, options: CallOptions = {}): Promise<ConsumerDelivery> {
    return this.#change(name, event, { ...options, verb: "_skip" });
  }

  async #change(
    name: string,
    event: string,
    { verb, ...options }: CallOptions & { verb: "_retry" | "_skip" },
  ): Promise<ConsumerDelivery> {
    const path = `${pathOf(name)}/_deliveries/${encodeURIComponent(event)}/${verb}`;
    const { body } = await this.#send({ ...options, method: "POST", path, isRepeatable: false });
    return body as ConsumerDelivery;
  }
}

/** The jobs of a service. */
export class JobsClient {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** All jobs of the configuration. Throws NotFoundError if the configuration has no job. */
  async list(options: CallOptions = {}): Promise<readonly Job[]> {
    return (await get(this.#send, "/_jobs", options)) as Job[];
  }

  /** A job. Throws NotFoundError. */
  async get(name: string, options: CallOptions = {}): Promise<Job> {
    return (await get(this.#send, `/_jobs/${encodeURIComponent(name)}`, options)) as Job;
  }

  /** Makes a job run within a few seconds. Its next time does not change. Throws ProblemError with JOB_RUNNING while it runs, and NotFoundError. */
  async run(name: string, options: CallOptions = {}): Promise<Job> {
    const path = `/_jobs/${encodeURIComponent(name)}/_run`;
    return (await this.#send({ ...options, method: "POST", path, isRepeatable: false })).body as Job;
  }
}

async function get(send: Send, path: string, options: CallOptions): Promise<unknown> {
  return (await send({ ...options, method: "GET", path, isRepeatable: true })).body;
}

function pathOf(name: string): string {
  return `/_consumers/${name.split("/").map(encodeURIComponent).join("/")}`;
}
