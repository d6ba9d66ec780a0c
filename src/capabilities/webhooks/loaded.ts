/** The code of webhooks, as the core loads it. */
import type { Core, InStore, Loaded } from "../../capability.ts";
import { findCollection } from "../../http/service.ts";
import { AllowList, resolveHost } from "./addresses.ts";
import type { ReplacedParts, WebhookSettings } from "./capability.ts";
import { webhookEndpoints } from "./endpoints.ts";
import { KeptSecrets } from "./kept-secrets.ts";
import { AttemptDurations, families } from "./metrics.ts";
import { naming, webhookCollection } from "./webhook.ts";
import { disableWebhooks, WebhookRecords } from "./webhook-records.ts";
import { Webhooks } from "./webhooks.ts";

/** Why webhooks are disabled, as administrators see it. */
const reasons = {
  copied: "The store is a copy. Enable the webhook to send its events to this receiver too.",
  // The receivers already have the events that the restored store would send them again.
  restored: "The store was restored from a backup. Enable the webhook to send events again.",
};

const inStore: InStore = {
  hasEncrypted: (store) => new WebhookRecords(store).haveEncrypted(),
  quieten: async (store, { made, at }) => {
    if (made === "moved") return [];
    const count = await disableWebhooks(store, reasons[made], at);
    return count === 0 ? [] : [{ did: "disabled", count, what: "webhook" }];
  },
  replaceLost: async (store, { vault, now }) => {
    const secrets = new KeptSecrets(() => vault);
    const replaced = await secrets.encryptAll(new WebhookRecords(store), { now, replacesLost: true });
    return { replaced: replaced.map(({ webhook: { id, url }, secret }) => ({ id, url, secret })) };
  },
};

/** The webhooks of a service. They do not deliver yet. */
async function open(
  { service, isShared, hasSecret, vault, clock, isMetered, tracing }: Core,
  { allow }: WebhookSettings,
  replaced: ReplacedParts | undefined,
): Promise<Webhooks> {
  const { store, feed, newUuid, log, access } = service;
  const viewOf = (name: string, roles: readonly string[]) => {
    const collection = findCollection(service, name);
    const principal = { subject: "", roles, claims: {}, scopes: undefined };
    return collection === undefined || access === undefined
      ? collection
      : access.viewFor(collection, principal);
  };
  return new Webhooks({
    store,
    feed,
    clock,
    random: Math.random,
    resolve: resolveHost,
    requestMs: 15_000,
    allow: new AllowList(allow),
    prefix: service.settings.prefix,
    secrets: new KeptSecrets(() => (hasSecret ? vault() : undefined)),
    viewOf,
    collectionNames: () =>
      [...new Set([...service.collections().keys(), ...store.collections().keys()])].filter(
        (name) => findCollection(service, name) !== undefined,
      ),
    isReady: service.hasStarted,
    isShared: isShared || service.counts.threads > 1,
    newUuid,
    attempts: isMetered ? new AttemptDurations() : undefined,
    tracer: tracing && (await import("./delivery-spans.ts")).createDeliveryTracer(tracing),
    warn: (message) => log.warn(message),
    ...replaced,
  });
}

export const loaded: Loaded<WebhookSettings, Webhooks, ReplacedParts> = {
  endpoints: webhookEndpoints,
  describedCollections: [{ ...naming, collection: webhookCollection().collection }],
  families,
  inStore,
  open,
};
