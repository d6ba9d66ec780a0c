/** What two attributes mean to each other when a filter compares them. */
import type { AttributeType } from "../collection/attributes.ts";
import { declaredTypes, type Meaning } from "../collection/types/declared-types.ts";
import type { ComparingOperator } from "./filter.ts";
import type { Attribute } from "./reading.ts";

/** Whether an operator needs an order: booleans have none. */
export function isOrdering(operator: ComparingOperator): boolean {
  return operator !== "eq" && operator !== "ne";
}

/**
 * How two attributes are compared: by what they mean if both are dates or exact numbers, or as they are. If they can never be equal or
 * in an order, returns why, as a sentence without its end.
 */
export function comparedTypes(
  left: Attribute,
  right: Attribute,
  isOrdered: boolean,
): { as?: Meaning } | string {
  const both = [left, right];
  const type = Object.values(declaredTypes).find((each) =>
    both.some(({ declared }) => declared?.type === each),
  );
  if (type !== undefined) {
    const others = both.filter(({ declared }) => declared?.type !== type);
    const isOther = others.some(({ types, declared }) => types !== undefined || declared !== undefined);
    return isOther ? `only one of the attributes is ${type.what}` : { as: type.name };
  }
  const [own, others] = [left, right].map(({ types }) => scalars(types, isOrdered)) as [Scalars, Scalars];
  if ([...own].some((each) => others.has(each))) return {};
  const [a, b] = [left, right].map(({ types }) => [...(types ?? [])].join(" or "));
  return `one attribute is ${a}, and the other one ${b}`;
}

type Scalars = ReadonlySet<AttributeType>;

/** The types of values that can be compared. */
function scalars(types: Attribute["types"], isOrdered: boolean): Scalars {
  const compared: AttributeType[] = isOrdered ? ["string", "number"] : ["string", "number", "boolean"];
  return new Set(compared.filter((each) => types?.has(each) !== false));
}
