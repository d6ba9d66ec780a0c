/**
 * Checks the texts of the project: spelling, plain English, names and links of the pages, and spelling and plain English of the messages in
 * `src`. `npm run lint` runs it. It reads only the texts that have changed: `node_modules/.cache/pages.json` has what it found in the others,
 * with a hash of the text and of the rules.
 */
import { globSync, readFileSync } from "node:fs";
import { pathsBelow } from "../project.ts";
import { anchorsOf, lineOf, nodesOf, type Prose, pageFiles, parsePage, proseOf } from "./markdown.ts";
import { faultsOfTargets, type Target, targetsOf, undefinedReferences, unreachable } from "./rules/links.ts";
import { keyOf, Memory } from "./rules/memory.ts";
import { literalsIn, messagesIn, sourceFiles } from "./rules/messages.ts";
import { faultsOfNames, type Names } from "./rules/names.ts";
import { faultsOfProse } from "./rules/plain-english.ts";
import { faultsOfAdded, unknownIn, wordsFile, wordsIn } from "./rules/spelling.ts";

/** What one text contains. Whether it is right can depend on the others, and on the code. */
interface Found {
  /** What is wrong in any case. */
  faults: string[];
  words: string[];
  /** The names of headers in source code. */
  headers: string[];
  /** Pieces of code in sentences. */
  codes: { place: string; code: string }[];
  targets: Target[];
  anchors: string[];
}

const nothing: Found = { faults: [], words: [], headers: [], codes: [], targets: [], anchors: [] };

const memory = new Memory("node_modules/.cache/pages.json");
let readNow = 0;
const read = (file: string) => readFileSync(file, "utf8");
const rules = keyOf(
  ...["test/pages/lint.ts", "test/pages/markdown.ts", ...globSync("test/pages/rules/*.ts").sort()].map(read),
);

const pages = new Map(pageFiles.map((file) => [file, found(file, findInPage)]));
const sources = new Map(sourceFiles.map((file) => [file, found(file, findInSource)]));
const anchors = (file: string) => pages.get(file)?.anchors;
const names = await namesOfCode();

const faults = [
  ...[...pages.values(), ...sources.values()].flatMap(({ faults }) => faults),
  ...[...pages.values()].flatMap(({ codes }) =>
    codes.flatMap(({ place, code }) => faultsOfNames(code, names).map((fault) => `${place}: ${fault}`)),
  ),
  ...[...pages].flatMap(([file, { targets }]) => faultsOfTargets(file, targets, anchors)),
  ...unreachable("docs/README.md", "docs", new Map([...pages].map(([file, { targets }]) => [file, targets]))),
  ...faultsOfAdded(),
  ...(await faultsOfSpelling()),
];
memory.save();
for (const fault of faults) console.error(fault);
const total = pages.size + sources.size;
console.log(`Checked ${total} texts. Read now: ${readNow}. Faults: ${faults.length}.`);
process.exitCode = faults.length === 0 ? 0 : 1;

function found(file: string, find: (file: string, text: string) => Found): Found {
  const text = read(file);
  const key = keyOf(rules, file, text);
  const known = memory.recall<Found>(file, key);
  if (known === undefined) readNow++;
  return known ?? memory.keep(file, key, find(file, text));
}

function findInPage(file: string, text: string): Found {
  const page = parsePage(file, text);
  const prose = proseOf(page);
  return {
    ...nothing,
    faults: [...prose.flatMap(faultsOfProse), ...undefinedReferences(page)],
    words: distinct(wordsIn(prose).map(({ word }) => word)),
    codes: nodesOf(page, "inlineCode").map((node) => ({
      place: `${file}:${lineOf(node)}`,
      code: node.value,
    })),
    targets: targetsOf(page),
    anchors: anchorsOf(page),
  };
}

function findInSource(file: string, text: string): Found {
  const literals = literalsIn(text);
  const messages = messagesIn(file, literals);
  const parts = literals.flatMap((literal) => literal.text.toLowerCase().split(/[^a-z0-9-]+/));
  return {
    ...nothing,
    faults: messages.flatMap(faultsOfProse),
    words: distinct(wordsIn(messages).map(({ word }) => word)),
    headers: distinct(parts.filter((part) => part.includes("-"))),
  };
}

/** The names that the code knows. They change with the code of the program, of the tests and of the bench. */
async function namesOfCode(): Promise<Names> {
  const files = ["src", "test", "bench"].flatMap(pathsBelow).filter((file) => file.endsWith(".ts"));
  const headers = distinct([...sources.values()].flatMap((source) => source.headers));
  const key = keyOf(rules, ...files.map(read));
  const known =
    memory.recall<Omit<Names, "headers">>("names", key) ??
    (await import("./rules/known-names.ts")).knownNames();
  return { ...memory.keep("names", key, known), headers };
}

/** The faults of the words that no earlier run found right. */
async function faultsOfSpelling(): Promise<string[]> {
  const key = keyOf(rules, read(wordsFile), read("test/package.json"));
  const all = distinct([...pages.values(), ...sources.values()].flatMap(({ words }) => words));
  const right = new Set(memory.recall<string[]>("words", key));
  const others = all.filter((word) => !right.has(word));
  const unknown = others.length === 0 ? new Map<string, string>() : await unknownIn(others);
  memory.keep(
    "words",
    key,
    all.filter((word) => !unknown.has(word)),
  );
  return [...pages, ...sources]
    .filter(([, { words }]) => words.some((word) => unknown.has(word)))
    .flatMap(([file]) => wordsIn(proseIn(file)))
    .filter(({ word }) => unknown.has(word))
    .map(({ place, word }) => {
      const similar = unknown.get(word);
      const better = similar === undefined ? "correct it" : `perhaps ${similar}`;
      return `${place}: the dictionary does not know "${word}": ${better}. Write code in backticks. Add a name or a term to ${wordsFile}`;
    });
}

function proseIn(file: string): Prose[] {
  return pages.has(file) ? proseOf(parsePage(file, read(file))) : messagesIn(file, literalsIn(read(file)));
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
