/** Reads filters in JSON: `{"status": "open", "or": [{"views": {"gte": 10}}, {"author.name": ["Ada", "Bob"]}]}`. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { toSentence } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { countCondition, countGroup, splitSuffix, toCondition, valuesOf } from "./conditions.ts";
import { allOf, anyOf, type Filter, matchNone, type Scalar } from "./filter.ts";
import { unknownOperator } from "./foreign-operators.ts";
import { whyImpossible } from "./impossible.ts";
import { isOperator, type OperatorName, operators } from "./operators.ts";
import { filterLimits, type Reading, readAttribute, visibleAttributeInfo } from "./reading.ts";
import { inside, type Location } from "./violations.ts";

/** Reads a filter. Adds violations. */
export function readFilter(value: unknown, location: Location, reading: Reading): Filter {
  return readGroup(value, location, { reading, depth: 1 });
}

/** The context of a group. */
interface GroupContext {
  reading: Reading;
  depth: number;
}

function readGroup(value: unknown, location: Location, group: GroupContext): Filter {
  const { violations } = group.reading;
  if (!isObject(value)) {
    violations.add(
      location,
      "filter",
      `must be a JSON object such as {"status":"open"}, not ${shortJson(value)}`,
    );
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

function readMember(name: string, value: unknown, group: GroupContext & { location: Location }): Filter {
  const { location, reading } = group;
  const deeper = { reading, depth: group.depth + 1 };
  switch (name) {
    case "and":
    case "or": {
      if (!Array.isArray(value)) {
        const detail = `must be an array of filters, not ${shortJson(value)}`;
        reading.violations.add(location, "filter", detail);
        return matchNone;
      }
      if (!countGroup(location, reading)) return matchNone;
      const filters = value.map((each, n) => readGroup(each, inside(location, n), deeper));
      return name === "and" ? allOf(filters) : anyOf(filters);
    }
    case "not":
      if (!countGroup(location, reading)) return matchNone;
      return { kind: "not", filter: readGroup(value, location, deeper) };
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
      return readAttributeMember(name, value, location, reading);
  }
}

/** Whether a member such as `$or` or `OR` contains filters. If it were an attribute, it would contain values. */
function isForeignGroup(name: string, value: unknown): boolean {
  if (!/^(?:\$(?:and|or|not)|AND|OR|NOT)$/.test(name)) return false;
  return Array.isArray(value) ? isObject(value[0]) : isObject(value) && !Object.keys(value).some(isOperator);
}

function readAttributeMember(name: string, value: unknown, location: Location, reading: Reading): Filter {
  if (!isObject(value)) {
    const split = splitSuffix(name, reading.collection);
    const operator = Array.isArray(value)
      ? (listOperators[split.operator] ?? split.operator)
      : split.operator;
    return readCondition(operator, value, { name: split.name, location, reading });
  }
  const operations = Object.entries(value);
  if (operations.length === 0) {
    reading.violations.add(location, "filter", 'must contain an operator, such as {"gte":10}, but is {}');
    return matchNone;
  }
  return allOf(
    operations.map(([operator, operand]) => readOperation(operator, operand, { name, location, reading })),
  );
}

/** The operators for an array instead of one value. */
const listOperators: Partial<Record<OperatorName, OperatorName>> = { eq: "in", ne: "nin" };

/** The attribute of a condition, and the location of the condition. */
interface ConditionContext {
  name: string;
  location: Location;
  reading: Reading;
}

function readOperation(operator: string, operand: unknown, condition: ConditionContext): Filter {
  const location = inside(condition.location, operator);
  if (isOperator(operator)) return readCondition(operator, operand, { ...condition, location });
  condition.reading.violations.add(location, "unknownOperator", () => {
    const why = unknownOperator(operator, { in: "body", name: condition.name, value: operand });
    const nested = `To name a nested attribute, use a dot: ${shortJson(`${condition.name}.${operator}`)}`;
    return `is not understood: ${toSentence(why)} ${nested}`;
  });
  return matchNone;
}

function readCondition(
  operator: OperatorName,
  operand: unknown,
  { name, location, reading }: ConditionContext,
): Filter {
  const count = Array.isArray(operand) ? operand.length : 1;
  // This check comes first, because the following checks take longer.
  if (!countCondition(count, location, reading)) return matchNone;
  const attribute = readAttribute(name, location, reading);
  const { takes } = operators[operator];
  if (!operands[takes].fits(operand)) {
    reading.violations.add(
      location,
      "value",
      `must be ${operands[takes].expected}, not ${shortJson(operand)}`,
    );
    return matchNone;
  }
  const values: readonly Scalar[] = Array.isArray(operand) ? operand : [operand as Scalar];
  if (attribute === undefined) return matchNone;
  if (takes === "boolean") return toCondition(operator, attribute.path, values);
  for (const written of values) {
    const why = whyImpossible({ operator, attribute, written, values: [written] });
    if (why !== undefined) reading.violations.add(location, "type", why);
  }
  return toCondition(operator, attribute.path, valuesOf(values, operator, attribute));
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
  comparable: {
    expected: "a number or a string",
    fits: (operand) => typeof operand === "number" || typeof operand === "string",
  },
  string: { expected: "a string", fits: (operand) => typeof operand === "string" },
  boolean: { expected: "true or false", fits: (operand) => typeof operand === "boolean" },
};

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** The filter and the search of a request. */
export interface FilterAndSearch {
  filter: unknown;
  q: string | undefined;
}

/**
 * Finds a search inside the filter, as search inputs of react-admin send it: `filter={"q":"text"}`. If an attribute can have
 * the name `q`, this is a condition instead. Adds violations.
 */
export function splitSearch(
  { filter, q }: FilterAndSearch,
  location: Location,
  { collection, violations }: Reading,
): FilterAndSearch {
  if (!isObject(filter) || typeof filter.q !== "string" || mayBeAttribute(collection)) return { filter, q };
  const { q: inFilter, ...rest } = filter;
  if (q === undefined) return { filter: rest, q: inFilter as string };
  violations.add(inside(location, "q"), "repeatedParameter", 'cannot be used together with "q"');
  return { filter: rest, q };
}

function mayBeAttribute(collection: Collection): boolean {
  const { isDeclared, alternatives } = visibleAttributeInfo(collection, ["q"]);
  return isDeclared || (collection.search.length === 0 && alternatives === undefined);
}
