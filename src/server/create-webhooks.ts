/** Creates the webhooks of a service. They do not deliver yet. */
import type { Config } from "../config.ts";
import { findCollection, type Service } from "../http/service.ts";
import { AllowList, resolveHost } from "../webhooks/addresses.ts";
import { systemClock, type WebhookOptions } from "../webhooks/delivery.ts";
import { Webhooks } from "../webhooks/webhooks.ts";

/** The webhooks of a service. `replaced` has parts that the program or a test provides. */
export function createWebhooks(
  service: Service,
  { webhooks }: Config,
  replaced: Partial<WebhookOptions> & Pick<WebhookOptions, "isShared">,
): Webhooks {
  const { store, feed, now, newUuid, log, access } = service;
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
    clock: systemClock(now),
    random: Math.random,
    resolve: resolveHost,
    requestMs: 15_000,
    allow: new AllowList(webhooks.allow),
    prefix: service.settings.prefix,
    viewOf,
    collectionNames: () =>
      [...new Set([...service.collections.keys(), ...store.collections().keys()])].filter(
        (name) => findCollection(service, name) !== undefined,
      ),
    isReady: service.hasStarted,
    newUuid,
    warn: (message) => log.warn(message),
    ...replaced,
  });
}
