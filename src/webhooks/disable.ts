/** Disables all webhooks of a store, after it was copied or restored: a copy must not send anything to real receivers. */
import type { Change } from "../store/port/commit.ts";
import { put, WebhookRecords, type WebhookStore } from "./records.ts";
import { statesName, webhooksName } from "./webhook.ts";

/** Disables every webhook that is enabled. Returns how many they were. Administrators see the reason, a sentence. */
export async function disableWebhooks(store: WebhookStore, reason: string, at: number): Promise<number> {
  const records = new WebhookRecords(store);
  const enabled = (await records.all()).filter(({ value }) => value.enabled);
  const changes: Change[] = [];
  for (const webhook of enabled) {
    const { id } = webhook.value;
    const state = await records.state(id);
    const known = state?.value ?? { marks: {}, lost: 0 };
    changes.push(put(webhooksName, id, webhook, { ...webhook.value, enabled: false }));
    changes.push(put(statesName, id, state, { ...known, disabledReason: reason, owes: undefined }));
  }
  await records.commit(changes, at);
  return enabled.length;
}
