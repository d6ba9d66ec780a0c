/** The endpoints below a webhook: its status, its deliveries, and what an administrator does with it. */
import type { EndpointOf } from "../../capability.ts";
import { Problem } from "../../errors.ts";
import {
  closedObject,
  count,
  hasAdministrators,
  json,
  type Part,
  text,
} from "../../http/openapi/described.ts";
import { type Asked, jsonResult, notFound, type Result } from "../../http/operations/result.ts";
import { requirePreconditions, validatorsOf } from "../../http/protocol/conditional.ts";
import type { Callers, Data } from "../../http/service.ts";
import { overtaken, type WriteAttempt } from "../../http/writes/commit.ts";
import { untilCommitted } from "../../http/writes/write.ts";
import type { Versioned } from "../../records.ts";
import { naming, type Webhook, webhooksName } from "./webhook.ts";
import type { Webhooks } from "./webhooks.ts";

const time: Part = { type: ["string", "null"], format: "date-time" };
const outcome = {
  status: { type: ["integer", "null"], description: "The status of the response." },
  milliseconds: count,
  response: { type: "string", description: "The first KiB of the response." },
  error: { type: ["string", "null"], description: "Why the receiver did not respond." },
};

const delivery = closedObject({
  event: { type: "string", description: "The id of the event." },
  type: text,
  state: { enum: ["delivered", "retrying", "dead"] },
  attempts: count,
  time: { ...time, description: "The last attempt." },
  ...outcome,
  next: { ...time, description: "The next attempt." },
});

const status = closedObject(
  {
    state: { enum: ["active", "failing", "disabled"] },
    reason: {
      type: "string",
      description: "Why the service has disabled the webhook, or cannot deliver to it.",
    },
    retrying: { ...count, description: "Failed deliveries that the service tries again." },
    waiting: { ...count, description: "Changes that the service has not handled for the webhook yet." },
    lost: { ...count, description: "Changes that the history removed before their delivery." },
    lastSuccess: time,
    lastFailure: time,
  },
  { optional: ["reason"] },
);

const id = { id: { description: "The id of the webhook." } };

/** The members that all these endpoints have. */
function common(operation: string, texts: { summary: string; description: string }, schema: Part) {
  return {
    who: "administrators",
    exists: hasAdministrators,
    names: id,
    id: operation,
    tag: naming.tag,
    ...texts,
    successes: { 200: { description: texts.summary, content: json(schema) } },
  } as const;
}

/** The endpoints. */
export const webhookEndpoints: readonly EndpointOf<Webhooks>[] = [
  {
    ...common(
      "getWebhookStatus",
      { summary: "Read the status of a webhook", description: "Says how the deliveries of the webhook go." },
      status,
    ),
    path: "/_webhooks/{id}/_status",
    method: "GET",
    handle: (_, asked, webhooks) => onWebhook(webhooks, asked, (webhook) => webhooks.status(webhook)),
  },
  {
    ...common(
      "listWebhookDeliveries",
      {
        summary: "List the recent deliveries of a webhook",
        description: "Lists the deliveries of the last 7 days, at most 1,000, the latest first.",
      },
      { type: "array", items: delivery },
    ),
    path: "/_webhooks/{id}/_deliveries",
    method: "GET",
    page: { usual: 100, most: 1_000, hasAfter: false, what: "deliveries" },
    handle: (_, asked, webhooks) =>
      onWebhook(webhooks, asked, ({ value }) => webhooks.deliveries(value.id, asked.page.limit)),
  },
  {
    ...common(
      "retryWebhookDelivery",
      {
        summary: "Deliver an event again",
        description: "Sends the event now, and returns the delivery.",
      },
      delivery,
    ),
    path: "/_webhooks/{id}/_deliveries/{event}/_retry",
    method: "POST",
    names: { ...id, event: { description: "The id of the event." } },
    errors: [409],
    handle: (service, asked, webhooks) =>
      onWebhook(webhooks, asked, (webhook) => {
        requireDeliveries(service);
        return webhooks.retry(webhook, asked.names.event as string);
      }),
  },
  {
    ...common(
      "testWebhook",
      {
        summary: "Send a test event",
        description: "Sends an event of the type `holdfast.test` now, and returns what came back.",
      },
      closedObject({ event: text, delivered: { type: "boolean" }, ...outcome }),
    ),
    path: "/_webhooks/{id}/_test",
    method: "POST",
    handle: (service, asked, webhooks) =>
      onWebhook(webhooks, asked, (webhook) => {
        requireDeliveries(service);
        return webhooks.test(webhook);
      }),
  },
  {
    ...common(
      "rotateWebhookSecret",
      {
        summary: "Make a new secret",
        description:
          "Gives the webhook a new secret, which only this response contains. For 24 hours, the previous secret signs too.",
      },
      closedObject({ secret: text }),
    ),
    path: "/_webhooks/{id}/_rotate",
    method: "POST",
    errors: [412],
    // Only this one changes the webhook itself. The others have no state that a precondition could name.
    handle: (service, asked, webhooks) => untilCommitted(service, () => rotate(service, asked, webhooks)),
  },
];

/** The result of work with a webhook; `notFound` if the webhook does not exist, or if `work` returns `undefined`. */
async function onWebhook(
  webhooks: Webhooks,
  { names }: Asked,
  work: (webhook: Versioned<Webhook>) => Promise<object | undefined>,
): Promise<Result> {
  const webhook = await webhooks.webhook(names.id as string);
  return jsonResult(webhook && (await work(webhook)));
}

/**
 * One attempt to give a webhook a new secret. A delivery can change the state of the webhook at the same time. Then the attempt is
 * overtaken. Throws PRECONDITION_FAILED and UNAVAILABLE.
 */
async function rotate(
  service: Data & Callers,
  { names, request }: Asked,
  webhooks: Webhooks,
): Promise<WriteAttempt> {
  const id = names.id as string;
  const webhook = await webhooks.webhook(id);
  if (webhook === undefined) return notFound;
  const stored = await service.store.read({ collection: webhooksName, id });
  const view = service.tags.view(webhooks.collection.visibility);
  // Without it, the webhook was deleted in the meantime, which the change finds out.
  if (stored !== undefined) requirePreconditions(request.headers, validatorsOf(stored, view));
  requireDeliveries(service);
  const secret = await webhooks.rotate(webhook);
  return secret === undefined ? overtaken : jsonResult({ secret });
}

function requireDeliveries({ readOnly }: Data): void {
  if (readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. It delivers nothing.");
}
