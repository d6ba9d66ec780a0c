/** Checks one item of an import, in the same way as the body of a create. */
import type { Collection } from "../collection/collection.ts";
import { withDefaults } from "../collection/defaults.ts";
import { fitId, reservedIdViolations } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { resourceText } from "../collection/resource.ts";
import { clientAttributes, timestampViolations, withImportedTimestamps } from "../collection/timestamps.ts";
import { Problem } from "../errors.ts";
import { wholeBody } from "../json/explain.ts";
import { parseJson, requireObject } from "../json/parse.ts";
import type { JsonLimits } from "../json/values.ts";
import { faultOf, type Item, type ItemViolation, withValue } from "./items.ts";

/** A valid resource. */
export interface ValidResource {
  /** The id in the input; `undefined` if the resource needs a generated one. */
  id: string | undefined;
  /** An id in the input that does not fit the collection, as JSON. */
  unfitId: string | undefined;
  /** Whether the id is a number in the input. */
  hasNumberId: boolean;
  /** The text of the resource with an id. */
  textWith(id: string): string;
}

/** What a resource must fit, and the time of the import as Unix time in milliseconds. */
export interface ResourceRules {
  collection: Collection;
  limits: JsonLimits;
  at: number;
}

type TextItem = Extract<Item, { kind: "text" }>;

/** Parses and validates the text of an item. If it is not a valid resource, returns what is wrong. */
export function readResource(
  item: TextItem,
  { collection, limits, at }: ResourceRules,
): ValidResource | readonly ItemViolation[] {
  const value = parseObject(item, limits);
  if (typeof value === "string") return [faultOf(value)];
  const attributes = withDefaults(clientAttributes(collection, value), collection.defaults, { at });
  const id = fitId(collection.idKind, value.id);
  const violations = [
    ...(id === undefined ? [] : reservedIdViolations(id)),
    ...timestampViolations(collection, value, at),
    ...collection.validate(attributes),
  ];
  if (violations.length > 0) return violations.map((each) => withValue(each, value));
  const all = collection.timestamps ? withImportedTimestamps(attributes, value, at) : attributes;
  return {
    id,
    unfitId: id === undefined && Object.hasOwn(value, "id") ? shortJson(value.id) : undefined,
    hasNumberId: typeof value.id === "number",
    textWith: (finalId) => resourceText(collection.idKind, finalId, all),
  };
}

function parseObject({ bytes, isGenerated }: TextItem, limits: JsonLimits): Record<string, unknown> | string {
  try {
    return requireObject(parseJson(bytes, limits), { insteadOfArray: "write one resource per line" });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = error.message.replace(wholeBody, "The resource");
    if (isGenerated === true) return message.replace(/ \((?:line \d+, )?column \d+\)/, "");
    // The report names the line of the input, so the "line 1" of a text with one line would mislead.
    return bytes.includes(0x0a) ? message : message.replace(/\bline 1, (column \d+)/, "$1");
  }
}
