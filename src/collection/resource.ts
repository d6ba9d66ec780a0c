/** A resource as text, and its attributes without the id. */
import type { Violation } from "../errors.ts";
import { type IdKind, idJson } from "./ids.ts";

/** The attributes of a resource: its members without `id`. */
export type Attributes = Record<string, unknown>;

/** Gives what is wrong with a resource's attributes (without `id`); an empty list when they fit. */
export type Validator = (attributes: Attributes) => readonly Violation[];

/** The JSON of a resource as it is kept and sent: `id` first, then the attributes as `JSON.stringify` orders them. */
export function resourceText(kind: IdKind, id: string, attributes: Attributes): string {
  return textWithId(idJson(kind, id), attributes);
}

/** As `resourceText`, with the JSON of the id. */
export function textWithId(id: string, attributes: Attributes): string {
  const rest = JSON.stringify(attributes);
  const start = `{"id":${id}`;
  return rest === "{}" ? `${start}}` : `${start},${rest.slice(1)}`;
}

/** The attributes of a resource or of content: all members but `id`. The value given stays as it is. */
export function withoutId(value: Record<string, unknown>): Attributes {
  if (!Object.hasOwn(value, "id")) return value;
  // Rest properties define, they do not assign: an own member called __proto__ stays plain data.
  const { id: _, ...attributes } = value;
  return attributes;
}

/** The members of a resource whose names are wanted. */
export function pickFrom(
  resource: Record<string, unknown>,
  isWanted: (name: string) => boolean,
): Record<string, unknown> {
  // Members are defined, not assigned: an own member called __proto__ stays plain data.
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isWanted(name)));
}
