/** The JSON text of a resource, and its attributes. */
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { type IdKind, idJson } from "./ids.ts";

/** The attributes of a resource: its members without `id`. */
export type Attributes = Record<string, unknown>;

/**
 * Returns the violations of attributes (without `id`); empty if they fit the schema. `before` returns the attributes that a
 * write replaces.
 */
export type Validator = (attributes: Attributes, before?: () => Attributes) => readonly Violation[];

/** A violation of one attribute. */
export function attributeViolation(name: string, code: string, detail: string): Violation {
  return { in: "body", pointer: toFragment([name]), code, detail };
}

/** Whether a violation is about this attribute or a part of it. */
export function isAbout({ pointer = "" }: Pick<Violation, "pointer">, name: string): boolean {
  const attribute = toFragment([name]);
  return pointer === attribute || pointer.startsWith(`${attribute}/`);
}

/** The JSON text of a resource in stores and responses: `id`, and then the attributes in their order. */
export function resourceText(kind: IdKind, id: string, attributes: Attributes): string {
  return textWithId(idJson(kind, id), attributes);
}

/** Like `resourceText`, but `id` is JSON already. */
export function textWithId(id: string, attributes: Attributes): string {
  const rest = JSON.stringify(attributes);
  const start = `{"id":${id}`;
  return rest === "{}" ? `${start}}` : `${start},${rest.slice(1)}`;
}

/** The attributes of a resource or a body: all members without `id`. Does not change `value`. */
export function withoutId(value: Record<string, unknown>): Attributes {
  if (!Object.hasOwn(value, "id")) return value;
  // Rest properties define members and do not assign them, so an own member called __proto__ stays data.
  const { id: _, ...attributes } = value;
  return attributes;
}

/** A resource with only some of its members, in the same order. */
export function pickMembers(
  resource: Record<string, unknown>,
  isWanted: (name: string) => boolean,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isWanted(name)));
}

/** The JSON text of a resource with only `id` and these attributes, in the order of the resource. */
export function pickFields(text: string, fields: ReadonlySet<string>): string {
  const resource = JSON.parse(text) as Record<string, unknown>;
  const picked = pickMembers(resource, (name) => name !== "id" && fields.has(name));
  return textWithId(JSON.stringify(resource.id), picked);
}
