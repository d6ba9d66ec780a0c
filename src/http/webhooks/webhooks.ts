/** Carries out what administrators ask for below the path of a webhook. */
import { Problem } from "../../errors.ts";
import type { Versioned } from "../../webhooks/records.ts";
import { type Webhook, webhooksName } from "../../webhooks/webhook.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import type { OperationOf } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { requirePreconditions, validatorsOf } from "../protocol/conditional.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import { findCollection, type Service } from "../service.ts";

/** Throws PRECONDITION_FAILED, UNAVAILABLE if the service is read-only, and WEBHOOKS_UNAVAILABLE. */
export async function performOnWebhook(
  service: Service,
  operation: OperationOf<"webhookStatus" | "webhookDeliveries" | "webhookAction">,
  { headers }: Pick<HttpRequest, "headers">,
): Promise<Result> {
  const webhooks = service.webhooks as Webhooks; // without it, the path does not exist
  const webhook = await webhooks.webhook(operation.id);
  if (webhook === undefined) return notFound;
  // Only this one changes the webhook itself. The others have no state that a precondition could name.
  if (operation.kind === "webhookAction" && operation.action === "rotate")
    await requireState(service, operation.id, headers);
  const body = await bodyOf(service, { webhooks, webhook, operation });
  if (body === undefined) return notFound;
  return { kind: "document", document: { status: 200, type: jsonType, body: JSON.stringify(body) } };
}

async function requireState(
  service: Service,
  id: string,
  headers: Pick<HttpRequest, "headers">["headers"],
): Promise<void> {
  const stored = await service.store.read({ collection: webhooksName, id });
  if (stored === undefined) return; // it was deleted in the meantime, which the change finds out
  const view = service.tags.view(findCollection(service, webhooksName)?.visibility);
  requirePreconditions(headers, validatorsOf(stored, view));
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
