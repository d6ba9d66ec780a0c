/** The webhooks of a service, for administrators. */
import { CollectionClient, type WriteOptions } from "./collection.ts";
import type { PageLimit } from "./list-types.ts";
import type { CreateOptions } from "./posts.ts";
import type { InputOf, ResourceOf } from "./resource-types.ts";
import { precondition, tagOf } from "./tags.ts";
import type { CallOptions, Send } from "./transport.ts";

/** The declaration of the collection of webhooks. */
export interface WebhookDeclaration {
  readonly schema: {
    readonly type: "object";
    readonly required: readonly ["url", "collections", "types", "enabled", "roles"];
    readonly properties: {
      readonly url: { readonly type: "string" };
      readonly collections: Texts;
      readonly types: {
        readonly type: "array";
        readonly items: { readonly enum: readonly ["created", "updated", "deleted"] };
      };
      readonly filter: { readonly type: "object" };
      readonly fields: Texts;
      readonly description: { readonly type: "string" };
      readonly enabled: { readonly type: "boolean" };
      readonly roles: Texts;
      readonly headers: {
        readonly type: "object";
        readonly properties: Record<string, { readonly type: "string" }>;
        readonly writeOnly: true;
      };
      readonly secret: { readonly type: "string"; readonly writeOnly: true };
    };
  };
  readonly defaults: { readonly types: unknown; readonly enabled: true; readonly roles: unknown };
}

interface Texts {
  readonly type: "array";
  readonly items: { readonly type: "string" };
}

/** A webhook in a response, without its secret and headers. */
export type Webhook = ResourceOf<WebhookDeclaration>;

/** The attributes of a new webhook. Only `url` and `collections` are required. */
export type WebhookInput = InputOf<WebhookDeclaration>;

/** The status of the deliveries of a webhook. */
export interface WebhookStatus {
  readonly state: "active" | "failing" | "disabled";
  /** Why the service has disabled the webhook, or cannot deliver to it. */
  readonly reason?: string;
  /** Failed deliveries that will be tried again. */
  readonly retrying: number;
  /** Changes that the service has not handled for the webhook yet. */
  readonly waiting: number;
  /** Changes that were removed from the history before their delivery. */
  readonly lost: number;
  /** The times of the last success and of the last failure. */
  readonly lastSuccess: string | null;
  readonly lastFailure: string | null;
}

/** The last attempt to send an event. */
interface WebhookAttempt {
  /** The id of the event. */
  readonly event: string;
  /** The status that the receiver responded with. */
  readonly status: number | null;
  readonly milliseconds: number;
  /** The beginning of the response. */
  readonly response: string;
  readonly error: string | null;
}

/** One event for one webhook, after its first attempt. */
export interface WebhookDelivery extends WebhookAttempt {
  /** The type of the event, such as `topics.created`. */
  readonly type: string;
  readonly state: "delivered" | "retrying" | "dead";
  readonly attempts: number;
  /** The time of the last attempt. */
  readonly time: string;
  /** The time of the next attempt. */
  readonly next: string | null;
}

/** The response of the receiver to a test event. */
export interface WebhookTest extends WebhookAttempt {
  readonly delivered: boolean;
}

/** The client of the webhooks of a service. Webhooks have no events. */
export type Webhooks = Omit<WebhooksClient, "events" | "live">;

/** The client of the collection of webhooks, with the further operations of administrators. */
export class WebhooksClient extends CollectionClient<WebhookDeclaration> {
  constructor(send: Send) {
    super(send, "_webhooks");
  }

  /**
   * Creates a webhook. The result has the secret if the service made one. No other call returns it. If the first
   * response was lost, the result has only the `id`: use `rotate`.
   */
  override create(
    attributes: WebhookInput,
    options: CreateOptions = {},
  ): Promise<Webhook & { readonly secret?: string }> {
    return super.create(attributes, options);
  }

  /** The status of the deliveries of a webhook. Throws NotFoundError if the webhook does not exist. */
  async status(id: string, options: CallOptions = {}): Promise<WebhookStatus> {
    return (await this.#call("GET", `${this.pathOf(id)}/_status`, options)) as WebhookStatus;
  }

  /** The deliveries of the last 7 days, the latest first: 100 by default, at most 1,000, or `max`. Throws NotFoundError. */
  async deliveries(
    id: string,
    { limit, ...options }: CallOptions & { readonly limit?: PageLimit } = {},
  ): Promise<readonly WebhookDelivery[]> {
    const query = limit === undefined ? "" : `?limit=${limit}`;
    return (await this.#call("GET", `${this.pathOf(id)}/_deliveries${query}`, options)) as WebhookDelivery[];
  }

  /** Sends an event of the type `holdfast.test` now, and returns the response of the receiver. Throws NotFoundError. */
  async test(id: string, options: CallOptions = {}): Promise<WebhookTest> {
    return (await this.#call("POST", `${this.pathOf(id)}/_test`, options)) as WebhookTest;
  }

  /** Sends the event of a delivery again now, and returns the delivery. Throws NotFoundError if it does not exist. */
  async retry(id: string, event: string, options: CallOptions = {}): Promise<WebhookDelivery> {
    const path = `${this.pathOf(id)}/_deliveries/${encodeURIComponent(event)}/_retry`;
    return (await this.#call("POST", path, options)) as WebhookDelivery;
  }

  /** Gives a webhook a new secret, and returns it. For 24 hours, the old secret also signs. Throws NotFoundError. */
  async rotate(target: string | Webhook, { ifMatch, ...options }: WriteOptions = {}): Promise<string> {
    const path = this.pathOf(target);
    const headers = precondition(ifMatch ?? tagOf(target, path)?.etag);
    const body = await this.#call("POST", `${path}/_rotate`, { ...options, headers });
    return (body as { secret: string }).secret;
  }

  /** A POST sends an event or makes a secret, so it is sent again only if the service refused it. */
  async #call(
    method: "GET" | "POST",
    path: string,
    options: CallOptions & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<unknown> {
    return (await this.send({ ...options, method, path, isRepeatable: method === "GET" })).body;
  }
}
