/** The index that a slow list needs. */
import type { ListQuery } from "./list-query.ts";

/** The index that would serve a list, as text for the configuration: the one that the service suggests, or by its rule. */
export function suggestedIndex(
  detail: string,
  { conditions, sort, filter, search }: ListQuery,
): string | undefined {
  const [, suggested] = /"indexes":\s*(\[.*\]) to the collection/.exec(detail) ?? [];
  if (suggested !== undefined) return `"indexes": ${suggested}`;
  if (filter !== "" || search !== "") return undefined;
  const keys = sort.map(({ name, isDescending }) => (isDescending ? `-${name}` : name));
  const [first] = sort;
  const equal = conditions.filter(({ operator }) => operator === "eq").map(({ name }) => name);
  const ranges = conditions.filter(({ operator }) => operator !== "eq");
  const fits = ranges.every(
    ({ name, operator }) => ["gt", "gte", "lt", "lte"].includes(operator) && name === first?.name,
  );
  const names = [...new Set([...equal, ...keys])];
  return fits && names.length > 0 ? `"indexes": [${JSON.stringify(names)}]` : undefined;
}
