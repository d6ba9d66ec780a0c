/** Reads filters that are parameters of a query string: `status=open`, `views:gte=10`, `views_gte=10`. */
import { shortJson } from "../collection/messages.ts";
import {
  candidatesOf,
  countCondition,
  splitSuffix,
  toCondition,
  toDateCondition,
  whyNotWithRelation,
} from "./conditions.ts";
import { datesFor } from "./date-operands.ts";
import type { RequestedFilter, Scalar } from "./filter.ts";
import { unknownOperator } from "./foreign-syntax.ts";
import { checkComparison } from "./impossible.ts";
import { isOperator, type OperatorName, operators } from "./operators.ts";
import { type Reading, readFilterAttribute } from "./reading.ts";
import { inQuery, type Location } from "./violations.ts";

/** Reads one parameter with all its values. Adds violations. */
export function readFilterParameter(
  parameter: string,
  texts: readonly string[],
  reading: Reading,
): RequestedFilter | undefined {
  const location = inQuery(parameter);
  const split = splitName(parameter, texts, reading);
  if (split === undefined) return undefined;
  const { operator, name } = split;
  const values = splitLists(operator, texts);
  // This check comes first, because the following checks take longer.
  if (!countCondition(values.length, location, reading)) return undefined;
  const attribute = readFilterAttribute(name, location, reading);
  if (attribute === undefined || !hasValidTexts(operator, texts, location, reading)) return undefined;
  const whyNot = whyNotWithRelation(operator, name, attribute);
  if (whyNot !== undefined) {
    reading.violations.add(location, "relation", whyNot);
    return undefined;
  }
  if (operators[operator].takes === "boolean") return toCondition(operator, attribute, [texts[0] === "true"]);
  const compared = datesFor(operator, attribute);
  if (compared !== undefined)
    return toDateCondition(
      operator,
      { attribute, compared },
      { written: values, isText: true },
      { ...reading, location },
    );
  const candidates = values.flatMap((text): Scalar[] => {
    const found = candidatesOf(text, operator, attribute);
    checkComparison({ operator, attribute, written: text, values: found }, location, reading);
    return found;
  });
  return toCondition(operator, attribute, candidates);
}

/** Splits a name at the last colon. A name with a colon always needs an operator. */
function splitName(
  parameter: string,
  texts: readonly string[],
  { collection, violations }: Reading,
): { name: string; operator: OperatorName } | undefined {
  const colon = parameter.lastIndexOf(":");
  if (colon === -1) return splitSuffix(parameter, collection);
  const operator = parameter.slice(colon + 1);
  const name = parameter.slice(0, colon);
  if (isOperator(operator)) return { name, operator };
  violations.add(inQuery(parameter), "unknownOperator", () => {
    const written = { in: "query", name, texts } as const;
    return `is not understood: ${unknownOperator(operator, written)}`;
  });
  return undefined;
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
  violations.add(location, "value", `must be true or false, not ${shortJson(texts[0])}`);
  return false;
}

function splitLists(operator: OperatorName, texts: readonly string[]): readonly string[] {
  return operators[operator].takes === "list" ? texts.flatMap((text) => text.split(",")) : texts;
}
