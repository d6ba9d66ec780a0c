/**
 * Creates the conditions of a filter for `filter-parameters.ts` and `filter-json.ts`, which read the two syntaxes. Converts
 * values to the types that the attribute can have, and counts conditions against the limits of a filter.
 */
import { typeOf } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { fitId, type IdKind } from "../collection/ids.ts";
import type { Path } from "../collection/paths.ts";
import {
  type ComparedDates,
  dateCondition,
  isComparing,
  readDateOperand,
  relativeInstant,
  splitTimes,
  whyNoDate,
  whyNotNow,
} from "./date-operands.ts";
import {
  allOf,
  anyOf,
  type Condition,
  type Filter,
  matchNone,
  type RequestedFilter,
  type Scalar,
} from "./filter.ts";
import { legacySuffixes, type OperatorName, operators } from "./operators.ts";
import {
  type Attribute,
  type FilterSize,
  filterLimits,
  type Reading,
  readPath,
  visibleAttributeInfo,
} from "./reading.ts";
import type { Location } from "./violations.ts";

/** Splits a name such as `views_gte`. If the schema lists an attribute with the whole name, the operator is `eq`. */
export function splitSuffix(name: string, collection: Collection): { name: string; operator: OperatorName } {
  const suffix = (Object.keys(legacySuffixes) as (keyof typeof legacySuffixes)[]).find(
    (each) => name.endsWith(each) && name.length > each.length,
  );
  const path = suffix === undefined ? undefined : readPath(name);
  if (suffix === undefined || path === undefined || visibleAttributeInfo(collection, path).isDeclared)
    return { name, operator: "eq" };
  return { name: name.slice(0, -suffix.length), operator: legacySuffixes[suffix] };
}

/** The values that a text in a query string can mean, such as "1" and 1. Omits values that the attribute cannot have. */
export function candidatesOf(text: string, operator: OperatorName, attribute: Attribute): Scalar[] {
  const { kind } = operators[operator];
  if (kind === "startsWith" || kind === "endsWith") return [text];
  if (attribute.idKind !== undefined) return idsOf([text], operator, attribute.idKind);
  const all: Scalar[] = [text, ...numberOf(text, kind === "in" || kind === "contains")];
  if (Object.hasOwn(literals, text)) all.push(literals[text as keyof typeof literals]);
  const { types } = attribute;
  if (types === undefined || (kind === "contains" && types.has("array"))) return all;
  return all.filter((each) => types.has(typeOf(each)));
}

/** The values of a JSON filter as the stores compare them. Ids get the type that they have in the collection. */
export function valuesOf(values: readonly Scalar[], operator: OperatorName, attribute: Attribute): Scalar[] {
  if (attribute.idKind !== undefined) return idsOf(values, operator, attribute.idKind);
  return values.map((value) => (value === 0 ? 0 : value)); // -0 is 0
}

/** A condition. Without values, it matches nothing, or everything if the operator negates. */
export function toCondition(
  operator: OperatorName,
  attribute: Attribute,
  values: readonly Scalar[],
): RequestedFilter {
  const { kind } = operators[operator];
  // Related resources match if one of them does. The negation is about all of them, also about an absent attribute.
  const isAbsence = attribute.through !== undefined && kind === "exists" && values[0] === false;
  const filter = conditionOf(kind, attribute, isAbsence ? [true] : [...new Set(values)]);
  return negate(requested(operator, attribute, filter), isAbsence);
}

/**
 * The condition that compares a date with values as the client wrote them. `isText`: they come from a query string. Adds a
 * violation for each that is no date.
 */
export function toDateCondition(
  operator: OperatorName,
  { attribute, compared }: { attribute: Attribute; compared: ComparedDates },
  { written, isText }: { written: readonly Scalar[]; isText: boolean },
  { location, violations, used, refusesNow }: Reading & { location: Location },
): RequestedFilter {
  // All conditions of a request compare with the same time.
  const now = () => {
    used.now ??= Date.now();
    return used.now;
  };
  let isRelative = false;
  const operands = written.flatMap((each) => {
    const relative = relativeInstant(each, now);
    if (relative !== undefined && refusesNow === true) violations.add(location, "date", whyNotNow(each));
    isRelative ||= relative !== undefined;
    const operand = relative ?? readDateOperand(each, compared, isText);
    if (operand === undefined) violations.add(location, "date", whyNoDate(each));
    return operand === undefined ? [] : [operand];
  });
  return requested(
    operator,
    attribute,
    dateCondition(compared.kind, attribute.path, operands, isRelative ? JSON.stringify(written) : undefined),
  );
}

/** What an operator requires, from the condition for the attribute alone. */
function requested(
  operator: OperatorName,
  { through, isRelation }: Attribute,
  inner: Filter,
): RequestedFilter {
  const { negated } = operators[operator];
  if (through === undefined) return negate(inner, negated);
  const filter = isRelation === true ? allOf<Condition>([]) : inner;
  return negate({ kind: "requestedRelated", relation: through, filter }, negated);
}

function negate(filter: RequestedFilter, isNegated: boolean): RequestedFilter {
  return isNegated ? { kind: "not", filter } : filter;
}

/** Why an operator cannot be used with a relation; `undefined` if it can, or if the name is an attribute. */
export function whyNotWithRelation(
  operator: OperatorName,
  name: string,
  { isRelation }: Attribute,
): string | undefined {
  if (isRelation !== true || operator === "exists") return undefined;
  return `is a relation. Name an attribute of the related resources, such as "${name}.id", or write "${name}:exists"`;
}

/** Counts a condition. If the filter is too large, returns false and adds one violation. */
export function countCondition(values: number, location: Location, reading: Reading): boolean {
  return count({ conditions: 1, groups: 0, values }, location, reading);
}

/** Like `countCondition`, for an `and`, `or` or `not`. Does not count its conditions. */
export function countGroup(location: Location, reading: Reading): boolean {
  return count({ conditions: 0, groups: 1, values: 0 }, location, reading);
}

function count(more: FilterSize, location: Location, { violations, used }: Reading): boolean {
  const before = isWithin(used);
  used.conditions += more.conditions;
  used.groups += more.groups;
  used.values += more.values;
  if (before && !isWithin(used)) violations.add(location, "filterTooLarge", tooLarge());
  return isWithin(used);
}

function tooLarge(): string {
  const { conditions, groups, values } = filterLimits;
  return `exceeds the limits of a filter: ${conditions} conditions, ${groups} groups (and, or, not), and ${values.toLocaleString("en")} values in total`;
}

function isWithin(used: Reading["used"]): boolean {
  const { conditions, groups, values } = filterLimits;
  return used.conditions <= conditions && used.groups <= groups && used.values <= values;
}

function conditionOf(kind: Condition["kind"], attribute: Attribute, values: readonly Scalar[]): Filter {
  if (!isComparing(kind) || attribute.idKind !== undefined || attribute.types !== undefined)
    return plainCondition(kind, attribute.path, values);
  const { keys, others } = splitTimes(values);
  const plain = plainCondition(kind, attribute.path, others);
  return keys.length === 0
    ? plain
    : anyOf([
        { kind, path: attribute.path, values: keys, as: "time" },
        ...(others.length === 0 ? [] : [plain]),
      ]);
}

function plainCondition(kind: Condition["kind"], path: Path, values: readonly Scalar[]): Filter {
  const strings = values.filter((each) => typeof each === "string");
  switch (kind) {
    case "exists":
      return { kind, path, value: values[0] === true };
    case "in":
    case "contains":
      return values.length === 0 ? matchNone : { kind, path, values };
    case "startsWith":
    case "endsWith":
      return strings.length === 0 ? matchNone : { kind, path, values: strings };
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const comparable = values.filter((each) => typeof each === "string" || typeof each === "number");
      return comparable.length === 0 ? matchNone : { kind, path, values: comparable };
    }
  }
}

const literals = { true: true, false: false, null: null } as const;

const numberShape = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The number in a text. With `exact`, omits an integer that a resource cannot contain. */
function numberOf(text: string, exact: boolean): number[] {
  if (!numberShape.test(text)) return [];
  const number = Number(text);
  const isRounded = /^-?[0-9]+$/.test(text) && !Number.isSafeInteger(number);
  if (!Number.isFinite(number) || (exact && isRounded)) return [];
  return [number === 0 ? 0 : number]; // -0 is 0
}

/** Ids with the type that they have in resources: numbers if ids are integers, and strings otherwise. */
function idsOf(values: readonly Scalar[], operator: OperatorName, kind: IdKind): Scalar[] {
  const isEquality = operators[operator].kind === "in";
  return values.flatMap((value): Scalar[] => {
    if (typeof value !== "string" && typeof value !== "number") return [];
    if (kind === "integer" && !isEquality)
      return typeof value === "number" ? [value] : numberOf(value, false);
    const id = isEquality ? fitId(kind, value) : String(value);
    if (id === undefined) return [];
    return [kind === "integer" ? Number(id) : id];
  });
}
