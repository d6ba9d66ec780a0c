/** A webhook: its attributes, and the names of the collections that keep webhooks. */

import { otherCollections, statesOfWebhooks } from "../store/core/log-plans.ts";
import type { ChangeKind } from "../store/port/change-log.ts";

/** The names of the internal collections of webhooks. */
export const webhooksName = "_webhooks";
export const statesName = statesOfWebhooks;
export const deliveriesName = "_webhook_deliveries";

/** The item of `collections` for every collection. It includes collections that do not exist yet. */
export const everyCollection = otherCollections;

/** The attributes of a webhook. */
export interface Webhook {
  id: string;
  url: string;
  collections: readonly string[];
  types: readonly ChangeKind[];
  filter?: Record<string, unknown>;
  fields?: readonly string[];
  description?: string;
  enabled: boolean;
  roles: readonly string[];
  headers?: Readonly<Record<string, string>>;
  secret: string;
}

/** The kinds of changes that a webhook can get. */
export const kinds: readonly ChangeKind[] = ["created", "updated", "deleted"];

/** The attributes that a webhook can leave out. */
export const defaults = { types: kinds, enabled: true, roles: [] } as const;

/** A webhook with the defaults of the attributes that it lacks. A replacement can leave them out. */
export function withWebhookDefaults(attributes: Webhook): Webhook {
  return {
    ...attributes,
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !Object.hasOwn(attributes, name))),
  };
}
