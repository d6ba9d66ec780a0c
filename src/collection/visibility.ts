/** Which attributes of a collection a caller can see and set, by the rules for single attributes and the caller's roles. */
import { pickFrom, textWithId, withoutId } from "./resource.ts";

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

/** The names of the attributes that a caller cannot both see and set. */
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
  if (visibility === undefined || !mayContain(text, visibility.hidden)) return text;
  const resource = JSON.parse(text) as Record<string, unknown>;
  return textWithId(JSON.stringify(resource.id), withoutId(visiblePart(resource, visibility)));
}

/** A resource without its hidden attributes. */
export function visiblePart(
  resource: Record<string, unknown>,
  { hidden }: AttributeVisibility,
): Record<string, unknown> {
  return pickFrom(resource, (name) => !hidden.has(name));
}

/** A quick check that saves parsing. It can be true by mistake, if a value contains the name. */
function mayContain(text: string, names: ReadonlySet<string>): boolean {
  for (const name of names) if (text.includes(`${JSON.stringify(name)}:`)) return true;
  return false;
}
