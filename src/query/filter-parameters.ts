/** Filters that stand in a query string by themselves: `status=open`, `views:gte=10`, `views_gte=10`. */
import { didYouMean } from "../collection/nearest.ts";
import { shown } from "../collection/shown.ts";
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
import { isOperator, type OperatorName, operatorNames, operators } from "./operators.ts";

/** One parameter with all of its values as a filter; what is wrong goes to the faults. */
export function readFilterParameter(
  parameter: string,
  texts: readonly string[],
  reading: Reading,
): Filter | undefined {
  const place = inQuery(parameter);
  const asked = readName(parameter, place, reading);
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

/** What is wrong with a name that is no operator, and what would be right. */
export function unknownOperator(name: string): string {
  return `${shown(name)} is not an operator.${didYouMean(name, operatorNames) || ` Known are ${operatorNames.join(", ")}`}`;
}

/** An attribute that has a colon in its name is asked for with an operator: the last colon counts. */
function readName(
  parameter: string,
  place: Place,
  { collection, faults }: Reading,
): { name: string; operator: OperatorName } | undefined {
  const colon = parameter.lastIndexOf(":");
  if (colon === -1) return splitSuffix(parameter, collection);
  const operator = parameter.slice(colon + 1);
  if (isOperator(operator)) return { name: parameter.slice(0, colon), operator };
  faults.add(place, "unknownOperator", `has an unknown operator: ${unknownOperator(operator)}`);
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
    const detail = 'may be given once; "filter" combines conditions with "and" and "or"';
    faults.add(place, "repeatedParameter", detail);
    return false;
  }
  if (takes !== "boolean" || texts[0] === "true" || texts[0] === "false") return true;
  faults.add(place, "value", `must be true or false, and is ${shown(texts[0])}`);
  return false;
}

function splitLists(operator: OperatorName, texts: readonly string[]): readonly string[] {
  return operators[operator].takes === "list" ? texts.flatMap((text) => text.split(",")) : texts;
}
