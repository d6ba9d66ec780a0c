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
import { overtaken, type WriteAttempt } from "../writes/commit.ts";
import { untilCommitted } from "../writes/write.ts";

type OnWebhookOperation = OperationOf<"webhookStatus" | "webhookDeliveries" | "webhookAction">;

/** Throws PRECONDITION_FAILED, UNAVAILABLE if the service is read-only, and WEBHOOKS_UNAVAILABLE. */
export async function performOnWebhook(
  service: Service,
  operation: OnWebhookOperation,
  { headers }: Pick<HttpRequest, "headers">,
): Promise<Result> {
  const webhooks = service.webhooks as Webhooks; // without it, the path does not exist
  // Only this one changes the webhook itself. The others have no state that a precondition could name.
  if (operation.kind === "webhookAction" && operation.action === "rotate")
    return untilCommitted(service, () => rotate(service, operation.id, headers));
  const webhook = await webhooks.webhook(operation.id);
  const body = webhook && (await bodyOf(service, { webhooks, webhook, operation }));
  return body === undefined ? notFound : answerOf(body);
}

function answerOf(body: unknown): Result {
  return { kind: "document", document: { status: 200, type: jsonType, body: JSON.stringify(body) } };
}

/** One attempt to give a webhook a new secret. Its deliveries write the state that belongs to the secret, and can come first. */
async function rotate(
  service: Service,
  id: string,
  headers: Pick<HttpRequest, "headers">["headers"],
): Promise<WriteAttempt> {
  const webhooks = service.webhooks as Webhooks;
  const webhook = await webhooks.webhook(id);
  if (webhook === undefined) return notFound;
  await requireState(service, id, headers);
  requireDeliveries(service);
  const secret = await webhooks.rotate(webhook);
  return secret === undefined ? overtaken : answerOf({ secret });
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
  operation: OnWebhookOperation;
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

/** Carries out an action that does not change the webhook. */
async function act(
  service: Service,
  { webhooks, webhook, operation }: OnWebhook & { operation: OperationOf<"webhookAction"> },
): Promise<unknown> {
  requireDeliveries(service);
  const { signal } = new AbortController();
  return operation.action === "test"
    ? webhooks.test(webhook, signal)
    : webhooks.retry(webhook, operation.event, signal);
}

function requireDeliveries({ readOnly }: Service): void {
  if (readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. It delivers nothing.");
}
