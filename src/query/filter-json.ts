/** Filters that are JSON: `{"status": "open", "or": [{"views": {"gte": 10}}, {"author.name": ["Ada", "Bob"]}]}`. */
import { shortJson } from "../collection/messages.ts";
import { toSentence } from "../errors.ts";
import { isObject } from "../json/values.ts";
import {
  countCondition,
  countGroup,
  filterLimits,
  type Reading,
  readAttribute,
  splitSuffix,
  toCondition,
  valuesOf,
} from "./conditions.ts";
import { inside, type Place } from "./faults.ts";
import type { Filter, Scalar } from "./filter.ts";
import { whyImpossible } from "./impossible.ts";
import { unknownOperator } from "./operator-guesses.ts";
import { isOperator, type OperatorName, operators } from "./operators.ts";

/** The filter that a JSON value is; what is wrong goes to the faults. */
export function readFilter(value: unknown, place: Place, reading: Reading): Filter {
  return readGroup(value, place, { reading, depth: 1 });
}

/** Joins conditions of which all must hold. */
export function allOf(filters: readonly Filter[]): Filter {
  const needed = filters.filter((each) => !isEverything(each));
  const [first, ...others] = needed;
  return first !== undefined && others.length === 0 ? first : { kind: "and", filters: needed };
}

/** Whether a filter is true of every resource by its very shape. */
export function isEverything(filter: Filter): boolean {
  return filter.kind === "and" && filter.filters.length === 0;
}

function anyOf(filters: readonly Filter[]): Filter {
  if (filters.some(isEverything)) return { kind: "and", filters: [] };
  const [first, ...others] = filters;
  return first !== undefined && others.length === 0 ? first : { kind: "or", filters };
}

/** Stands where a fault was found, too: the request will be refused. */
const nothing: Filter = { kind: "or", filters: [] };

interface At {
  reading: Reading;
  depth: number;
}

function readGroup(value: unknown, place: Place, at: At): Filter {
  const { faults } = at.reading;
  if (!isObject(value)) {
    faults.add(place, "filter", `must be a JSON object such as {"status":"open"}, not ${shortJson(value)}`);
    return nothing;
  }
  if (at.depth > filterLimits.depth) {
    faults.add(place, "filterTooDeep", `is nested more than ${filterLimits.depth} levels deep`);
    return nothing;
  }
  return allOf(
    Object.entries(value).map(([name, inner]) =>
      readMember(name, inner, { ...at, place: inside(place, name) }),
    ),
  );
}

function readMember(name: string, value: unknown, at: At & { place: Place }): Filter {
  const { place, reading } = at;
  const deeper = { reading, depth: at.depth + 1 };
  switch (name) {
    case "and":
    case "or": {
      if (!Array.isArray(value)) {
        const detail = `must be an array of filters, not ${shortJson(value)}`;
        reading.faults.add(place, "filter", detail);
        return nothing;
      }
      if (!countGroup(place, reading)) return nothing;
      const filters = value.map((each, n) => readGroup(each, inside(place, n), deeper));
      return name === "and" ? allOf(filters) : anyOf(filters);
    }
    case "not":
      if (!countGroup(place, reading)) return nothing;
      return { kind: "not", filter: readGroup(value, place, deeper) };
    default:
      if (isForeignGroup(name, value)) {
        const own = name.replace("$", "").toLowerCase();
        reading.faults.add(
          place,
          "unknownOperator",
          `is not an operator. Write ${shortJson({ [own]: value })}`,
        );
        return nothing;
      }
      return readAttributeMember(name, value, place, reading);
  }
}

/** Whether a member such as `$or` or `OR` contains filters. An attribute of that name would be compared with values. */
function isForeignGroup(name: string, value: unknown): boolean {
  if (!/^(?:\$(?:and|or|not)|AND|OR|NOT)$/.test(name)) return false;
  return Array.isArray(value) ? isObject(value[0]) : isObject(value) && !Object.keys(value).some(isOperator);
}

function readAttributeMember(name: string, value: unknown, place: Place, reading: Reading): Filter {
  if (!isObject(value)) {
    const asked = splitSuffix(name, reading.collection);
    const operator = Array.isArray(value) ? (lists[asked.operator] ?? asked.operator) : asked.operator;
    return readCondition(operator, value, { name: asked.name, place, reading });
  }
  const operations = Object.entries(value);
  if (operations.length === 0) {
    reading.faults.add(place, "filter", 'must contain an operator, such as {"gte":10}, but is {}');
    return nothing;
  }
  return allOf(
    operations.map(([operator, operand]) => readOperation(operator, operand, { name, place, reading })),
  );
}

/** What an array means where one value would stand. */
const lists: Partial<Record<OperatorName, OperatorName>> = { eq: "in", ne: "nin" };

interface About {
  name: string;
  place: Place;
  reading: Reading;
}

function readOperation(operator: string, operand: unknown, about: About): Filter {
  const place = inside(about.place, operator);
  if (isOperator(operator)) return readCondition(operator, operand, { ...about, place });
  about.reading.faults.add(place, "unknownOperator", () => {
    const why = unknownOperator(operator, { in: "body", name: about.name, value: operand });
    const nested = `To name a nested attribute, use a dot: ${shortJson(`${about.name}.${operator}`)}`;
    return `is not understood: ${toSentence(why)} ${nested}`;
  });
  return nothing;
}

function readCondition(operator: OperatorName, operand: unknown, { name, place, reading }: About): Filter {
  const count = Array.isArray(operand) ? operand.length : 1;
  // Before anything that takes longer.
  if (!countCondition(count, place, reading)) return nothing;
  const attribute = readAttribute(name, place, reading);
  const { takes } = operators[operator];
  if (!operands[takes].fits(operand)) {
    reading.faults.add(place, "value", `must be ${operands[takes].asks}, not ${shortJson(operand)}`);
    return nothing;
  }
  const values: readonly Scalar[] = Array.isArray(operand) ? operand : [operand as Scalar];
  if (attribute === undefined) return nothing;
  if (takes === "boolean") return toCondition(operator, attribute.path, values);
  for (const written of values) {
    const why = whyImpossible({ operator, attribute, written, values: [written] });
    if (why !== undefined) reading.faults.add(place, "type", why);
  }
  return toCondition(operator, attribute.path, valuesOf(values, operator, attribute));
}

const operands: Record<
  (typeof operators)[OperatorName]["takes"],
  { asks: string; fits: (operand: unknown) => boolean }
> = {
  scalar: { asks: "a string, a number, true, false or null", fits: isScalar },
  list: {
    asks: "an array of strings, numbers, true, false and null",
    fits: (operand) => Array.isArray(operand) && operand.every(isScalar),
  },
  comparable: {
    asks: "a number or a string",
    fits: (operand) => typeof operand === "number" || typeof operand === "string",
  },
  string: { asks: "a string", fits: (operand) => typeof operand === "string" },
  boolean: { asks: "true or false", fits: (operand) => typeof operand === "boolean" },
};

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}
