/**
 * Which attributes of a collection a caller can see and set: the rules, the visible part of a resource, and the violations
 * of a write. If a caller does not send an attribute that they cannot see or set, it keeps its value.
 */
import { isDeepStrictEqual } from "node:util";
import type { Violation } from "../errors.ts";
import {
  type Attributes,
  attributeViolation,
  isAbout,
  pickFields,
  pickMembers,
  textWithId,
  withoutId,
} from "./resource.ts";

/** The rule for one attribute. */
export interface AttributeRule {
  name: string;
  /** Clients cannot change it. */
  readOnly: boolean;
  /** Clients can set it, and no response contains it. */
  writeOnly: boolean;
  /** The attribute exists only for callers with one of these roles; `undefined`: for all callers. */
  roles: readonly string[] | undefined;
}

/** The attributes that a caller cannot see or cannot set, by name. */
export interface AttributeVisibility {
  readOnly: ReadonlySet<string>;
  /** Restricted to roles that the caller lacks: for the caller, these attributes do not exist. */
  restricted: ReadonlySet<string>;
  /** The restricted and the write-only attributes: no response contains them, and no request can read them. */
  hidden: ReadonlySet<string>;
}

/** The visibility for a caller with these roles; `undefined`: the caller can see and set every attribute. */
export function visibilityOf(
  rules: readonly AttributeRule[],
  roles: readonly string[],
): AttributeVisibility | undefined {
  const restricted = rules.filter((rule) => rule.roles?.some((role) => roles.includes(role)) === false);
  const hidden = rules.filter((rule) => rule.writeOnly || restricted.includes(rule));
  const readOnly = rules.filter((rule) => rule.readOnly);
  if (hidden.length === 0 && readOnly.length === 0) return undefined;
  return { readOnly: namesOf(readOnly), restricted: namesOf(restricted), hidden: namesOf(hidden) };
}

function namesOf(rules: readonly AttributeRule[]): Set<string> {
  return new Set(rules.map(({ name }) => name));
}

/** The visibility for a caller who can write but not read: the values of read-only attributes are hidden too. */
export function visibilityWithoutRead(
  visibility: AttributeVisibility | undefined,
): AttributeVisibility | undefined {
  if (visibility === undefined) return undefined;
  return { ...visibility, hidden: new Set([...visibility.hidden, ...visibility.readOnly]) };
}

/** Whether any attribute is hidden. */
export function hidesAny(visibility: AttributeVisibility | undefined): visibility is AttributeVisibility {
  return visibility !== undefined && visibility.hidden.size > 0;
}

/** The JSON text of a resource without its hidden attributes. */
export function visibleText(text: string, visibility: AttributeVisibility | undefined): string {
  return visibility === undefined ? text : textWithout(text, visibility.hidden);
}

function textWithout(text: string, names: ReadonlySet<string>): string {
  if (!mayContain(text, names)) return text;
  const resource = JSON.parse(text) as Record<string, unknown>;
  const part = pickMembers(resource, (name) => !names.has(name));
  return textWithId(JSON.stringify(resource.id), withoutId(part));
}

/** The attributes of a response: only these, with `id`, or all but these. */
export interface Fields {
  kind: "only" | "without";
  names: ReadonlySet<string>;
}

/** The JSON text of a resource with the attributes that a request asks for and that the caller can see. */
export function partOf(
  text: string,
  fields: Fields | undefined,
  visibility: AttributeVisibility | undefined,
): string {
  if (fields === undefined) return visibleText(text, visibility);
  const hidden = visibility?.hidden ?? nothing;
  const { kind, names } = fields;
  if (kind === "without")
    return textWithout(text, hidden.size === 0 ? names : new Set([...names, ...hidden]));
  const seen = hidden.size === 0 ? names : new Set([...names].filter((name) => !hidden.has(name)));
  return pickFields(text, seen);
}

const nothing: ReadonlySet<string> = new Set();

/** A resource without its hidden attributes. */
export function visiblePart(
  resource: Record<string, unknown>,
  { hidden }: AttributeVisibility,
): Record<string, unknown> {
  return pickMembers(resource, (name) => !hidden.has(name));
}

/** A quick check that saves parsing. It can be true in error, if a value contains the name. */
function mayContain(text: string, names: ReadonlySet<string>): boolean {
  for (const name of names) if (text.includes(`${JSON.stringify(name)}:`)) return true;
  return false;
}

/**
 * Violations for the attributes in `next` that the caller cannot set. `current` are the attributes before the write; for a
 * new resource, its defaults.
 */
export function assignmentViolations(
  next: Attributes,
  current: Attributes,
  visibility: AttributeVisibility,
): Violation[] {
  const { restricted, readOnly, hidden } = visibility;
  const unknown = [...restricted].filter((name) => Object.hasOwn(next, name));
  const fixed = [...readOnly].filter(
    (name) =>
      !restricted.has(name) && Object.hasOwn(next, name) && !isUnchanged(name, { next, current, visibility }),
  );
  return [
    ...unknown.map((name) => attributeViolation(name, "unknownAttribute", isUnknown)),
    ...fixed.map((name) => attributeViolation(name, "readOnly", readOnlyDetail(hidden.has(name)))),
  ];
}

function readOnlyDetail(isHidden: boolean): string {
  return isHidden ? "is read-only: leave it out" : "is read-only: leave it out, or send its current value";
}

/** A hidden value always counts as changed, so that a caller cannot guess it. */
function isUnchanged(
  name: string,
  { next, current, visibility }: { next: Attributes; current: Attributes; visibility: AttributeVisibility },
): boolean {
  return (
    !visibility.hidden.has(name) &&
    Object.hasOwn(current, name) &&
    isDeepStrictEqual(next[name], current[name])
  );
}

/** Violations for attributes that `next` removes although the caller can see them and cannot set them. */
export function removalViolations(
  next: Attributes,
  current: Attributes,
  { readOnly, hidden }: AttributeVisibility,
): Violation[] {
  return [...readOnly]
    .filter((name) => !hidden.has(name) && Object.hasOwn(current, name) && !Object.hasOwn(next, name))
    .map(readOnlyRemoval);
}

/** Like `removalViolations`, for a caller who cannot read. `removed` are the attributes that a patch removes. */
export function removalViolationsWithoutRead(
  removed: readonly string[],
  { readOnly, restricted }: AttributeVisibility,
): Violation[] {
  return removed.filter((name) => readOnly.has(name) && !restricted.has(name)).map(readOnlyRemoval);
}

function readOnlyRemoval(name: string): Violation {
  return attributeViolation(name, "readOnly", "is read-only and cannot be removed");
}

/** `next`, and the attributes of `current` that it lacks and that `isKept` selects, in the order of `current`. */
export function withKept(
  next: Attributes,
  current: Attributes,
  isKept: (name: string) => boolean,
): Attributes {
  const names = new Set([...Object.keys(current), ...Object.keys(next)]);
  const all = [...names].flatMap((name): [string, unknown][] => {
    if (Object.hasOwn(next, name)) return [[name, next[name]]];
    return isKept(name) ? [[name, current[name]]] : [];
  });
  return Object.fromEntries(all);
}

/**
 * The violations without those that would reveal the name or the value of a hidden attribute. `sent` are the attributes that
 * the caller has sent. A caller who creates a resource can see the violations of its write-only attributes.
 */
export function visibleViolations(
  violations: readonly Violation[],
  { restricted, hidden }: AttributeVisibility,
  { sent, isNew }: { sent: Attributes; isNew: boolean },
): readonly Violation[] {
  const namesRestricted = ({ detail }: Violation) =>
    [...restricted].some((name) => detail.includes(JSON.stringify(name)));
  const isSecret = (each: Violation) =>
    [...(isNew ? restricted : hidden)].some((name) => isAbout(each, name) && !Object.hasOwn(sent, name)) ||
    namesRestricted(each);
  if (!violations.some(isSecret)) return violations;
  // An unknown name that is similar to a restricted one gets the same detail as any other.
  const plain = violations.map((each) =>
    each.code === "unknownAttribute" && namesRestricted(each) ? { ...each, detail: isUnknown } : each,
  );
  const visible = plain.filter((each) => !isSecret(each));
  return visible.length === plain.length ? visible : [...visible, hiddenConflict];
}

const isUnknown = "is not an attribute of the schema";

/** Something that the caller cannot see conflicts with the write. */
export const hiddenConflict: Violation = {
  in: "body",
  pointer: "#",
  code: "hidden",
  detail: "conflicts with attributes that you cannot see",
};
