/** The operators that filters by an attribute can have. */
import type { Kind } from "../service/schema.ts";
import type { Operator } from "./list-query.ts";

const ordered: readonly Operator[] = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"];
const textual: readonly Operator[] = [
  "contains",
  "eq",
  "ne",
  "startsWith",
  "endsWith",
  "in",
  "nin",
  "gt",
  "gte",
  "lt",
  "lte",
  "exists",
];
const times: readonly Operator[] = ["gte", "lt", "gt", "lte", "eq", "ne", "exists"];

/** The operators of each kind of attribute, the usual one first. */
export const operatorsOf: Record<Kind, readonly Operator[]> = {
  id: ["eq", "in", "gte", "lt"],
  text: textual,
  long: textual,
  number: ordered,
  integer: ordered,
  boolean: ["eq", "ne", "exists"],
  time: times,
  date: times,
  choice: ["in", "nin", "eq", "ne", "exists"],
  list: ["contains", "exists"],
  object: ["exists"],
  reference: ["eq", "ne", "in", "nin", "exists"],
  any: textual,
};

/** The value of a filter before the user has typed one. */
export function firstValue(operator: Operator, kind: Kind): string {
  return operator === "exists" || kind === "boolean" ? "true" : "";
}

/** A time of the service in the form of a field for local times; empty if the text is no time. */
export function toLocalTime(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return "";
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The time of a field as the service writes times; the text itself if it is no time. */
export function fromLocalTime(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}
