/** Which fields the form of a resource has, and what an editor gets. */
import type { AccessAnswer, CollectionDetails } from "holdfast-client";
import {
  allowsNull,
  type Kind,
  kindOf,
  kindOfValues,
  propertiesOf,
  type SchemaPart,
} from "../service/schema.ts";
import { texts } from "../texts.ts";
import { type Attributes, changesOf, type Edit, valueAt } from "./edit.ts";

export interface Field {
  name: string;
  kind: Kind;
  part: SchemaPart | boolean | undefined;
  /** The collection that the attribute refers to. */
  target: string | undefined;
  isRequired: boolean;
  /** Whether the caller cannot set it. */
  isLocked: boolean;
  /** Whether the caller cannot change the resource at all, so that no field needs a lock. */
  isReadOnly?: boolean;
  /** Whether no response contains it. */
  isWriteOnly: boolean;
  allowsNull: boolean;
  /** What the service sets on a create without the attribute. */
  byDefault: string | undefined;
}

/** What every editor gets. */
export interface EditorProps {
  field: Field;
  /** `undefined` if the attribute is absent. */
  value: unknown;
  /** A text that is no valid value. */
  invalid: string | undefined;
  hasError: boolean;
  /** The attributes that connect the input with its label and errors. */
  input: { id: string; placeholder?: string; "aria-describedby"?: string };
  onChange(value: unknown): void;
  onInvalid(text: string): void;
  onRemove(): void;
}

/** What the caller can do with the attributes. */
export type Rights = AccessAnswer["attributes"] | undefined;

/** The attributes that the service keeps come last. */
const kept = ["id", "createdAt", "updatedAt"];

/** No attribute is known. */
const noKinds: ReadonlyMap<string, Kind> = new Map();

/**
 * The fields: the attributes of the schema in its order, then the other ones that the resource has. If resources can have any
 * attribute, those that others have, with their kinds, come last.
 */
export function fieldsOf(
  info: CollectionDetails | undefined,
  attributes: Attributes,
  rights: Rights,
  known: ReadonlyMap<string, Kind> = noKinds,
): Field[] {
  const properties = new Map(Object.entries(propertiesOf(info)));
  const writeOnly = rights?.writeOnly ?? [];
  const declared = [...properties.keys(), ...Object.keys(info?.defaults ?? {}), ...writeOnly];
  const others = isOpen(info) ? known.keys() : [];
  const names = [...new Set([...declared, ...Object.keys(attributes), ...others])];
  const own = new Set(keptBy(info));
  const sorted = [
    ...names.filter((name) => !own.has(name)),
    ...kept.filter((name) => own.has(name) && Object.hasOwn(attributes, name)),
  ];
  const targets = new Map(info?.references.map(({ attribute, collection }) => [attribute, collection]));
  const required = new Set(requiredOf(info));
  return sorted.map((name) => {
    const part = properties.get(name);
    return {
      name,
      part,
      // The kind stays while the user types.
      kind:
        (part === undefined && known.get(name)) ||
        fieldKind(name, part, valueAt(attributes, name), targets.has(name)),
      target: targets.get(name),
      isRequired: required.has(name),
      isLocked: isLocked(name, info, rights),
      isWriteOnly: writeOnly.includes(name),
      allowsNull: allowsNull(part),
      byDefault: defaultText(info, name),
    };
  });
}

/** The attributes that the caller has changed and cannot set. The service would refuse them. */
export function lockedChanges(edit: Edit, info: CollectionDetails | undefined, rights: Rights): string[] {
  return changesOf(edit).filter((name) => isLocked(name, info, rights));
}

function isLocked(name: string, info: CollectionDetails | undefined, rights: Rights): boolean {
  return name === "id" || (rights?.readOnly.includes(name) ?? keptBy(info).includes(name));
}

/** The attributes that the service keeps in a collection. */
function keptBy(info: CollectionDetails | undefined): readonly string[] {
  return info?.timestamps === false ? ["id"] : kept;
}

function fieldKind(
  name: string,
  part: SchemaPart | boolean | undefined,
  value: unknown,
  refers: boolean,
): Kind {
  if (name === "id") return "id";
  if (part === undefined && (name === "createdAt" || name === "updatedAt")) return "time";
  const kind = kindOf(part);
  if (refers && kind !== "list" && !Array.isArray(value)) return "reference";
  return kind === "any" ? kindOfValues([value]) : kind;
}

function requiredOf(info: CollectionDetails | undefined): readonly string[] {
  const schema = info?.schema;
  return typeof schema === "object" && schema !== null ? ((schema as SchemaPart).required ?? []) : [];
}

/** Whether resources can have attributes that the schema does not name. */
export function isOpen(info: CollectionDetails | undefined): boolean {
  const schema = info?.schema;
  if (schema === undefined || schema === null || typeof schema === "boolean") return true;
  return (schema as SchemaPart).additionalProperties !== false;
}

/** What the service sets if a new resource lacks the attribute, for people. */
function defaultText(info: CollectionDetails | undefined, name: string): string | undefined {
  const value = info === undefined ? undefined : valueAt(info.defaults, name);
  if (value === undefined) return undefined;
  if (value === "$now") return texts.resource.theTime;
  if (value === "$subject") return texts.resource.yourSubject;
  if (typeof value !== "string") return JSON.stringify(value).slice(0, 200);
  return value.startsWith("$$") ? value.slice(1) : value;
}

/** The time at which a resource expires, as an ISO 8601 text; `undefined` if it never does. */
export function expiryOf(
  info: Pick<CollectionDetails, "expires"> | undefined,
  resource: Attributes,
): string | undefined {
  if (info?.expires === undefined) return undefined;
  const value = info.expires
    .split(".")
    .reduce<unknown>(
      (inner, name) => (inner as Record<string, unknown> | null | undefined)?.[name],
      resource,
    );
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
