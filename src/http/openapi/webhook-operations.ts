/** The operations below a webhook: its status, its deliveries, and what an administrator does with it. */
import type { WebhookAction } from "../route-kinds.ts";
import { closedObject, count, type Described, json, type Part, text } from "./described.ts";
import { type MethodsOf, type OperationPlan, operationPart, success } from "./operations.ts";

/** The tag of webhooks. */
export const webhooksTag = "Webhooks";

/** The ids of the operations, which no collection can use. */
export const webhookIds = [
  "getWebhookStatus",
  "listWebhookDeliveries",
  "retryWebhookDelivery",
  "testWebhook",
  "rotateWebhookSecret",
] as const;

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

type PlanFor = (described: Described) => OperationPlan;

function plan(
  about: Pick<OperationPlan, "id" | "summary" | "description">,
  schema: Part,
  { parameters, problems }: { parameters: readonly Part[]; problems: readonly number[] },
): PlanFor {
  return (described) => ({
    ...about,
    tag: webhooksTag,
    credential: "required",
    parameters,
    successes: { 200: success(described, about.summary, { content: json(schema) }) },
    problems,
  });
}

function idParameter(name: string, description: string): Part {
  return { name, in: "path", required: true, description, schema: text };
}

const id = idParameter("id", "The id of the webhook.");
const event = idParameter("event", "The id of the event.");
const limit: Part = {
  name: "limit",
  in: "query",
  description: "The most deliveries in the response.",
  schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
};

const statusOperations: Record<MethodsOf<"webhookStatus">, PlanFor> = {
  GET: plan(
    {
      id: "getWebhookStatus",
      summary: "Read the status of a webhook",
      description: "Says how the deliveries of the webhook go.",
    },
    status,
    { parameters: [id], problems: [400, 404, 406] },
  ),
};

const deliveriesOperations: Record<MethodsOf<"webhookDeliveries">, PlanFor> = {
  GET: plan(
    {
      id: "listWebhookDeliveries",
      summary: "List the recent deliveries of a webhook",
      description: "Lists the deliveries of the last 7 days, at most 1,000, the latest first.",
    },
    { type: "array", items: delivery },
    { parameters: [id, limit], problems: [400, 404, 406] },
  ),
};

const actions: Readonly<Record<WebhookAction, readonly [path: string, PlanFor]>> = {
  retry: [
    "_deliveries/{event}/_retry",
    plan(
      {
        id: "retryWebhookDelivery",
        summary: "Deliver an event again",
        description: "Sends the event now, and returns the delivery.",
      },
      delivery,
      { parameters: [id, event], problems: [400, 404, 406, 409, 413, 415] },
    ),
  ],
  test: [
    "_test",
    plan(
      {
        id: "testWebhook",
        summary: "Send a test event",
        description: "Sends an event of the type `holdfast.test` now, and returns what came back.",
      },
      closedObject({ event: text, delivered: { type: "boolean" }, ...outcome }),
      { parameters: [id], problems: [400, 404, 406, 413, 415] },
    ),
  ],
  rotate: [
    "_rotate",
    plan(
      {
        id: "rotateWebhookSecret",
        summary: "Make a new secret",
        description:
          "Gives the webhook a new secret, which only this response contains. For 24 hours, the previous secret signs too.",
      },
      closedObject({ secret: text }),
      { parameters: [id], problems: [400, 404, 406, 412, 413, 415] },
    ),
  ],
};

/** The path items below a webhook. */
export function webhookPaths(described: Described): Record<string, Part> {
  const path = `${described.settings.prefix}/_webhooks/{id}`;
  const get = (planFor: PlanFor) => ({ get: operationPart(planFor(described), described) });
  const posts = Object.values(actions).map(([end, planFor]) => [
    `${path}/${end}`,
    { post: operationPart(planFor(described), described) },
  ]);
  return {
    [`${path}/_status`]: get(statusOperations.GET),
    [`${path}/_deliveries`]: get(deliveriesOperations.GET),
    ...Object.fromEntries(posts),
  };
}
