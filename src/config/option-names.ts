/** Finds unknown options and environment variables. Each is a fault, so that a misspelled name is never ignored. */
import type { GuardedDeclaration } from "../access/access-declaration.ts";
import { didYouMean, nearestTo } from "../collection/messages.ts";
import { type StartFaults, withUnreadable } from "../errors/start-faults.ts";
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

/** An object in the file. */
interface Place {
  /** Its path, for the faults. */
  path: readonly string[];
  /** Its name in messages. @default the path with dots */
  at?: string;
  level: keyof typeof knownOptions;
}

/**
 * Adds each member that is not an option to the faults, with the nearest known option, and returns the object. An option
 * whose name is misspelled does not count as missing: reading it throws a StartError without faults.
 */
export function withKnownNames(
  given: Readonly<Record<string, unknown>>,
  { path, at = path.join("."), level }: Place,
  faults: StartFaults,
): Readonly<Record<string, unknown>> {
  const group = level === "collection" ? "" : path.map((each) => `${each}.`).join("");
  const known: readonly string[] = knownOptions[level];
  const isKnown = (name: string) =>
    known.includes(group + name) || known.some((each) => each.startsWith(`${group}${name}.`));
  const unknown = Object.keys(given).filter((name) => !isKnown(name));
  for (const name of unknown) {
    const place = at === "" ? name : `${at}.${name}`;
    faults.add([...path, name], `${place} is not an option. ${advise(name, group + name, level)}`);
  }
  if (unknown.length === 0) return given;
  const meant = unknown.map((name) => nearestTo(group + name, candidatesOf(level)) ?? "");
  return withUnreadable(
    given,
    meant.filter((name) => name.startsWith(group)).map((name) => firstOf(name.slice(group.length))),
  );
}

function advise(name: string, path: string, level: keyof typeof knownOptions): string {
  const [elsewhere, place] =
    level === "collection"
      ? (["top", "belongs at the top level of the file"] as const)
      : (["collection", "belongs to a collection"] as const);
  if ((knownOptions[elsewhere] as readonly string[]).includes(name)) return `"${name}" ${place}.`;
  const known: readonly string[] = knownOptions[level];
  const misplaced = known.find((each) => each.endsWith(`.${name}`));
  if (misplaced !== undefined) return `Did you mean "${misplaced}"?`;
  return nearestOr(path, candidatesOf(level), known);
}

/** The names that a misspelled name can mean: options, and groups of options. */
function candidatesOf(level: keyof typeof knownOptions): readonly string[] {
  const known: readonly string[] = knownOptions[level];
  return [...new Set([...known, ...known.map(firstOf)])];
}

function firstOf(name: string): string {
  return name.split(".", 1).join("");
}

/** Suggests the nearest name, or lists all names. */
function nearestOr(name: string, candidates: readonly string[], known = candidates): string {
  return didYouMean(name, candidates).trimStart() || `Known names: ${known.join(", ")}.`;
}

const ofOptions = Object.values(options).flatMap(({ env }) => (env === undefined ? [] : [env]));

const variables = [...ofOptions, "HOLDFAST_CONFIG", "HOLDFAST_TOKEN"];

/** Variables of our own tests. */
const testVariables = [
  "HOLDFAST_SUITES",
  "HOLDFAST_KILLS",
  "HOLDFAST_SEED",
  "HOLDFAST_QUERY_RUNS",
  "HOLDFAST_ROUNDS",
  "HOLDFAST_FIGURE_RUNS",
  "HOLDFAST_RELATED_RUNS",
  "HOLDFAST_REWIND_RUNS",
  "HOLDFAST_CONSOLE_RESOURCES",
  "HOLDFAST_RUNS",
  "HOLDFAST_LOAD_MS",
  "HOLDFAST_TEST_BENCH",
  "HOLDFAST_TEST_IMAGE",
  "HOLDFAST_SOAK_MINUTES",
  "HOLDFAST_TEST_STORE",
  "HOLDFAST_TEST_THREADS",
  "HOLDFAST_TEST_POSTGRES",
  "HOLDFAST_STARTED_POSTGRES",
];

/** The variables of options among all environment variables. */
export function variablesOfOptions(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => ofOptions.includes(name)));
}

/** Throws StartError with every unknown environment variable whose name begins with `HOLDFAST_`. */
export function requireKnownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith("HOLDFAST_") && !variables.includes(name) && !testVariables.includes(name),
  );
  const faults = unknown.map((name) => ({
    path: [],
    text: `${name} is not an environment variable of Holdfast. ${nearestOr(name, variables)}`,
  }));
  if (faults.length > 0) throw new StartError(faults);
}
