/** `holdfast webhooks list`, `test` and `retry`: shows webhooks, and sends events to their receivers, in the store or of a service. */
import { StartError } from "../errors.ts";
import type { Versioned } from "../records.ts";
import { openService } from "../server/open-service.ts";
import { openReader, requireStore } from "../store/open.ts";
import { type Webhook, webhooksName } from "../webhooks/webhook.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { callService, runningOf, withUrlAdvice } from "./running-service.ts";
import { print } from "./shell.ts";

/** Prints every webhook on a line of JSON, without its secret and headers. Throws StartError if the store does not exist. */
export async function runWebhooksList(flags: Flags, env: Environment): Promise<void> {
  const running = runningOf(flags, env);
  if (running !== undefined) {
    const webhooks = await callService(running, ({ $webhooks }) => $webhooks.list().all());
    return print(webhooks.map((webhook) => JSON.stringify(webhook)));
  }
  const { store } = await configOf(flags, env);
  requireStore(store);
  await withOpen(openReader(store), async (reader) => {
    for await (const { text } of reader.scan(webhooksName)) {
      const { secret: _, headers: __, ...shown } = JSON.parse(text) as Webhook;
      print(JSON.stringify(shown));
    }
  });
}

/** Sends a test event, and prints the response of the receiver. Throws StartError if the receiver did not accept it. */
export async function runWebhooksTest(id: string, flags: Flags, env: Environment): Promise<void> {
  const running = runningOf(flags, env);
  const result =
    running === undefined
      ? await withWebhook(id, { flags, env }, (webhooks, webhook) => webhooks.test(webhook))
      : await callService(running, ({ $webhooks }) => $webhooks.test(id), `The webhook "${id}"`);
  if (result === undefined) throw new StartError(`The webhook ${id} was deleted.`);
  print(JSON.stringify(result));
  if (result.delivered !== true) throw new StartError("The receiver did not accept the test event.");
}

/** Sends an event again, and prints the delivery. Throws StartError if the receiver did not accept it. */
export async function runWebhooksRetry(
  { id, event }: { id: string; event: string },
  flags: Flags,
  env: Environment,
): Promise<void> {
  const running = runningOf(flags, env);
  const delivery =
    running === undefined
      ? await withWebhook(id, { flags, env }, (webhooks, webhook) => webhooks.retry(webhook, event))
      : await callService(
          running,
          ({ $webhooks }) => $webhooks.retry(id, event),
          `The delivery of the event "${event}" to the webhook "${id}"`,
        );
  if (delivery === undefined)
    throw new StartError(`The webhook ${id} has no delivery of the event "${event}".`);
  print(JSON.stringify(delivery));
  if (delivery.state !== "delivered") throw new StartError("The receiver did not accept the event.");
}

async function withWebhook<T>(
  id: string,
  { flags, env }: { flags: Flags; env: Environment },
  work: (webhooks: Webhooks, webhook: Versioned<Webhook>) => Promise<T>,
): Promise<T> {
  const config = await configOf(flags, env);
  requireStore(config.store);
  try {
    return await withOpen(openService(config, { delivers: false }), async ({ webhooks }) => {
      const webhook = await webhooks.webhook(id);
      if (webhook === undefined) throw new StartError(`The webhook "${id}" does not exist.`);
      return work(webhooks, webhook);
    });
  } catch (error) {
    throw withUrlAdvice(error);
  }
}
