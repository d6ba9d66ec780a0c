/** Names of options and of environment variables: whatever is meant for Holdfast and not known keeps it from starting. */

import type { GuardedDeclaration } from "../access/declaration.ts";
import { didYouMean } from "../collection/nearest.ts";
import { StartError } from "../errors.ts";
import { options } from "./options.ts";

const knownOptions = {
  top: [...Object.keys(options), "collections"],
  collection: [
    "id",
    "schema",
    "indexes",
    "search",
    "unique",
    "references",
    "requirePreconditions",
    "defaults",
    "timestamps",
    "access",
    "attributes",
  ],
} as const satisfies { top: readonly string[]; collection: readonly (keyof GuardedDeclaration)[] };

/** Throws StartError for a member of the file that no option has, naming its place and the nearest known option. */
export function requireOptionNames(
  given: Readonly<Record<string, unknown>>,
  at: string,
  level: keyof typeof knownOptions,
): void {
  const group = at === "" || level === "collection" ? "" : `${at}.`;
  const known: readonly string[] = knownOptions[level];
  for (const name of Object.keys(given)) {
    const path = `${group}${name}`;
    const shown = at === "" ? name : `${at}.${name}`;
    if (known.includes(path) || known.some((each) => each.startsWith(`${path}.`))) continue;
    throw new StartError(`${shown} is not an option. ${whatInstead(name, path, level)}`);
  }
}

function whatInstead(name: string, path: string, level: keyof typeof knownOptions): string {
  const [elsewhere, place] =
    level === "collection"
      ? (["top", "stands at the top of the file"] as const)
      : (["collection", "belongs to a collection"] as const);
  if ((knownOptions[elsewhere] as readonly string[]).includes(name)) return `"${name}" ${place}.`;
  const known: readonly string[] = knownOptions[level];
  const misplaced = known.find((each) => each.endsWith(`.${name}`));
  if (misplaced !== undefined) return `It stands at ${misplaced}.`;
  const groups = known.map((each) => each.split(".")[0] as string);
  return nearestOr(path, [...new Set([...known, ...groups])], known);
}

/** What was meant, or else what there is. */
function nearestOr(name: string, candidates: readonly string[], known = candidates): string {
  return didYouMean(name, candidates).trimStart() || `Known are ${known.join(", ")}.`;
}

const variables = [
  ...Object.values(options).flatMap((option) => ("env" in option ? [option.env] : [])),
  "HOLDFAST_CONFIG",
];

/** Variables that our own tests read. */
const testVariables = [
  "HOLDFAST_SUITES",
  "HOLDFAST_KILLS",
  "HOLDFAST_SEED",
  "HOLDFAST_QUERY_RUNS",
  "HOLDFAST_ROUNDS",
  "HOLDFAST_RUNS",
  "HOLDFAST_LOAD_MS",
  "HOLDFAST_TEST_STORE",
  "HOLDFAST_TEST_POSTGRES",
  "HOLDFAST_STARTED_POSTGRES",
];

/** Throws StartError for a variable of the environment that is meant for Holdfast and that it does not know. */
export function requireKnownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).find(
    (name) => name.startsWith("HOLDFAST_") && !variables.includes(name) && !testVariables.includes(name),
  );
  if (unknown === undefined) return;
  throw new StartError(
    `${unknown} is not a variable that Holdfast reads from the environment. ${nearestOr(unknown, variables)}`,
  );
}
