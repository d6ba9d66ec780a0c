import { shortJson } from "../collection/messages.ts";
import { toSentence } from "../errors.ts";
import { isObject } from "../json/values.ts";
import {
  countCondition,
  countGroup,
  splitSuffix,
  toCondition,
  toDateCondition,
  valuesOf,
  whyNotWithRelation,
} from "./conditions.ts";
import { datesFor } from "./date-operands.ts";
import {
  allOf,
  anyOf,
  type Filter,
  matchNone,
  ownFilter,
  type RequestedFilter,
  type Scalar,
} from "./filter.ts";
import { unknownOperator } from "./foreign-syntax.ts";
import { checkComparison } from "./impossible.ts";
import { isOperator, type OperatorName, operators } from "./operators.ts";
import { filterLimits, type Reading, readFilterAttribute } from "./reading.ts";
import { inside, type Location } from "./violations.ts";

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

function readAttributeMember(
  name: string,
  value: unknown,
  location: Location,
  reading: Reading,
): RequestedFilter {
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

function readOperation(operator: string, operand: unknown, condition: ConditionContext): RequestedFilter {
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
): RequestedFilter {
  const count = Array.isArray(operand) ? operand.length : 1;
  // This check comes first, because the following checks take longer.
  if (!countCondition(count, location, reading)) return matchNone;
  const attribute = readFilterAttribute(name, location, reading);
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
  const whyNot = whyNotWithRelation(operator, name, attribute);
  if (whyNot !== undefined) {
    reading.violations.add(location, "relation", whyNot);
    return matchNone;
  }
  if (takes === "boolean") return toCondition(operator, attribute, values);
  const compared = datesFor(operator, attribute);
  if (compared !== undefined)
    return toDateCondition(
      operator,
      { attribute, compared },
      { written: values, isText: false },
      { ...reading, location },
    );
  for (const written of values)
    checkComparison({ operator, attribute, written, values: [written] }, location, reading);
  return toCondition(operator, attribute, valuesOf(values, operator, attribute));
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
