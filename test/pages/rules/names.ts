/** The names in code on the pages exist: options, variables, flags, error codes and headers. */
import { closest } from "fastest-levenshtein";

/** The names that exist, each in lower case if its case does not matter. */
export interface Names {
  options: readonly string[];
  variables: readonly string[];
  flags: readonly string[];
  codes: readonly string[];
  headers: readonly string[];
}

/** Names of Node, of the benchmark, of the program that runs the tests, and of other programs. */
const ofOthers = new Set([
  "--changed",
  "--conditions",
  "--import",
  "--only",
  "--quick",
  "--require",
  "--shard",
  "--test",
  "--times",
  "--together",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "X-Forwarded-Host",
  "Message-ID",
]);

/** The names of each kind in a piece of code, and how to say that one does not exist. */
const kinds: Readonly<
  Record<keyof Names, readonly [find: (code: string) => readonly string[], fault: string]>
> = {
  options: [(code) => code.match(/^limits\.[A-Za-z]+/) ?? [], "there is no option"],
  variables: [(code) => code.match(/\bHOLDFAST_[A-Z_]+\b/g) ?? [], "there is no variable"],
  flags: [(code) => code.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [], "no command has the flag"],
  codes: [
    (code) => code.match(/^(?!HOLDFAST_)[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+$/) ?? [],
    "there is no error code",
  ],
  headers: [
    (code) => /^([A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+)(?::.*)?$/.exec(code)?.slice(1) ?? [],
    "the service knows no header",
  ],
};

/** What is wrong with the names in a piece of code, with the most similar name. */
export function faultsOfNames(code: string, names: Names): string[] {
  return Object.entries(kinds).flatMap(([kind, [find, fault]]) => {
    const known = names[kind as keyof Names];
    return find(code)
      .filter(
        (name) => !ofOthers.has(name) && !known.includes(kind === "headers" ? name.toLowerCase() : name),
      )
      .map((name) => `${fault} ${name}: perhaps ${closest(name, shownAs(kind, known))}`);
  });
}

/** The names as a page writes them. */
function shownAs(kind: string, names: readonly string[]): readonly string[] {
  const capital = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
  return kind === "headers" ? names.map(capital) : names;
}
