/** Lists, tables and numbers of the pages are those of the code. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fillIn, pages, page as performance, resultsFileOf } from "../../bench/report/documentation.ts";
import { readResults } from "../../bench/report/results.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import { reservedIds } from "../../src/collection/ids.ts";
import { updateOperators } from "../../src/collection/update.ts";
import { createCommands } from "../../src/commands/command-table.ts";
import { type Problem, problems } from "../../src/errors.ts";
import { bulkMembers } from "../../src/http/many/bulk-content.ts";
import { rewindMembers } from "../../src/http/writes/rewind-content.ts";
import { processMetrics } from "../../src/observe/families.ts";
import { defaultEmbedLimit, embedLimits } from "../../src/query/embed-request.ts";
import { attributeFigures, dateUnits } from "../../src/query/figures.ts";
import { figureLimits } from "../../src/query/figures-request.ts";
import { matches, ownFilter } from "../../src/query/filter.ts";
import { listParameters } from "../../src/query/list-parameters.ts";
import { defaultPageSize } from "../../src/query/list-request.ts";
import { legacySuffixes, operators } from "../../src/query/operators.ts";
import { parseList } from "../../src/query/query-string.ts";
import { filterLimits } from "../../src/query/reading.ts";
import { ownSort } from "../../src/query/sort.ts";
import { accessPathOf } from "../../src/store/core/access-path.ts";
import { slowPlaces } from "../../src/store/core/slow-reads.ts";
import { commonPasswordsPackage } from "../../tools/build/common-passwords.ts";
import { docsPagePackage } from "../../tools/build/docs-page.ts";
import { outdatedPages } from "../../tools/reference.ts";
import { pathsBelow } from "../project.ts";
import { codesIn, nodesOf, type Page, readPage, tableOf, tablesOf } from "./markdown.ts";
import { configurationOf } from "./shown.ts";

const reference = (name: string) => readPage(`docs/reference/${name}.md`);
const lists = reference("lists");
const filters = reference("filters");

/** What the first cells of all rows name, if they are one name. */
function namesIn(page: Page, pattern = /^`(\w+)`$/): string[] {
  return tablesOf(page).flatMap((rows) => rows.flatMap(([first = ""]) => pattern.exec(first)?.[1] ?? []));
}

test("the reference has the error codes, options and metrics of the code", () => {
  const outdated = [...outdatedPages().keys()];
  assert.ok(outdated.length === 0, `${outdated.join(", ")} is not up to date: run npm run reference`);
});

test("the reference of resources lists the ids that are reserved", () => {
  const [, text] = /An id is never one of the names ([^.]+)\./.exec(reference("resources").text) ?? [];
  assert.deepEqual(codesIn(text), [...reservedIds]);
});

test("the metrics reference lists every metric of the process, and no other", () => {
  const listed = namesIn(reference("metrics"), /^`((?:process|nodejs)_\w+)`$/);
  assert.deepEqual(listed, Object.keys(processMetrics));
});

test("the command line reference has a section for every command, and for no other", () => {
  const { text } = reference("command-line");
  assert.deepEqual(
    Array.from(text.matchAll(/^## `holdfast ([a-z]+)/gm), ([, name]) => name),
    createCommands({}).map((command) => command.name()),
  );
});

test("the reference of bulk changes lists every member of a request and a response", () => {
  const members = [...bulkMembers, "matched", "changed", "dryRun", "ids"];
  assert.deepEqual(namesIn(reference("bulk")), members);
});

test("the reference of update operators lists every operator", () => {
  const rows = tableOf(reference("update-operators"), "operator", "operand", "result");
  assert.deepEqual(
    rows.flatMap(([cell]) => codesIn(cell)),
    updateOperators,
  );
});

test("the reference of batches lists every member of an operation", () => {
  const members = tableOf(reference("batch"), "member", "value").flatMap(([name]) => codesIn(name));
  assert.deepEqual(members, ["method", "path", "headers", "body", "as"]);
});

test("the reference of rewinds lists every member of a request", () => {
  const members = tableOf(reference("rewind"), "member", "default", "description");
  assert.deepEqual(
    members.flatMap(([name]) => codesIn(name)),
    [...rewindMembers],
  );
});

test("the reference of figures has every figure, unit and limit", () => {
  const figures = reference("figures");
  const listed = tableOf(figures, "figure", "value").flatMap(([cell]) => codesIn(cell));
  assert.deepEqual(listed, ["count", ...attributeFigures.map((figure) => `${figure}(total)`)]);
  const units = tableOf(figures, "unit", "value").map((row) => row.flatMap(codesIn));
  assert.deepEqual(
    units.map(([unit, value]) => [unit, value?.length]),
    Object.entries(dateUnits),
  );
  assert.match(figures.text, new RegExp(`figures\\]\\(#figures-1\\), at most ${figureLimits.figures} `));
  assert.match(figures.text, new RegExp(`by, at most ${figureLimits.group};`));
  assert.match(figures.text, new RegExp(`groups, at most ${figureLimits.sort} names`));
});

test("the limits of the reference of related resources are those of the code", () => {
  const page = reference("related-resources");
  const limits = tableOf(page, "what", "limit").flatMap(([, limit = ""]) =>
    /^[\d,]+$/.test(limit) ? Number(limit.replace(",", "")) : [],
  );
  const { depth, relations, resources, length, rounds } = embedLimits;
  assert.deepEqual(limits, [depth, relations, resources, length, rounds]);
  assert.match(page.text, new RegExp(`Without \`limit\`, ${defaultEmbedLimit} \\|`));
});

test("the reference of lists has every parameter, and no other", () => {
  const listed = tableOf(lists, "parameter", "description").flatMap(([name]) => codesIn(name));
  assert.deepEqual(listed.sort(), [...listParameters].sort());
});

const { books: declaration = {} } = configurationOf([lists]).collections ?? {};

test("the reference of lists has the same text about other servers' parameters as the refusals", async () => {
  const books = await defineCollection("books", declaration);
  for (const [elsewhere = "", here = ""] of tableOf(lists, "elsewhere", "here").map((row) =>
    row.map((cell) => cell.replaceAll("`", "")),
  )) {
    assert.throws(
      () => parseList(elsewhere, books, 1_000),
      (error: Problem) =>
        error.violations.some(({ detail }) => detail.includes(`Write ${JSON.stringify(here)}`)),
      elsewhere,
    );
    parseList(here, books, 1_000);
  }
});

test("the reference of filters has every operator as the code knows it, and no other", () => {
  const taken = {
    scalar: "a value",
    list: "a list",
    texts: "a list of strings",
    filter: "a filter",
    comparable: "a number or a string",
    string: "a string",
    boolean: "`true` or `false`",
  } as const;
  const known = Object.entries(operators).map(([name, { takes, collects, meaning }]) => {
    const endings = Object.entries(legacySuffixes).filter(([, operator]) => operator === name);
    const ending = endings.map(([suffix]) => `\`${suffix}\``).join(", ");
    return [`\`${name}\``, ending, taken[takes], collects ? "yes" : "no", meaning];
  });
  const head = ["operator", "suffix", "value", "repeatable", "matches if the attribute"];
  assert.deepEqual(tableOf(filters, ...head), known);
});

test("the reference of filters says what is found without regard to case, accents and width", async () => {
  const things = await defineCollection("things", {});
  for (const [query = "", ...cells] of tableOf(filters, "query string", "finds", "does not find")) {
    const { filter } = parseList(encodeURI(codesIn(query)[0] ?? ""), things, 1_000);
    for (const [n, cell] of cells.entries())
      for (const text of codesIn(cell)) {
        const value: unknown = text.startsWith("[") ? JSON.parse(text) : text;
        const own = ownFilter(filter ?? { kind: "and", filters: [] });
        assert.equal(matches(own, { name: value, tags: value }), n === 0, `${query}: ${text}`);
      }
  }
});

test("the reference of lists has the bounds of filters and pages", () => {
  const bounds = Object.fromEntries(tableOf(lists, "what", "at most"));
  assert.equal(bounds["conditions of a filter"], filterLimits.conditions.toLocaleString("en"));
  assert.equal(bounds["groups of a filter (`and`, `or`, `not`)"], String(filterLimits.groups));
  assert.equal(bounds["values of a filter"], filterLimits.values.toLocaleString("en"));
  assert.equal(bounds["levels of `filter`"], String(filterLimits.depth));
  assert.match(lists.text, new RegExp(`resources on a page: ${defaultPageSize} by default`));
});

test("the reference of lists says which lists an index serves", async () => {
  const books = await defineCollection("books", declaration);
  for (const [query = "", served] of tableOf(lists, "query string", "index used")) {
    const { filter, sort } = parseList(codesIn(query)[0] ?? "", books, 1_000);
    const asked = { ...(filter && { filter: ownFilter(filter) }), sort: ownSort(sort) };
    const isServed = accessPathOf(asked, books.indexes) !== undefined;
    assert.equal(served?.split(":")[0], isServed ? "yes" : "no", query);
  }
});

test("the dependencies that are explained are those of the package, and the reasons are in the right table", () => {
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const { dependencies = {}, devDependencies } = read("package.json");
  const { optionalDependencies } = read("tools/node/package.json");
  const { dependencies: ofTests } = read("test/package.json");
  const console = Object.keys(read("console/package.json").devDependencies);
  const tables = tablesOf(readPage("docs/explanation/dependencies.md"));
  const named = tables
    .filter(([head]) => head?.[0] === "package")
    .map((rows) => rows.flatMap(([cell = ""]) => (cell.startsWith("`") ? codesIn(cell) : [])));
  const all = [dependencies, devDependencies, optionalDependencies, ofTests]
    .flatMap(Object.keys)
    .concat(docsPagePackage);
  const used = packagesOf("src").add(docsPagePackage).add(commonPasswordsPackage);
  const onPage = packagesOf("console/src");
  const known = [
    all.filter((name) => used.has(name)),
    console.filter((name) => onPage.has(name)),
    [...all.filter((name) => !used.has(name)), ...console.filter((name) => !onPage.has(name))],
  ];
  assert.deepEqual(
    named.map((names) => names.sort()),
    known.map((names) => names.sort()),
  );
});

/** The packages that the files of a folder import. */
function packagesOf(folder: string): Set<string> {
  const imported = /(?:from |import |\()"((?:@[^/"]+\/)?[^@./":\s]+[^/"\s]*)/g;
  const files = globSync("**/*.{ts,tsx}", { cwd: folder });
  return new Set(
    files.flatMap((file) =>
      Array.from(readFileSync(join(folder, file), "utf8").matchAll(imported), ([, name]) => String(name)),
    ),
  );
}

test("every file and folder that the documents about the code name exists", () => {
  const folders = ["src", "test", "bench", "docs", "client/src", "react-admin/src", "tools"];
  const paths = folders.flatMap((folder) => pathsBelow(folder).map((path) => `/${path}`));
  const pages = ["CONTRIBUTING.md", "docs/explanation/architecture.md", "docs/explanation/store.md"];
  const ofFolders = globSync("{src,console}/**/README.md", { exclude: ["**/node_modules"] });
  assert.ok(ofFolders.length > 8);
  for (const file of [...pages, ...ofFolders])
    for (const { value } of nodesOf(readPage(file), "inlineCode")) {
      if (!/^[\w./-]+(?:\.ts|\/)$/.test(value)) continue;
      const end = `/${value.replace(/\/$/, "")}`;
      assert.ok(existsSync(value) || paths.some((path) => path.endsWith(end)), `${file}: ${value}`);
    }
});

test("the contributor's order of the rooms is the one that the code is held to", () => {
  const [, order = ""] = / {4}(errors < .+)/.exec(readPage("CONTRIBUTING.md").text) ?? [];
  const [, held = ""] =
    /"(program user-module about errors .+)"/.exec(readFileSync("test/rooms.test.ts", "utf8")) ?? [];
  const rooms = held.split(" ").filter((room) => existsSync(`src/${room}`) || existsSync(`src/${room}.ts`));
  assert.deepEqual(
    order.split(/ < |, /),
    rooms.filter((room) => !["program", "user-module", "about"].includes(room)),
  );
});

const guide = readPage("docs/how-to/postgres.md").text;

test("the guide to PostgreSQL says how many connections an instance opens", () => {
  const source = readFileSync("src/store/postgres/open-store.ts", "utf8");
  const [, quick, long] = /main: (\d+), slow: slowPlaces, long: (\d+)/.exec(source) ?? [];
  const slow = slowPlaces;
  for (const row of [`| ${quick} | reads and writes |`, `| ${slow} | lists `, `| ${long} | long work`])
    assert.ok(guide.includes(row), row);
  const sum = Number(quick) + Number(slow) + Number(long);
  assert.ok(guide.includes(`at least ${sum} for each thread of each instance`));
});

test("each error code in the pages on PostgreSQL has its status", () => {
  const { text } = readPage("docs/explanation/durability.md");
  const named = [...`${guide}\n${text}`.matchAll(/\b(\d{3}) `([A-Z_]+)`/g)];
  assert.ok(named.length > 5);
  for (const [found, status, code] of named)
    assert.equal(Number(status), problems[code as keyof typeof problems]?.status, found);
});

test("the store uses nothing that the guide to PostgreSQL says it does without", () => {
  const files = globSync("src/store/postgres/**/*.ts");
  const sql = files
    .map((file) => readFileSync(file, "utf8"))
    .join("\n")
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
  assert.ok(sql.length > 10_000);
  assert.doesNotMatch(
    sql,
    /advisory_(?!xact_)|create (or replace )?(function|trigger|extension)|\b(un)?listen |\bnotify |pg_notify/i,
  );
  assert.doesNotMatch(sql, /[`";]\s*set (?!local\b)[a-z_]+ (=|to)/i);
});

const results = resultsFileOf(readPage(performance).text) ?? "";

for (const each of pages)
  test(`${each} has the figures of the results file (npm run bench -- --document makes it)`, () => {
    const { text } = readPage(each);
    assert.equal(text, fillIn(text, readResults(results), results));
  });

test("the page about performance has no figure outside of the tables", () => {
  const typed = readPage(performance).text.replace(/<!-- figures: [a-z]+ -->[\s\S]*?<!-- end -->/g, "");
  assert.doesNotMatch(typed, /\d[\d,.]*\s*(requests? per second|requests?\/s|\/s\b|ms\b|MB\b|times\b)/);
});
