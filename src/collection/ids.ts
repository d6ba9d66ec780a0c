/** Ids of resources: valid ones in requests, and their JSON. `uuids.ts` makes new ones. */
import type { Violation } from "../errors.ts";

/** The kinds of ids that a collection can have, with their descriptions for the OpenAPI document. */
export const idKinds = {
  uuid: "A JSON string. The service makes a UUID of version 7 (RFC 9562) in lower case, unless the client chose the id.",
  integer: "A JSON number, made by the service: counted up, never given twice.",
} as const satisfies Record<string, string>;

/** A kind of id. */
export type IdKind = keyof typeof idKinds;

const anyId = /^[A-Za-z0-9._~-]{1,128}$/;
const integerText = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** The text of an id from a request or an import; `undefined` if a collection of this kind cannot contain it. */
export function fitId(kind: IdKind, value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== "string") return undefined;
  if (kind === "integer") return isIntegerId(value) ? value : undefined;
  // Clients remove dot segments from a path (RFC 3986 section 5.2.4), so they could not request such an id.
  return anyId.test(value) && value !== "." && value !== ".." ? value : undefined;
}

function isIntegerId(text: string): boolean {
  return integerText.test(text) && Number.isSafeInteger(Number(text));
}

/** The id as an integer. `undefined` if the collection has other ids, or if the text is not a canonical safe integer. */
export function integerOf(kind: IdKind, id: string): number | undefined {
  return kind === "integer" && isIntegerId(id) ? Number(id) : undefined;
}

/** The id as a resource contains it: a number if ids are integers, and otherwise a text. */
export function idIn(kind: IdKind, id: string): string | number {
  return integerOf(kind, id) ?? id;
}

/**
 * Texts that are not ids, because the service has paths with these names below a collection or a resource, or can have them
 * in a later release. An older release could import resources with such ids.
 */
export const reservedIds: ReadonlySet<string> = new Set(
  "_aggregate _batch _bulk _changes _deleted _deliveries _events _import _restore _retry _rotate _status _test _webhooks".split(
    " ",
  ),
);

/** What is wrong with an id that is reserved; nothing for other ids. */
export function reservedIdViolations(id: string): Violation[] {
  if (!reservedIds.has(id)) return [];
  const detail = `is reserved: the service uses "${id}" in its paths. Give the resource another id`;
  return [{ in: "body", pointer: "#/id", code: "reservedId", detail }];
}

/** The JSON text of an id: `"abc"`, or `5` if ids are integers. */
export function idJson(kind: IdKind, id: string): string {
  return kind === "integer" ? id : JSON.stringify(id);
}

/**
 * Whether the `id` in a body is the id in the path. A number is compared by its shortest text. This does not depend on the
 * kind, because an imported id keeps its text.
 */
export function sameId(bodyId: unknown, pathId: string): boolean {
  return typeof bodyId === "number" ? String(bodyId) === pathId : bodyId === pathId;
}
