/** Filters that stand in a query string by themselves: `status=open`, `views:gte=10`, `views_gte=10`. */
import { shortJson } from "../collection/messages.ts";
import {
  candidatesOf,
  countCondition,
  type Reading,
  readAttribute,
  splitSuffix,
  toCondition,
} from "./conditions.ts";
import { inQuery, type Place } from "./faults.ts";
import type { Filter, Scalar } from "./filter.ts";
import { whyImpossible } from "./impossible.ts";
import { unknownOperator } from "./operator-guesses.ts";
import { isOperator, type OperatorName, operators } from "./operators.ts";

/** One parameter with all of its values as a filter; what is wrong goes to the faults. */
export function readFilterParameter(
  parameter: string,
  texts: readonly string[],
  reading: Reading,
): Filter | undefined {
  const place = inQuery(parameter);
  const asked = readName(parameter, texts, reading);
  if (asked === undefined) return undefined;
  const values = splitLists(asked.operator, texts);
  // Before anything that takes longer.
  if (!countCondition(values.length, place, reading)) return undefined;
  const { operator, name } = asked;
  const attribute = readAttribute(name, place, reading);
  if (attribute === undefined || !isGivenRightly(operator, texts, place, reading)) return undefined;
  if (operators[operator].takes === "boolean")
    return toCondition(operator, attribute.path, [texts[0] === "true"]);
  const candidates = values.flatMap((text): Scalar[] => {
    const found = candidatesOf(text, operator, attribute);
    const why = whyImpossible({ operator, attribute, written: text, values: found });
    if (why !== undefined) reading.faults.add(place, "type", why);
    return found;
  });
  return toCondition(operator, attribute.path, candidates);
}

/** An attribute that has a colon in its name is asked for with an operator: the last colon counts. */
function readName(
  parameter: string,
  texts: readonly string[],
  { collection, faults }: Reading,
): { name: string; operator: OperatorName } | undefined {
  const colon = parameter.lastIndexOf(":");
  if (colon === -1) return splitSuffix(parameter, collection);
  const operator = parameter.slice(colon + 1);
  const name = parameter.slice(0, colon);
  if (isOperator(operator)) return { name, operator };
  faults.add(inQuery(parameter), "unknownOperator", () => {
    const written = { in: "query", name, texts } as const;
    return `is not understood: ${unknownOperator(operator, written)}`;
  });
  return undefined;
}

function isGivenRightly(
  operator: OperatorName,
  texts: readonly string[],
  place: Place,
  { faults }: Reading,
): boolean {
  const { collects, takes } = operators[operator];
  if (!collects && texts.length > 1) {
    const detail = 'must be given only once. To combine conditions, use "filter" with "and" or "or"';
    faults.add(place, "repeatedParameter", detail);
    return false;
  }
  if (takes !== "boolean" || texts[0] === "true" || texts[0] === "false") return true;
  faults.add(place, "value", `must be true or false, not ${shortJson(texts[0])}`);
  return false;
}

function splitLists(operator: OperatorName, texts: readonly string[]): readonly string[] {
  return operators[operator].takes === "list" ? texts.flatMap((text) => text.split(",")) : texts;
}
