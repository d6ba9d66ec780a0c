/** Completes the writes of webhooks: defaults, secrets, and the state that belongs to each webhook. */
import { isIP } from "node:net";
import { attributeViolation } from "../../collection/resource.ts";
import { Problem } from "../../errors.ts";
import type { ParticipantWrite, Settled } from "../../http/participant.ts";
import { remove, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import { hostOf, NotAllowed } from "./addresses.ts";
import type { WebhookParts } from "./delivery.ts";
import { collectionsOf, owedAt, placeNow } from "./event-reader.ts";
import { createSecret } from "./signature.ts";
import {
  deliveriesName,
  maxWebhooks,
  statesName,
  type Webhook,
  webhooksName,
  withWebhookDefaults,
} from "./webhook.ts";
import { deliveryId, putState, type WebhookState } from "./webhook-records.ts";

/** Completes a write. Throws WEBHOOKS_UNAVAILABLE if the service cannot have another webhook, and VALIDATION_FAILED. */
export async function settleWrite(
  parts: WebhookParts,
  { key: { id }, current, next, named }: ParticipantWrite,
): Promise<Settled> {
  if (next === undefined) return { changes: await removalsOf(parts, id) };
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
  return { text, changes, ...(secret !== undefined && { told: { secret } }) };
}

/** The most deliveries that are stored while all are read. */
const mostLatest = 1_000;

/**
 * A webhook is deleted with its state and its deliveries. Each write of its deliveries changes the state, and then the delete starts
 * again. So all deliveries are read first, which can take long, and after the state only the latest ones.
 */
async function removalsOf({ records }: WebhookParts, id: string): Promise<Change[]> {
  const versions = new Map((await records.allDeliveries(id)).map((each) => [each.id, each.version]));
  const state = await records.state(id);
  for (const { value, version } of await records.deliveries(id, mostLatest))
    versions.set(deliveryId(id, value.event), version);
  const changes = [...versions].map(([name, version]) => remove(deliveriesName, name, version));
  return state === undefined ? changes : [...changes, remove(statesName, id, state.version)];
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
  state: Versioned<WebhookState> | undefined,
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
