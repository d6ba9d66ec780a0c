/**
 * What the name of a test file says: `<subject>[.<kind>][.alone][.<tier>].test.ts`, as in `create.both.test.ts`. The runner takes from it
 * when a file runs, on which stores, and in which process.
 */
import { basename, dirname, join } from "node:path";
import { testFiles } from "../project.ts";

/** What the tests of a file use. A file without a kind starts nothing: no store, no service, no program. */
export const kinds = {
  store: "opens stores",
  http: "starts services on SQLite",
  both: "starts services, on SQLite and on PostgreSQL",
  postgres: "needs PostgreSQL",
  program: "starts programs",
  browser: "opens pages in a browser",
} as const;

export type Kind = keyof typeof kinds;

/** The commands that run tests: `npm test`, `npm run test:all` and `npm run prove`. A file without a tier belongs to `npm test`. */
export const tiers = ["test", "all", "prove"] as const;

export type Tier = (typeof tiers)[number];

/** What the name of a file says. */
export interface Name {
  /** Path and name without the rest, as in `test/http/create`. Texts name a test file by it. */
  subject: string;
  kind: Kind | undefined;
  /** It has a process of its own, and begins before the others: it measures memory or the event loop, or takes very long. */
  isAlone: boolean;
  tier: Tier;
}

/** The end of the name of each test file. */
export const ending = ".test.ts";

/** Reads the name of a test file. Throws an Error that says which part is not understood. */
export function nameOf(file: string): Name {
  const [name = "", ...marks] = basename(file, ending).split(".");
  const subject = join(dirname(file), name).replaceAll("\\", "/");
  const kind = marks[0] !== undefined && marks[0] in kinds ? (marks.shift() as Kind) : undefined;
  const isAlone = marks[0] === "alone" && marks.shift() !== undefined;
  const tier = marks[0] === "all" || marks[0] === "prove" ? (marks.shift() as Tier) : "test";
  if (marks.length > 0)
    throw new Error(
      `The name of ${file} has "${marks[0]}". A name is <subject>[.<kind>][.alone][.<tier>]${ending}, with one of the kinds ${Object.keys(kinds).join(", ")} and one of the tiers all, prove.`,
    );
  return { subject, kind, isAlone, tier };
}

/**
 * The file of a subject, as in `test/http/create`. A kind behind it tells two files of one subject apart, as in `test/http/create.http`.
 * Throws an Error unless there is exactly one.
 */
export function testFileOf(subject: string): string {
  const found = testFiles().filter((file) => file.replaceAll("\\", "/").startsWith(`${subject}.`));
  const [file] = found;
  if (file !== undefined && found.length === 1) return file;
  throw new Error(
    file === undefined
      ? `There is no test file of the subject "${subject}".`
      : `"${subject}" names several test files: ${found.join(", ")}.`,
  );
}

/** One run of a file. */
export interface Job {
  file: string;
  /** The store of its services. @default the value of HOLDFAST_TEST_STORE */
  store?: "sqlite" | "postgres";
  /** It shares its process with no other file. A file with a browser never does, because the files of a folder share the browser. */
  isAlone: boolean;
  /** Variables of the environment for this run. Then it has a process of its own. */
  env?: Readonly<Record<string, string>>;
  /** Options of Node for this run. Then it has a process of its own. */
  options?: readonly string[];
}

/**
 * The runs of a tier, in the order in which they start. `test:all` does not run again what `npm test` has run: it adds the second store of
 * the files on both.
 */
export function jobsOf(tier: Tier): Job[] {
  const named = testFiles().map((file) => {
    const { kind, tier, isAlone } = nameOf(file);
    return { file, kind, tier, isAlone: isAlone || kind === "browser" };
  });
  const own = named.filter((each) => each.tier === tier);
  const second = named.filter(
    (each) => each.kind === "both" && (each.tier === tier || (tier === "all" && each.tier === "test")),
  );
  const onSecond = tier === "test" ? [] : second;
  return [
    ...onSecond.map(({ file, isAlone }) => ({ file, isAlone, store: "postgres" as const })),
    ...own.map(({ file, isAlone }) => ({ file, isAlone, store: "sqlite" as const })),
  ].sort((a, b) => Number(b.isAlone) - Number(a.isAlone));
}
