/** `holdfast webhooks list`, `test` and `retry`: shows webhooks, and sends events to their receivers, in the store or of a service. */
import type { CommandLine } from "../../command.ts";
import { StartError } from "../../errors.ts";
import type { Versioned } from "../../records.ts";
import { type Webhook, webhooksName } from "./webhook.ts";
import type { Webhooks } from "./webhooks.ts";

/** Prints every webhook on a line of JSON, without its secret and headers. Throws StartError if the store does not exist. */
export async function runList({ call, print, withReader }: CommandLine<Webhooks>): Promise<void> {
  if (call !== undefined) {
    const webhooks = await call(({ $webhooks }) => $webhooks.list().all());
    return print(webhooks.map((webhook) => JSON.stringify(webhook)));
  }
  await withReader(async (reader) => {
    for await (const { text } of reader.scan(webhooksName)) {
      const { secret: _, headers: __, ...shown } = JSON.parse(text) as Webhook;
      print(JSON.stringify(shown));
    }
  });
}

/** Sends a test event, and prints the response of the receiver. Throws StartError if the receiver did not accept it. */
export async function runTest(id: string, line: CommandLine<Webhooks>): Promise<void> {
  const { call } = line;
  const result =
    call === undefined
      ? await withWebhook(id, line, (webhooks, webhook) => webhooks.test(webhook))
      : await call(({ $webhooks }) => $webhooks.test(id), `The webhook "${id}"`);
  if (result === undefined) throw new StartError(`The webhook ${id} was deleted.`);
  line.print(JSON.stringify(result));
  if (result.delivered !== true) throw new StartError("The receiver did not accept the test event.");
}

/** Sends an event again, and prints the delivery. Throws StartError if the receiver did not accept it. */
export async function runRetry(
  { id, event }: { id: string; event: string },
  line: CommandLine<Webhooks>,
): Promise<void> {
  const { call } = line;
  const delivery =
    call === undefined
      ? await withWebhook(id, line, (webhooks, webhook) => webhooks.retry(webhook, event))
      : await call(
          ({ $webhooks }) => $webhooks.retry(id, event),
          `The delivery of the event "${event}" to the webhook "${id}"`,
        );
  if (delivery === undefined)
    throw new StartError(`The webhook ${id} has no delivery of the event "${event}".`);
  line.print(JSON.stringify(delivery));
  if (delivery.state !== "delivered") throw new StartError("The receiver did not accept the event.");
}

function withWebhook<T>(
  id: string,
  { withOpened }: CommandLine<Webhooks>,
  work: (webhooks: Webhooks, webhook: Versioned<Webhook>) => Promise<T>,
): Promise<T> {
  return withOpened(async (webhooks) => {
    const webhook = await webhooks.webhook(id);
    if (webhook === undefined) throw new StartError(`The webhook "${id}" does not exist.`);
    return work(webhooks, webhook);
  });
}
