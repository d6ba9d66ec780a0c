/** Warnings of `holdfast check` about consumers. */
import type { Access } from "../../../access/access.ts";
import { principalOf } from "../calls/acting.ts";
import type { ConsumerSettings } from "./consumer-settings.ts";

/** Sentences about the consumers that get nothing. `access`: `undefined` without `auth`. */
export function warningsAbout(consumers: readonly ConsumerSettings[], access: Access | undefined): string[] {
  if (access === undefined) return [];
  return consumers.flatMap((consumer) => {
    const { name, collection, sees } = consumer;
    if (sees === "service") return [];
    const isBlind = access.permit(collection, principalOf(name, sees)).followed() === "nothing";
    return isBlind ? [`${name}: the consumer gets nothing. ${whyBlind(consumer)}`] : [];
  });
}

/** Why a consumer with roles gets nothing, in sentences without the period at the end. */
export function whyBlind({ collection, sees }: Pick<ConsumerSettings, "collection" | "sees">): string {
  const roles = sees === "service" ? [] : sees.roles.map((role) => JSON.stringify(role));
  const who = roles.length === 0 ? "Callers without a role" : `Callers with the roles ${roles.join(", ")}`;
  return `${who} cannot read the collection "${collection}". Give the consumer a role that can, or as: "service"`;
}
