/** Carries out what administrators ask for below the path of a webhook. */
import { Problem } from "../../errors.ts";
import type { Webhook } from "../../webhooks/collection.ts";
import type { Versioned } from "../../webhooks/records.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import type { OperationOf } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";

/** Throws UNAVAILABLE if the service is read-only, and WEBHOOKS_UNAVAILABLE. */
export async function performOnWebhook(
  service: Service,
  operation: OperationOf<"webhookStatus" | "webhookDeliveries" | "webhookAction">,
): Promise<Result> {
  const webhooks = service.webhooks as Webhooks; // without it, the path does not exist
  const webhook = await webhooks.webhook(operation.id);
  if (webhook === undefined) return notFound;
  const body = await bodyOf(service, { webhooks, webhook, operation });
  if (body === undefined) return notFound;
  return { kind: "document", document: { status: 200, type: jsonType, body: JSON.stringify(body) } };
}

interface OnWebhook {
  webhooks: Webhooks;
  webhook: Versioned<Webhook>;
  operation: OperationOf<"webhookStatus" | "webhookDeliveries" | "webhookAction">;
}

function bodyOf(service: Service, { webhooks, webhook, operation }: OnWebhook): Promise<unknown> {
  switch (operation.kind) {
    case "webhookStatus":
      return webhooks.status(webhook);
    case "webhookDeliveries":
      return webhooks.deliveries(operation.id, operation.limit);
    case "webhookAction":
      return act(service, { webhooks, webhook, operation });
  }
}

async function act(
  service: Service,
  { webhooks, webhook, operation }: OnWebhook & { operation: OperationOf<"webhookAction"> },
): Promise<unknown> {
  if (service.readOnly)
    throw new Problem("UNAVAILABLE", "The service is read-only now. It delivers nothing.");
  const { signal } = new AbortController();
  switch (operation.action) {
    case "test":
      return webhooks.test(webhook, signal);
    case "retry":
      return webhooks.retry(webhook, operation.event, signal);
    case "rotate":
      return { secret: await webhooks.rotate(webhook) };
  }
}
