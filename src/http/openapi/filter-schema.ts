/** The schema of the filters of a collection in a query string. */
import { attributeInfo } from "../../collection/attributes.ts";
import type { Collection } from "../../collection/collection.ts";
import { conditionTable } from "../../query/conditions.ts";
import { listParameters } from "../../query/list-parameters.ts";
import { type OperatorName, operatorNames, operators } from "../../query/operators.ts";
import type { Part } from "./described.ts";

const ofFilters = [
  "Filters by attribute: `title=x`, or with an operator `views:gte=10`. A dot reaches into an object, or through one or two relations to related resources: `author.name=x`, `author.team.name=x`.",
  "Each filter is a separate parameter. Repeat a parameter to match any of its values. The operators require that the attribute",
  `${operatorNames.map((name) => `${operators[name].meaning} (\`${name}\`)`).join("; ")}.`,
].join(" ");

/** Filters by attribute. In a query string, each is a separate parameter. */
export function filterSchema(collection: Collection, attributes: object): Part {
  const hidden = collection.visibility?.hidden;
  const names = Object.keys(attributes).filter((name) => hidden?.has(name) !== true);
  const filters = names.flatMap((name) =>
    operatorNames.flatMap((operator) => {
      const spelled = operator === "eq" && !isReserved(name) ? name : `${name}:${operator}`;
      return suits(collection, name, operator) ? [[spelled, operandSchema(operator)] as const] : [];
    }),
  );
  return {
    description: ofFilters,
    type: "object",
    properties: Object.fromEntries(filters),
    additionalProperties: { type: "string" },
  };
}

function isReserved(name: string): boolean {
  return (listParameters as readonly string[]).includes(name) || name.includes(":");
}

/** Whether an operator can be true of a value that the attribute can have. */
function suits(collection: Collection, name: string, operator: OperatorName): boolean {
  const { types } = attributeInfo(collection, [name]);
  if (types === undefined) return true;
  const { kind } = operators[operator];
  const isEquality = kind === "in"; // also with null
  return conditionTable[kind].types.some((type) => types.has(type)) || (isEquality && types.has("null"));
}

function operandSchema(operator: OperatorName): Part {
  return { type: operators[operator].takes === "boolean" ? "boolean" : "string" };
}
