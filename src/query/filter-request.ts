/**
 * Reads the filter of a request: parameters of a query string such as `views:gte=10`, and JSON. Converts values to the types
 * that the attribute can have, and counts conditions against the limits of a filter.
 */

import { typeOf } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { fitId, type IdKind } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import type { Path } from "../collection/paths.ts";
import { Problem, toSentence } from "../errors.ts";
import { wholeBody } from "../json/explain.ts";
import { parseJson } from "../json/parse.ts";
import { defaultJsonLimits, isObject } from "../json/values.ts";
import { comparedTypes, isOrdering } from "./compared-attributes.ts";
import {
  type Condition,
  type ConditionKind,
  conditionTable,
  isComparing,
  type Scalar,
} from "./conditions.ts";
import { declaredCondition, declaredFor, operandKeyOf, splitTimes } from "./declared-operands.ts";
import {
  allOf,
  anyOf,
  type ComparingOperator,
  type Filter,
  matchNone,
  negationOf,
  opposites,
  ownFilter,
  type RequestedFilter,
} from "./filter.ts";
import { unknownOperator } from "./foreign-syntax.ts";
import { checkComparison, checkListed } from "./impossible.ts";
import { isOperator, legacySuffixes, type OperatorName, operators, takesSeveral } from "./operators.ts";
import {
  type Attribute,
  filterLimits,
  maxRelations,
  type Reading,
  readFilterAttribute,
  readPath,
  readSingleAttribute,
  visibleAttributeInfo,
} from "./reading.ts";
import { inQuery, inside, type Location, type Violations } from "./violations.ts";

/** Reads one parameter with all its values. Adds violations at `location`. @default the parameter */
export function readFilterParameter(
  parameter: string,
  texts: readonly string[],
  reading: Reading,
  location = inQuery(parameter),
): RequestedFilter {
  const split = splitName(parameter, texts, { ...reading, location });
  if (split === undefined) return matchNone;
  const { operator, name } = split;
  const values = takesSeveral(operator) ? texts.flatMap((text) => text.split(",")) : texts;
  // This check comes first, because the following checks take longer.
  if (!count({ conditions: 1, values: values.length }, location, reading)) return matchNone;
  const attribute = readFilterAttribute(name, location, reading);
  if (attribute === undefined || !hasValidTexts(operator, texts, location, reading)) return matchNone;
  if (operator === "any")
    return toListCondition(attribute, readFilterText(texts[0], location, reading.violations), {
      name,
      reading,
      location,
      depth: 1,
    });
  return toCondition({ operator, name, attribute }, values, true, { ...reading, location });
}

/** Parses a filter in a parameter. Adds violations. */
export function readFilterText(
  text: string | undefined,
  location: Location,
  violations: Violations,
): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(Buffer.from(text), defaultJsonLimits);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    violations.add(
      location,
      "filter",
      `must be a JSON object such as {"status":"open"}. ${error.message.replace(wholeBody, "It")}`,
    );
    return undefined;
  }
}

/** The condition that an array has an object that matches a filter. Adds violations. */
function toListCondition(
  attribute: Attribute,
  filter: unknown,
  { name, reading, location, depth }: ConditionContext,
): RequestedFilter {
  checkComparison({ operator: "any", attribute, written: "", values: [] }, location, reading);
  const { at } = attribute;
  if (at === undefined) refuseRelation(name, location, reading);
  if (attribute.itemTypes?.has("object") === false)
    reading.violations.add(
      location,
      "type",
      'is an array without objects, so "any" never matches: use "contains" to look for an item',
    );
  else if (at !== undefined && filter !== undefined) {
    const { viewOf: _, ...rest } = reading;
    const known = [...(reading.inList?.known ?? []), at.path.length];
    const inList = { path: at.path, known };
    const inner = { ...rest, collection: at.collection, inList };
    const items = readGroup(filter, location, { reading: inner, depth: depth + 1 });
    return requested("any", attribute, { kind: "any", path: attribute.path, filter: ownFilter(items) });
  }
  return matchNone;
}

/** Splits a name at the last colon. A name with a colon always needs an operator. */
function splitName(
  parameter: string,
  texts: readonly string[],
  { collection, violations, location }: Reading & { location: Location },
): { name: string; operator: OperatorName } | undefined {
  const colon = parameter.lastIndexOf(":");
  if (colon === -1) return splitSuffix(parameter, collection);
  const operator = parameter.slice(colon + 1);
  const name = parameter.slice(0, colon);
  if (isOperator(operator)) return { name, operator };
  violations.add(location, "unknownOperator", () => {
    const written = { in: "query", name, texts } as const;
    return `is not understood: ${unknownOperator(operator, written)}`;
  });
  return undefined;
}

/** Splits a name such as `views_gte`. If the schema lists an attribute with the whole name, the operator is `eq`. */
function splitSuffix(name: string, collection: Collection): { name: string; operator: OperatorName } {
  const suffix = (Object.keys(legacySuffixes) as (keyof typeof legacySuffixes)[]).find(
    (each) => name.endsWith(each) && name.length > each.length,
  );
  const path = suffix === undefined ? undefined : readPath(name);
  if (suffix === undefined || path === undefined || visibleAttributeInfo(collection, path).isDeclared)
    return { name, operator: "eq" };
  return { name: name.slice(0, -suffix.length), operator: legacySuffixes[suffix] };
}

function hasValidTexts(
  operator: OperatorName,
  texts: readonly string[],
  location: Location,
  { violations }: Reading,
): boolean {
  const { collects, takes } = operators[operator];
  if (!collects && texts.length > 1) {
    const detail = 'must be given only once. To combine conditions, use "filter" with "and" or "or"';
    violations.add(location, "repeatedParameter", detail);
    return false;
  }
  if (takes !== "boolean" || texts[0] === "true" || texts[0] === "false") return true;
  violations.mustBe(location, "value", "true or false", texts[0]);
  return false;
}

/** Reads a filter. Adds violations. */
export function readFilter(value: unknown, location: Location, reading: Reading): RequestedFilter {
  return readGroup(value, location, { reading, depth: 1 });
}

/** Like `readFilter`, for a filter by the attributes of the resource itself. Refuses relations that `viewOf` shows. */
export function readOwnFilter(value: unknown, location: Location, reading: Reading): Filter {
  return ownFilter(readFilter(value, location, { ...reading, refusesRelations: true }));
}

/** The context of a group. */
interface GroupContext {
  reading: Reading;
  depth: number;
}

function readGroup(value: unknown, location: Location, group: GroupContext): RequestedFilter {
  const { violations } = group.reading;
  if (!isObject(value)) {
    violations.mustBe(location, "filter", 'a JSON object such as {"status":"open"}', value);
    return matchNone;
  }
  if (group.depth > filterLimits.depth) {
    violations.add(location, "filterTooDeep", `is nested more than ${filterLimits.depth} levels deep`);
    return matchNone;
  }
  return allOf(
    Object.entries(value).map(([name, inner]) =>
      readMember(name, inner, { ...group, location: inside(location, name) }),
    ),
  );
}

function readMember(
  name: string,
  value: unknown,
  group: GroupContext & { location: Location },
): RequestedFilter {
  const { location, reading } = group;
  const deeper = { reading, depth: group.depth + 1 };
  switch (name) {
    case "and":
    case "or": {
      if (!Array.isArray(value)) {
        reading.violations.mustBe(location, "filter", "an array of filters", value);
        return matchNone;
      }
      if (!count({ groups: 1 }, location, reading)) return matchNone;
      const filters = value.map((each, n) => readGroup(each, inside(location, n), deeper));
      return name === "and" ? allOf(filters) : anyOf(filters);
    }
    case "not":
      if (!count({ groups: 1 }, location, reading)) return matchNone;
      return negationOf(readGroup(value, location, deeper));
    default:
      if (isForeignGroup(name, value)) {
        const own = name.replace("$", "").toLowerCase();
        reading.violations.add(
          location,
          "unknownOperator",
          `is not an operator. Write ${shortJson({ [own]: value })}`,
        );
        return matchNone;
      }
      return readAttributeMember(name, value, group);
  }
}

/** Whether a member such as `$or` or `OR` contains filters. If it were an attribute, it would contain values. */
function isForeignGroup(name: string, value: unknown): boolean {
  if (!/^(?:\$(?:and|or|not)|AND|OR|NOT)$/.test(name)) return false;
  return Array.isArray(value) ? isObject(value[0]) : isObject(value) && !Object.keys(value).some(isOperator);
}

function readAttributeMember(
  name: string,
  value: unknown,
  group: GroupContext & { location: Location },
): RequestedFilter {
  const { location, reading } = group;
  if (!isObject(value)) {
    const split = splitSuffix(name, reading.collection);
    const operator = Array.isArray(value)
      ? (listOperators[split.operator] ?? split.operator)
      : split.operator;
    return readCondition(operator, value, { ...group, name: split.name });
  }
  const operations = Object.entries(value);
  if (operations.length === 0) {
    reading.violations.add(location, "filter", 'must contain an operator, such as {"gte":10}, but is {}');
    return matchNone;
  }
  return allOf(operations.map(([operator, operand]) => readOperation(operator, operand, { ...group, name })));
}

/** The operators for an array instead of one value. */
const listOperators: Partial<Record<OperatorName, OperatorName>> = { eq: "in", ne: "nin" };

/** The attribute of a condition, and the location of the condition. */
interface ConditionContext extends GroupContext {
  name: string;
  location: Location;
}

function readOperation(operator: string, operand: unknown, condition: ConditionContext): RequestedFilter {
  const location = inside(condition.location, operator);
  if (isOperator(operator)) return readCondition(operator, operand, { ...condition, location });
  condition.reading.violations.add(location, "unknownOperator", () => {
    if (operator === "attribute")
      return `is not an operator. To compare two attributes, write ${shortJson({ [condition.name]: { eq: { attribute: operand } } })}`;
    const why = unknownOperator(operator, { in: "body", name: condition.name, value: operand });
    const nested = `To name a nested attribute, use a dot: ${shortJson(`${condition.name}.${operator}`)}`;
    return `is not understood: ${toSentence(why)} ${nested}`;
  });
  return matchNone;
}

function readCondition(
  operator: OperatorName,
  operand: unknown,
  condition: ConditionContext,
): RequestedFilter {
  const { name, location, reading } = condition;
  const values = Array.isArray(operand) ? operand.length : 1;
  // This check comes first, because the following checks take longer.
  if (!count({ conditions: 1, values }, location, reading)) return matchNone;
  if (isAttributeOperand(operand)) return readComparison(operator, operand.attribute, condition);
  const attribute = readFilterAttribute(name, location, reading);
  const { takes } = operators[operator];
  if (!operands[takes].fits(operand)) {
    reading.violations.mustBe(location, "value", operands[takes].expected, operand);
    return matchNone;
  }
  if (attribute === undefined) return matchNone;
  if (operator === "any") return toListCondition(attribute, operand, condition);
  const written: readonly Scalar[] = Array.isArray(operand) ? operand : [operand as Scalar];
  return toCondition({ operator, name, attribute }, written, false, { ...reading, location });
}

/** An attribute instead of a value, such as `{"attribute":"event.seats"}`. */
interface AttributeOperand {
  attribute: string;
}

function isAttributeOperand(operand: unknown): operand is AttributeOperand {
  return isObject(operand) && typeof operand.attribute === "string" && Object.keys(operand).length === 1;
}

/** Reads a comparison with another attribute. Adds violations. */
function readComparison(
  operator: OperatorName,
  other: string,
  { name, location, reading }: ConditionContext,
): RequestedFilter {
  const { violations } = reading;
  if (!isComparingOperator(operator)) {
    const detail = `cannot compare with an attribute. Only ${Object.keys(opposites).join(", ")} can`;
    violations.add(location, "value", detail);
    return matchNone;
  }
  if (reading.inList !== undefined) {
    violations.add(location, "value", "cannot compare with an attribute inside of any");
    return matchNone;
  }
  const left = readSingleAttribute(name, location, reading, maxRelations);
  const right = readSingleAttribute(other, inside(location, "attribute"), reading, maxRelations);
  if (left === undefined || right === undefined) return matchNone;
  const compared = comparedTypes(left, right, isOrdering(operator));
  if (typeof compared === "string") {
    violations.add(location, "type", `can never be true: ${compared}`);
    return matchNone;
  }
  const operandOf = ({ path, through }: Attribute) => ({ path, ...(through && { through }) });
  return { kind: "compares", operator, left: operandOf(left), right: operandOf(right), ...compared };
}

function isComparingOperator(operator: OperatorName): operator is ComparingOperator {
  return Object.hasOwn(opposites, operator);
}

const operands: Record<
  (typeof operators)[OperatorName]["takes"],
  { expected: string; fits: (operand: unknown) => boolean }
> = {
  scalar: { expected: "a string, a number, true, false or null", fits: isScalar },
  list: {
    expected: "an array of strings, numbers, true, false and null",
    fits: (operand) => Array.isArray(operand) && operand.every(isScalar),
  },
  texts: {
    expected: "an array of strings",
    fits: (operand) => Array.isArray(operand) && operand.every((each) => typeof each === "string"),
  },
  comparable: {
    expected: "a number or a string",
    fits: (operand) => typeof operand === "number" || typeof operand === "string",
  },
  string: { expected: "a string", fits: (operand) => typeof operand === "string" },
  filter: { expected: 'a JSON object such as {"status":"open"}', fits: isObject },
  boolean: { expected: "true or false", fits: (operand) => typeof operand === "boolean" },
};

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** What a condition compares, and how. */
interface Comparison {
  operator: OperatorName;
  name: string;
  attribute: Attribute;
}

/**
 * The condition that compares an attribute with values as the client wrote them. `isText`: they come from a query string. Adds
 * violations.
 */
function toCondition(
  { operator, name, attribute }: Comparison,
  written: readonly Scalar[],
  isText: boolean,
  reading: Reading & { location: Location },
): RequestedFilter {
  const { location } = reading;
  const { takes } = operators[operator];
  if (attribute.isRelation === true && operator !== "exists") {
    refuseRelation(name, location, reading);
    return matchNone;
  }
  if (takes === "boolean")
    return conditionFor(operator, attribute, isText ? [written[0] === "true"] : written);
  const compared = declaredFor(operator, attribute);
  if (compared !== undefined) {
    for (const each of written)
      checkListed(
        { operator, attribute, written: each },
        { key: operandKeyOf(each, compared, isText), keyOf: compared.type.keyOf },
        location,
        reading,
      );
    const condition = declaredCondition(compared, attribute.path, { written, isText }, reading);
    return requested(operator, attribute, condition);
  }
  const values = written.flatMap((each) => {
    const meant = isText ? candidatesOf(String(each), operator, attribute) : [each];
    checkComparison({ operator, attribute, written: each, values: meant }, location, reading);
    return isText ? meant : valuesOf(each, operator, attribute);
  });
  return conditionFor(operator, attribute, values);
}

/** The values that a text in a query string can mean, such as "1" and 1. Omits values that the attribute cannot have. */
function candidatesOf(text: string, operator: OperatorName, attribute: Attribute): Scalar[] {
  const { kind } = operators[operator];
  if (["string", "texts"].includes(operators[operator].takes)) return [text];
  if (attribute.idKind !== undefined) return idsOf([text], operator, attribute.idKind);
  const all: Scalar[] = [text, ...numberOf(text, kind === "in" || kind === "contains")];
  if (Object.hasOwn(literals, text)) all.push(literals[text as keyof typeof literals]);
  const { types } = attribute;
  if (types === undefined || (kind === "contains" && types.has("array"))) return all;
  return all.filter((each) => types.has(typeOf(each)));
}

/** The value of a JSON filter as the stores compare it. An id gets the type that it has in the collection. */
function valuesOf(value: Scalar, operator: OperatorName, attribute: Attribute): Scalar[] {
  if (attribute.idKind !== undefined) return idsOf([value], operator, attribute.idKind);
  return [value === 0 ? 0 : value]; // -0 is 0
}

/** A condition. Without values, it matches nothing, or everything if the operator negates. */
function conditionFor(
  operator: OperatorName,
  attribute: Attribute,
  values: readonly Scalar[],
): RequestedFilter {
  const { kind } = operators[operator];
  // Related resources match if one of them does. The negation is about all of them, also about an absent attribute.
  const isAbsence = isOneOfMany(attribute) && kind === "exists" && values[0] === false;
  const filter = conditionOf(kind, attribute, isAbsence ? [true] : [...new Set(values)]);
  return negate(requested(operator, attribute, filter), isAbsence);
}

function refuseRelation(name: string, location: Location, { violations }: Reading): void {
  const advice = `Name an attribute of the related resources, such as "${name}.id", or write "${name}:exists"`;
  violations.add(location, "relation", `is a relation. ${advice}`);
}

/** Whether an attribute is one of related resources or of objects in an array. There can be several of them. */
function isOneOfMany({ through, lists = [] }: Attribute): boolean {
  return through !== undefined || lists.length > 0;
}

/** What an operator requires, from the condition for the attribute alone. */
function requested(
  operator: OperatorName,
  { through, lists = [], isRelation }: Attribute,
  condition: Filter,
): RequestedFilter {
  const { negated } = operators[operator];
  const inner = lists.reduceRight<Filter>((filter, path) => ({ kind: "any", path, filter }), condition);
  if (through === undefined) return negate(inner, negated);
  const related = through.reduceRight<RequestedFilter>(
    (filter, relation) => ({ kind: "requestedRelated", relation, filter }),
    isRelation === true ? allOf<Condition>([]) : inner,
  );
  return negate(related, negated);
}

function negate(filter: RequestedFilter, isNegated: boolean): RequestedFilter {
  return isNegated ? { kind: "not", filter } : filter;
}

/** Counts a part of the filter. If the filter is too large, returns false and adds one violation. */
function count(
  { conditions = 0, groups = 0, values = 0 },
  location: Location,
  { violations, used }: Reading,
): boolean {
  const before = isWithin(used);
  used.conditions += conditions;
  used.groups += groups;
  used.values += values;
  if (before && !isWithin(used)) violations.add(location, "filterTooLarge", tooLarge());
  return isWithin(used);
}

function tooLarge(): string {
  const { conditions, groups, values } = filterLimits;
  return `exceeds the limits of a filter: ${conditions} conditions, ${groups} groups (and, or, not), and ${values.toLocaleString("en")} values in total`;
}

function isWithin({ conditions, groups, values }: Reading["used"]): boolean {
  const most = filterLimits;
  return conditions <= most.conditions && groups <= most.groups && values <= most.values;
}

function conditionOf(kind: ConditionKind, attribute: Attribute, values: readonly Scalar[]): Filter {
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

function plainCondition(kind: ConditionKind, path: Path, values: readonly Scalar[]): Filter {
  const { make } = conditionTable[kind];
  if (make === undefined) throw new Error(`A condition of the kind ${kind} has no values.`);
  return make(path, values) ?? matchNone;
}

const literals = { true: true, false: false, null: null } as const;

const numberShape = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The number in a text. With `exact`, omits an integer that a resource cannot contain. */
export function numberOf(text: string, exact: boolean): number[] {
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
