/** Completes the writes of webhooks: defaults, secrets, and the state that belongs to each webhook. */
import { isIP } from "node:net";
import { collectionsOf } from "../../changes/consume/consumer.ts";
import { type ConsumerState, putState } from "../../changes/consume/consumer-records.ts";
import { owedAt, placeNow } from "../../changes/consume/event-reader.ts";
import { attributeViolation } from "../../collection/resource.ts";
import { Problem } from "../../errors.ts";
import type { ParticipantWrite, Settled } from "../../http/participant.ts";
import type { Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import { hostOf, NotAllowed } from "./addresses.ts";
import type { WebhookParts } from "./delivery.ts";
import { createSecret } from "./signature.ts";
import { maxWebhooks, type Webhook, webhooksName, withWebhookDefaults } from "./webhook.ts";

/** Completes a write. Throws WEBHOOKS_UNAVAILABLE if the service cannot have another webhook, and VALIDATION_FAILED. */
export async function settleWrite(
  parts: WebhookParts,
  { key: { id }, current, next, named }: ParticipantWrite,
): Promise<Settled> {
  if (next === undefined) return { changes: await parts.records.removals(id) };
  const state = current === undefined ? undefined : await parts.records.state(id);
  const after = withWebhookDefaults(JSON.parse(next) as Webhook);
  const before = current === undefined ? undefined : (JSON.parse(current) as Webhook);
  if (before === undefined) await requireAnother(parts);
  if (before?.url !== after.url) await requirePlainReceiver(parts, new URL(after.url));
  const secret = after.secret === undefined ? createSecret() : undefined;
  const moved = before !== undefined && new URL(before.url).origin !== new URL(after.url).origin;
  const { headers, ...others } = after;
  const text = JSON.stringify({
    ...others,
    ...(headers === undefined || (moved && !named.has("headers")) ? {} : { headers }),
    secret: parts.secrets.keep(id, secret ?? after.secret),
  });
  const changes = await stateChanges(parts, [before, after], state);
  return { text, changes, ...(secret !== undefined && { onlyInResponse: { secret } }) };
}

/**
 * Without encryption, a name needs addresses that are allowed. The rules cannot look them up, so this does. Another URL is not
 * resolved: its receiver can appear later. Throws VALIDATION_FAILED.
 */
async function requirePlainReceiver({ allow, receivers }: WebhookParts, url: URL): Promise<void> {
  const host = hostOf(url.hostname);
  if (url.protocol !== "http:" || isIP(host) !== 0 || allow.hasName(host)) return;
  try {
    await receivers.check(url);
  } catch (error) {
    const why =
      error instanceof NotAllowed
        ? error.message
        : `The name ${host} has no address now. Correct it, or add it to "webhooks.allow" in the configuration.`;
    const detail = `cannot be a receiver. ${why.replace(/\.$/, "")}`;
    const violations = [attributeViolation("url", "url", detail)];
    throw new Problem("VALIDATION_FAILED", `The attribute "url" ${detail}.`, { violations });
  }
}

async function requireAnother({ feed, records }: WebhookParts): Promise<void> {
  if (feed === undefined)
    throw new Problem(
      "WEBHOOKS_UNAVAILABLE",
      'The service keeps no history, so webhooks cannot work. Remove history: "none" from the configuration.',
    );
  if ((await records.count(webhooksName)) < maxWebhooks) return;
  throw new Problem(
    "WEBHOOKS_UNAVAILABLE",
    `The service already has ${maxWebhooks} webhooks. Delete one first.`,
  );
}

/** A webhook gets the changes of a collection from the time on when the collection was added to it. */
async function stateChanges(
  parts: WebhookParts,
  [before, after]: readonly [Webhook | undefined, Webhook],
  state: Versioned<ConsumerState> | undefined,
): Promise<Change[]> {
  const had = new Set(before === undefined ? [] : collectionsOf(before, parts));
  const added = collectionsOf(after, parts).filter((name) => !had.has(name));
  const isSwitched = before !== undefined && before.enabled !== after.enabled;
  if (state !== undefined && added.length === 0 && !isSwitched) return [];
  const marks = { ...state?.value.marks, ...(await placeNow(added, parts)) };
  const retrying = state === undefined ? [] : await parts.records.retrying(after.id);
  const retried = retrying.map(({ value }) => value);
  const owes = after.enabled ? owedAt(after, marks, retried) : undefined;
  const forgotten = isSwitched ? { disabledReason: undefined, failingSince: undefined } : {};
  return [putState(after.id, state, { ...forgotten, marks, owes })];
}
