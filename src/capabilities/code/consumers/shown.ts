/** Consumers and their deliveries as administrators see them. */
import type { Pending } from "../../../changes/consume/backlog.ts";
import type {
  ConsumerState,
  DeliveryCounts,
  DeliveryRecord,
} from "../../../changes/consume/consumer-records.ts";
import { positionOf } from "../../../changes/consume/event-reader.ts";
import type { Positions } from "../../../changes/position.ts";
import type { CodeConsumer } from "./code-consumer.ts";
import type { Registered } from "./registry.ts";

/** The status of a consumer. */
export interface ConsumerStatus {
  name: string;
  enabled: boolean;
  state: "active" | "failing" | "disabled" | "paused" | "removed";
  /** Why it is not active, if the service knows. */
  reason?: string;
  waiting: number;
  retrying: number;
  dead: number;
  lost: number;
  lagSeconds: number;
  position: string | null;
  lastSuccess: string | null;
  lastFailure: string | null;
}

/** What a status is made from. */
export interface StatusParts {
  /** `undefined` if the store does not know it yet. */
  registered: Registered | undefined;
  /** `undefined` if the configuration no longer has it. */
  consumer: CodeConsumer | undefined;
  state: ConsumerState | undefined;
  pending: Pending | undefined;
  counts: DeliveryCounts | undefined;
  positions: Positions;
  readOnly: boolean;
  /** Unix time in milliseconds. */
  now: number;
}

/** The status of a consumer. */
export function statusOf(name: string, parts: StatusParts): ConsumerStatus {
  const { registered, state: stored, pending, counts, positions, now } = parts;
  const enabled = registered?.enabled ?? true;
  const [state, reason] = conditionOf(parts, enabled);
  const [collection = ""] = name.split("/");
  const { waiting = 0, oldestAt = now } = pending ?? {};
  return {
    name,
    enabled,
    state,
    ...(reason !== undefined && { reason }),
    waiting,
    retrying: counts?.retrying ?? 0,
    dead: counts?.dead ?? 0,
    lost: stored?.lost ?? 0,
    lagSeconds: Math.max(0, now - oldestAt) / 1_000,
    position: stored === undefined ? null : positions.format(positionOf(stored.marks, [collection])),
    lastSuccess: timeOf(stored?.lastSuccessAt),
    lastFailure: timeOf(stored?.lastFailureAt),
  };
}

function conditionOf(
  { registered, consumer, state, readOnly }: StatusParts,
  enabled: boolean,
): [ConsumerStatus["state"], reason?: string] {
  if (consumer === undefined)
    return [
      "removed",
      `The configuration no longer has this consumer. The service noticed this at ${timeOf(registered?.removedAt)}.`,
    ];
  if (!enabled)
    return state?.disabledReason === undefined ? ["disabled"] : ["disabled", state.disabledReason];
  if (readOnly) return ["paused", "The service is read-only."];
  const { misfit } = consumer;
  if (misfit !== undefined) return ["failing", misfit];
  return state?.failingSince === undefined ? ["active"] : ["failing"];
}

/** A delivery. */
export type ShownDelivery = Readonly<Record<string, unknown>>;

/** A delivery as administrators see it. */
export function shownDelivery(record: DeliveryRecord): ShownDelivery {
  const { event, type, state, attempts, at, milliseconds, error, nextAt } = record;
  return { event, type, state, attempts, time: timeOf(at), milliseconds, error, next: timeOf(nextAt) };
}

function timeOf(at: number | null | undefined): string | null {
  return at === undefined || at === null ? null : new Date(at).toISOString();
}
