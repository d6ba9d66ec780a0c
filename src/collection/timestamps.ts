/** The attributes `createdAt` and `updatedAt`, which the service sets if a collection declares `timestamps`. */
import type { Violation } from "../errors.ts";
import { isTimestamp } from "./dates.ts";
import { type Attributes, attributeViolation, withoutId } from "./resource.ts";

/** The names of both attributes. */
export const timestampNames = ["createdAt", "updatedAt"] as const;

/** The option of a collection. */
interface TimestampOption {
  timestamps: boolean;
}

/** The version of a resource before a change. */
export interface PreviousVersion {
  text: string;
  /** The time of its commit: Unix time in milliseconds. */
  updatedAt: number;
}

/** The attributes that clients can set: all members of a resource or a body without the id and the timestamps. */
export function clientAttributes(
  { timestamps }: TimestampOption,
  value: Record<string, unknown>,
): Attributes {
  if (!timestamps) return withoutId(value);
  // Rest properties define members and do not assign them, so an own member called __proto__ stays data.
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...attributes } = value;
  return attributes;
}

/**
 * The attributes with timestamps at their end, for a create or a change at the time `at`. If the version before a change
 * has no `createdAt`, the time of that version is used.
 */
export function withTimestamps(attributes: Attributes, at: number, before?: PreviousVersion): Attributes {
  const now = toTimestamp(at);
  const createdAt = before === undefined ? now : (createdAtIn(before) ?? toTimestamp(before.updatedAt));
  return { ...attributes, createdAt, updatedAt: later(createdAt, now) };
}

/** Like `withTimestamps` for an imported resource. Keeps its timestamps, which must be valid. */
export function withImportedTimestamps(
  attributes: Attributes,
  imported: Record<string, unknown>,
  at: number,
): Attributes {
  const now = toTimestamp(at);
  const { createdAt, updatedAt } = imported;
  return { ...attributes, createdAt: createdAt ?? updatedAt ?? now, updatedAt: updatedAt ?? now };
}

/** The violations of timestamps in a resource, if its collection has them. `latest` is Unix time in milliseconds. */
export function timestampViolations(
  { timestamps }: TimestampOption,
  value: Record<string, unknown>,
  latest = Number.POSITIVE_INFINITY,
): Violation[] {
  if (!timestamps) return [];
  const present = timestampNames.filter((name) => Object.hasOwn(value, name));
  const invalid = present.filter((name) => !isTime(value[name]));
  if (invalid.length > 0) {
    return invalid.map((name) =>
      attributeViolation(
        name,
        "date",
        "must be a valid date and time, as YYYY-MM-DDThh:mm:ss.SSSZ, or left out",
      ),
    );
  }
  const future = present.find((name) => Date.parse(String(value[name])) > latest);
  if (future !== undefined) return [attributeViolation(future, "date", "must not be in the future")];
  const isBackwards = present.length === 2 && String(value.updatedAt) < String(value.createdAt);
  return isBackwards ? [attributeViolation("updatedAt", "date", "must not be before createdAt")] : [];
}

function createdAtIn({ text }: PreviousVersion): string | undefined {
  const { createdAt } = JSON.parse(text) as Record<string, unknown>;
  return isTime(createdAt) ? createdAt : undefined;
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && isTimestamp(value);
}

/** Timestamps have one format, so their texts sort by time. */
function later(a: string, b: string): string {
  return a > b ? a : b;
}

function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}
