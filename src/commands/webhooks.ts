/** `holdfast webhooks list`, `test` and `retry`: shows webhooks, and sends events to their receivers. */
import { StartError } from "../errors.ts";
import { openService } from "../server/open-service.ts";
import { openReader, requireStore } from "../store/open.ts";
import { type Webhook, webhooksName } from "../webhooks/collection.ts";
import type { Versioned } from "../webhooks/records.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { configOf, type Environment, type Flags } from "./options.ts";
import { shell } from "./shell.ts";
import { withOpen } from "./store.ts";

/** Prints every webhook on a line of JSON, without its secret and headers. Throws StartError if the store does not exist. */
export async function runWebhooksList(flags: Flags, env: Environment): Promise<void> {
  const { store } = await configOf(flags, env);
  requireStore(store);
  await withOpen(openReader(store), async (reader) => {
    for await (const { text } of reader.scan(webhooksName)) {
      const { secret: _, headers: __, ...shown } = JSON.parse(text) as Webhook;
      print(shown);
    }
  });
}

/** Sends a test event, and prints what came back. Throws StartError if the receiver did not accept it. */
export async function runWebhooksTest(id: string, flags: Flags, env: Environment): Promise<void> {
  await withWebhook(id, { flags, env }, async (webhooks, webhook) => {
    const result = await webhooks.test(webhook, new AbortController().signal);
    print(result);
    if (result.delivered !== true) throw new StartError("The receiver did not accept the test event.");
  });
}

/** Sends an event again, and prints the delivery. Throws StartError if the receiver did not accept it. */
export async function runWebhooksRetry(
  { id, event }: { id: string; event: string },
  flags: Flags,
  env: Environment,
): Promise<void> {
  await withWebhook(id, { flags, env }, async (webhooks, webhook) => {
    const delivery = await webhooks.retry(webhook, event, new AbortController().signal);
    if (delivery === undefined)
      throw new StartError(`The webhook ${id} has no delivery of the event "${event}".`);
    print(delivery);
    if (delivery.state !== "delivered") throw new StartError("The receiver did not accept the event.");
  });
}

async function withWebhook(
  id: string,
  { flags, env }: { flags: Flags; env: Environment },
  work: (webhooks: Webhooks, webhook: Versioned<Webhook>) => Promise<void>,
): Promise<void> {
  const config = await configOf(flags, env);
  requireStore(config.store);
  await withOpen(openService(config, { delivers: false }), async ({ webhooks }) => {
    const webhook = await webhooks.webhook(id);
    if (webhook === undefined) throw new StartError(`The webhook "${id}" does not exist.`);
    await work(webhooks, webhook);
  });
}

function print(value: unknown): void {
  shell().stdout.write(`${JSON.stringify(value)}\n`);
}
