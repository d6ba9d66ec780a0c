/** The rules of `npm run lint` for pages and messages find what is wrong, and nothing else. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { anchorsOf, nodesOf, parsePage, proseOf } from "./markdown.ts";
import { faultsOfTargets, targetsOf, undefinedReferences, unreachable } from "./rules/links.ts";
import { keyOf, Memory } from "./rules/memory.ts";
import { literalsIn, messagesIn } from "./rules/messages.ts";
import { faultsOfNames } from "./rules/names.ts";
import { faultsOfProse } from "./rules/plain-english.ts";
import { faultsOfAdded, unknownIn, wordsIn } from "./rules/spelling.ts";

test("a misspelt word and an American one are found, and code is left out", async () => {
  const page =
    "A recieved colour.\n\n| Its `recieved` color |\n|---|\n| behavior's |\n\n```sh\nrecieve\n```\n";
  const words = wordsIn(proseOf(parsePage("a page", page)));
  const unknown = await unknownIn(words.map(({ word }) => word));
  assert.deepEqual(
    words.filter(({ word }) => unknown.has(word)).map(({ place, word }) => `${place} ${word}`),
    ["a page:1 recieved", "a page:3 color", "a page:5 behavior's"],
  );
  assert.equal(unknown.get("recieved"), "received");
});

test("a word that is added twice or out of order is found", () => {
  assert.deepEqual(
    faultsOfAdded(["Ajv", "Ajv", "Vite", "Biome"]).map((fault) => fault.split(": ")[0]),
    ["test/pages/rules/words.txt:2", "test/pages/rules/words.txt:4"],
  );
});

test("a phrase that is avoided and a long sentence are found, and code and quotations are left out", () => {
  const long = `${"Word ".repeat(41)}end.`;
  const page = `# Whom it is for\n\nA rule \`nobody\` is "nobody". ${long}\n\n- It is\n  told so.\n\nThe error tells you what to do with a word of its own, as it is now.\n`;
  assert.deepEqual(
    proseOf(parsePage("a page", page))
      .flatMap(faultsOfProse)
      .map((fault) => fault.split(":").slice(0, 3).join(":")),
    ['a page:1: "Whom"', "a page:3: a sentence of 42 words", 'a page:5: "is told"'],
  );
});

test("messages are found in source code, with their lines, and statements for a database are left out", () => {
  const source =
    'const type: string = "created";\nfail(`The id \u0024{id} is wrong.`);\nrun("select the id from topics");\n';
  assert.deepEqual(messagesIn("src/a.ts", literalsIn(source)), [
    { place: "src/a.ts:2", text: "The id □ is wrong." },
  ]);
});

test("names that do not exist are found, with the most similar one", () => {
  const names = {
    options: ["limits.page"],
    variables: ["HOLDFAST_PORT"],
    flags: ["--port"],
    codes: ["NOT_ACCEPTABLE"],
    headers: ["if-match"],
  };
  const wrong =
    "`limits.pages` `limits.x: 3` `HOLDFAST_PROT` `--prot` `serve --prot 1` `NOT_FOUND` `If-Macht` `X-Total: 3`";
  const right =
    "`limits.page` `HOLDFAST_PORT` `serve --port 1` `--conditions` `NOT_ACCEPTABLE` `If-Match: 1` `author.name`";
  const faultsIn = (text: string) =>
    nodesOf(parsePage("a page", text), "inlineCode").map(({ value }) => faultsOfNames(value, names));
  assert.deepEqual(
    faultsIn(wrong).map((faults) => faults.length),
    [1, 1, 1, 1, 1, 1, 1, 1],
  );
  assert.deepEqual(faultsIn("`--prot` `If-Macht`"), [
    ["no command has the flag --prot: perhaps --port"],
    ["the service knows no header If-Macht: perhaps If-Match"],
  ]);
  assert.deepEqual(faultsIn(right).flat(), []);
});

/** What is wrong with the links of a page in the root of the project. */
function faultsOfLinks(text: string): string[] {
  const page = parsePage("README.md", text);
  const anchors = (file: string) =>
    file === "README.md" ? anchorsOf(page) : file === "docs/reference/requests.md" ? ["create"] : undefined;
  return [...faultsOfTargets("README.md", targetsOf(page), anchors), ...undefinedReferences(page)];
}

test("broken links are found in each form that Markdown has", () => {
  const broken = [
    "[a](nothing.md)",
    "[a](../README.md)",
    "[a](#nothing)",
    "[a](docs/reference/requests.md#nothing)",
    "[a](package.json#nothing)",
    "![a](docs/images/nothing.png)",
    "[a][b]\n\n[b]: nothing.md",
    "[a][missing]\n",
    '<img src="nothing.png">',
    "[a](http:/example.org)",
    "[a](https://example)",
    "[a](ftp://example.org/)",
  ];
  assert.deepEqual(
    broken.map((text) => faultsOfLinks(text).length),
    broken.map(() => 1),
  );
});

test("sound links are not reported", () => {
  const sound =
    "# A `b` c\n\n# A b c\n\n[a](#a-b-c-1) [b](docs/reference/requests.md#create) [c](https://example.org/x?y#z) [d](http://localhost:3000/docs) [e](mailto:a@example.org)";
  assert.deepEqual(faultsOfLinks(sound), []);
});

test("a page to which no way of links leads is found", () => {
  const targets = (...urls: string[]) => urls.map((url) => ({ place: "", url }));
  const pages = new Map([
    ["docs/README.md", targets("a/b.md#c", "https://example.org/")],
    ["docs/a/b.md", targets("../d.md", "../README.md")],
    ["docs/d.md", []],
    ["docs/e.md", targets("d.md")],
    ["README.md", targets("docs/e.md")],
  ]);
  const faults = unreachable("docs/README.md", "docs", pages);
  assert.deepEqual(
    faults.map((fault) => fault.split(":")[0]),
    ["docs/e.md"],
  );
});

test("a memory knows a text until the text or the rules change, and begins anew if it is damaged", () => {
  const folder = makeFolder();
  const file = join(folder, "cache", "pages.json");
  const key = keyOf("the rules", "a text");
  const first = new Memory(file);
  assert.equal(first.recall("a page", key), undefined);
  first.keep("a page", key, ["a fault"]);
  first.keep("an old page", key, []);
  first.save();
  const second = new Memory(file);
  assert.deepEqual(second.recall("a page", key), ["a fault"]);
  for (const other of [
    keyOf("the rules", "a text."),
    keyOf("the rules ", "a text"),
    keyOf("the rulesa", " text"),
  ])
    assert.equal(second.recall("a page", other), undefined);
  second.save();
  assert.equal(new Memory(file).recall("an old page", key), undefined); // nothing asked for it any more
  assert.deepEqual(new Memory(file).recall("a page", key), ["a fault"]);
  writeFileSync(file, "{");
  assert.equal(new Memory(file).recall("a page", key), undefined);
});
