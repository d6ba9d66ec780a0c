/** Finds roles that may be misspellings of each other. */
import { distance } from "fastest-levenshtein";
import type { NamedRole } from "../../access/roles.ts";

/** In shorter names, one other letter usually makes another role: "hr" and "pr". */
const minLength = 4;

/** A sentence for each pair of roles that differ by one letter, or only in upper and lower case. */
export function similarRolesIn(roles: readonly NamedRole[]): string[] {
  const places = Map.groupBy(roles, ({ name }) => name);
  const all = [...places].map(([name, named]) => ({ name, where: whereOf(named) }));
  return all.flatMap((one, n) =>
    all
      .slice(n + 1)
      .filter((other) => isSimilar(one.name, other.name))
      .map(
        (other) =>
          `the roles "${one.name}" (${one.where}) and "${other.name}" (${other.where}) are almost the same. Is one of them misspelled?`,
      ),
  );
}

function isSimilar(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return true;
  if (Math.min(a.length, b.length) < minLength || isNumbered(a, b)) return false;
  return distance(a, b) === 1;
}

/** Whether only digits differ, as in "team-1" and "team-2". */
function isNumbered(a: string, b: string): boolean {
  return a.replaceAll(/\d/g, "") === b.replaceAll(/\d/g, "");
}

function whereOf([first, ...others]: readonly NamedRole[]): string {
  const more = others.length === 1 ? "1 other place" : `${others.length} other places`;
  return `${first?.at}${others.length === 0 ? "" : ` and ${more}`}`;
}
