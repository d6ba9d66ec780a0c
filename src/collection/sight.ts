/** What a caller sees of a collection's attributes, and may set: what is declared of single attributes, by who asks. */
import { pickFrom, textWithId, withoutId } from "./resource.ts";

/** What is declared of one attribute. */
export interface AttributeRule {
  name: string;
  /** Clients leave it as it is. */
  readOnly: boolean;
  /** Clients set it, and nobody is told it. */
  writeOnly: boolean;
  /** For whoever has none of these roles it is not there; `undefined`: it is there for everybody. */
  roles: readonly string[] | undefined;
}

/** The attributes that a caller has not the whole use of, by name. */
export interface Sight {
  readOnly: ReadonlySet<string>;
  /** As if they were not there. */
  concealed: ReadonlySet<string>;
  /** Those, and what can be set and not be read: in no answer, and nothing to ask for. */
  hidden: ReadonlySet<string>;
}

/** What somebody with these roles sees; `undefined`: everything, and all of it can be set. */
export function sightOf(rules: readonly AttributeRule[], roles: readonly string[]): Sight | undefined {
  const concealed = rules.filter((rule) => rule.roles?.some((role) => roles.includes(role)) === false);
  const hidden = rules.filter((rule) => rule.writeOnly || concealed.includes(rule));
  const readOnly = rules.filter((rule) => rule.readOnly);
  if (hidden.length === 0 && readOnly.length === 0) return undefined;
  return { readOnly: namesOf(readOnly), concealed: namesOf(concealed), hidden: namesOf(hidden) };
}

function namesOf(rules: readonly AttributeRule[]): Set<string> {
  return new Set(rules.map(({ name }) => name));
}

/** The sight of somebody who may write and not read: whether a read-only attribute is there, and its value, is hidden too. */
export function blindSight(sight: Sight | undefined): Sight | undefined {
  if (sight === undefined) return undefined;
  return { ...sight, hidden: new Set([...sight.hidden, ...sight.readOnly]) };
}

/** Whether there are attributes that the caller is not told. */
export function hidesAny(sight: Sight | undefined): sight is Sight {
  return sight !== undefined && sight.hidden.size > 0;
}

/** A resource's JSON text as far as it may be told. */
export function toldText(text: string, sight: Sight | undefined): string {
  if (sight === undefined || !mayHold(text, sight.hidden)) return text;
  const resource = JSON.parse(text) as Record<string, unknown>;
  return textWithId(JSON.stringify(resource.id), withoutId(toldOf(resource, sight)));
}

/** A resource as far as it may be told. */
export function toldOf(resource: Record<string, unknown>, { hidden }: Sight): Record<string, unknown> {
  return pickFrom(resource, (name) => !hidden.has(name));
}

/** Looking for a name is quicker than reading the text; it may be found in a value too. */
function mayHold(text: string, names: ReadonlySet<string>): boolean {
  for (const name of names) if (text.includes(`${JSON.stringify(name)}:`)) return true;
  return false;
}
