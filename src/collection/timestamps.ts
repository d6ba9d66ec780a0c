/** The times that the service itself keeps in the resources of a collection that declares `timestamps`. */
import type { Violation } from "../errors.ts";
import { encodeFragment } from "../json/pointer.ts";
import { isTimestamp } from "./dates.ts";
import { type Attributes, withoutId } from "./resource.ts";

/** Their names. */
export const timestampNames = ["createdAt", "updatedAt"] as const;

/** Whose attributes they are. */
interface Stamped {
  timestamps: boolean;
}

/** A version of a resource, as far as its times are concerned. */
export interface Earlier {
  text: string;
  /** When it was written: Unix time in milliseconds. */
  updatedAt: number;
}

/** What of a resource or of content is up to clients: all members but the id and the service's own times. */
export function clientAttributes({ timestamps }: Stamped, value: Record<string, unknown>): Attributes {
  if (!timestamps) return withoutId(value);
  // Rest properties define, they do not assign: an own member called __proto__ stays plain data.
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...attributes } = value;
  return attributes;
}

/**
 * The attributes with the service's own times at their end: those of a change at the time `at` of what was `before`, or
 * of a create. What was there before without a time of its creation takes that of its version.
 */
export function withTimes(attributes: Attributes, at: number, before?: Earlier): Attributes {
  const now = toTimestamp(at);
  const createdAt = before === undefined ? now : (createdAtIn(before) ?? toTimestamp(before.updatedAt));
  return { ...attributes, createdAt, updatedAt: later(createdAt, now) };
}

/** As `withTimes` for what comes from elsewhere with times of its own, which stay; they must be without faults. */
export function withOwnTimes(attributes: Attributes, own: Record<string, unknown>, at: number): Attributes {
  const now = toTimestamp(at);
  const { createdAt, updatedAt } = own;
  return { ...attributes, createdAt: createdAt ?? updatedAt ?? now, updatedAt: updatedAt ?? now };
}

/** What is wrong with the times that are there; in a collection without timestamps, nothing is. `latest` is Unix time. */
export function timeFaults(
  { timestamps }: Stamped,
  value: Record<string, unknown>,
  latest = Number.POSITIVE_INFINITY,
): Violation[] {
  if (!timestamps) return [];
  const there = timestampNames.filter((name) => Object.hasOwn(value, name));
  const wrong = there.filter((name) => !isTime(value[name]));
  if (wrong.length > 0) {
    return wrong.map((name) =>
      faultAt(name, "must be a valid date and time, as YYYY-MM-DDThh:mm:ss.SSSZ, or left out"),
    );
  }
  const ahead = there.find((name) => Date.parse(String(value[name])) > latest);
  if (ahead !== undefined) return [faultAt(ahead, "must not be in the future")];
  const isBackwards = there.length === 2 && String(value.updatedAt) < String(value.createdAt);
  return isBackwards ? [faultAt("updatedAt", "must not be before createdAt")] : [];
}

function createdAtIn({ text }: Earlier): string | undefined {
  const { createdAt } = JSON.parse(text) as Record<string, unknown>;
  return isTime(createdAt) ? createdAt : undefined;
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && isTimestamp(value);
}

/** Times of one form are in the order of their text. */
function later(a: string, b: string): string {
  return a > b ? a : b;
}

function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}

function faultAt(name: string, detail: string): Violation {
  return { in: "body", pointer: encodeFragment(`/${name}`), code: "date", detail };
}
