/** Pages and messages are written in plain English: without the phrases of `plain-words.ts`, and in sentences that are not long. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { nodesOf, type Prose, pageFiles, parsePage, proseOf, readPage } from "./markdown.ts";
import { messagesOf } from "./messages.ts";
import { avoided, longestSentence } from "./plain-words.ts";

test("the pages use plain words, and sentences of at most 40 words", () => {
  assertPlain(pageFiles.flatMap((file) => proseOf(readPage(file))));
});

test("the program's messages, helps and descriptions use plain words, and sentences of at most 40 words", () => {
  assertPlain(messagesOf());
});

test("a phrase that is avoided and a long sentence are found, and code and quotations are left out", () => {
  const long = `${"Word ".repeat(41)}end.`;
  const page = `# Whom it is for\n\nA rule \`nobody\` is "nobody". ${long}\n\n- It is\n  told so.\n\nThe error tells you what to do with a word of its own, as it is now.\n`;
  assert.deepEqual(
    proseOf(parsePage("a page", page))
      .flatMap(faultsOf)
      .map((fault) => fault.split(":").slice(0, 3).join(":")),
    ['a page:1: "Whom"', "a page:3: a sentence of 42 words", 'a page:5: "is told"'],
  );
});

test("every page of the documentation can be reached from its first page", () => {
  const first = "docs/README.md";
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file) || !pageFiles.includes(file)) return;
    reached.add(file);
    for (const { url } of nodesOf(readPage(file), "link", "definition"))
      if (!/^[a-z]+:|^#/i.test(url)) visit(join(dirname(file), url.split("#")[0] ?? ""));
  };
  assert.ok(existsSync(first), `there is no ${first}`);
  visit(first);
  assert.deepEqual(
    pageFiles.filter((file) => file.startsWith("docs/") && !reached.has(file)),
    [],
  );
});

function assertPlain(prose: readonly Prose[]): void {
  const faults = prose.flatMap(faultsOf);
  const files = Object.groupBy(faults, (fault) => fault.split(":")[0] ?? "");
  const counts = Object.entries(files).map(([file, found]) => `  ${file}: ${found?.length}`);
  assert.equal(
    faults.length,
    0,
    `${faults.length} faults:\n${[...faults, "", "In files:", ...counts].join("\n")}`,
  );
}

function faultsOf({ place, text }: Prose): string[] {
  const unquoted = text.replaceAll(/"[^"]*"/g, "□");
  const phrases = avoided.flatMap(({ pattern, instead }) =>
    Array.from(
      unquoted.matchAll(new RegExp(pattern, "gi")),
      ([found]) => `${place}: ${JSON.stringify(found)}: write ${instead}`,
    ),
  );
  return [
    ...phrases,
    ...longSentencesOf(unquoted).map((words) => `${place}: a sentence of ${words} words: split it`),
  ];
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** The numbers of words of the long sentences. */
function longSentencesOf(text: string): number[] {
  return Array.from(
    sentences.segment(text),
    ({ segment }) => segment.match(/[\p{L}\p{N}□][^\s]*/gu)?.length ?? 0,
  ).filter((words) => words > longestSentence);
}
