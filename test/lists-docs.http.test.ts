/** The references of lists and of filters: their examples are run in order against a service, and their tables held against the code. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { after, before, describe, test } from "node:test";
import { type CollectionDeclaration, defineCollection } from "../src/collection/declaration.ts";
import type { Problem } from "../src/errors.ts";
import { matches, ownFilter } from "../src/query/filter.ts";
import { listParameters } from "../src/query/list-parameters.ts";
import { defaultPageSize } from "../src/query/list-request.ts";
import { legacySuffixes, operators } from "../src/query/operators.ts";
import { parseList } from "../src/query/query-string.ts";
import { filterLimits } from "../src/query/reading.ts";
import { ownSort } from "../src/query/sort.ts";
import { accessPathOf } from "../src/store/core/access-path.ts";
import { type Answer, type Request, type Service, startService } from "./http/service.ts";

const reference = ["lists", "filters"]
  .map((page) => readFileSync(`docs/reference/${page}.md`, "utf8"))
  .join("\n");
const { collections } = JSON.parse(blockOf("json")) as {
  collections: Record<string, CollectionDeclaration>;
};
const list = "/api/v1/books";

/** What stands in the one block of a language. */
function blockOf(language: string): string {
  const blocks = [...reference.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))];
  assert.equal(blocks.length, 1, `${blocks.length} blocks of ${language}`);
  return blocks[0]?.[1] ?? "";
}

/** The cells of the table with this head, without backticks around the first. */
function tableOf(head: string): [first: string, ...others: string[]][] {
  const [, text = ""] = reference.split(`\n| ${head} |\n`);
  const lines = text.split("\n").slice(1);
  const end = lines.findIndex((line) => !line.startsWith("|"));
  const found = lines.slice(0, end).map((line): [string, ...string[]] => {
    const [first = "", ...others] = line.slice(2, -2).split(" | ");
    return [first.replace(/^`(.*)`$/, "$1"), ...others];
  });
  assert.ok(found.length > 0, `a table with the head ${head}`);
  return found;
}

async function startWithBooks(limits: { queryMs?: number } = {}): Promise<Service> {
  const service = await startService({ collections, limits });
  for (const line of blockOf("ndjson").trim().split("\n"))
    await service.create("books", JSON.parse(line) as Record<string, unknown>);
  return service;
}

describe("the references of lists and of filters", () => {
  test("has every parameter, and no other", () => {
    const listed = tableOf("parameter | description").map(([name]) => name);
    assert.deepEqual([...listed].sort(), [...listParameters].sort());
  });

  test("has the same text about other servers' parameters as the refusals", async () => {
    const [name, declaration] = Object.entries(collections)[0] ?? [];
    const books = await defineCollection(String(name), declaration ?? {});
    for (const [elsewhere, cell = ""] of tableOf("elsewhere | here")) {
      const here = cell.replaceAll("`", "");
      assert.throws(
        () => parseList(elsewhere, books, 1000),
        (error: Problem) =>
          error.violations.some(({ detail }) => detail.includes(`Write ${JSON.stringify(here)}`)),
        elsewhere,
      );
      parseList(here, books, 1000);
    }
  });

  test("has every operator as the code knows it, and no other", () => {
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
      return [name, ending, taken[takes], collects ? "yes" : "no", meaning];
    });
    const head = "operator | suffix | value | repeatable | matches if the attribute";
    assert.deepEqual(tableOf(head), known);
  });

  test("tells rightly what is found without regard to case, accents and width", async () => {
    const things = await defineCollection("things", {});
    for (const [query, ...cells] of tableOf("query string | finds | does not find")) {
      const { filter } = parseList(encodeURI(query), things, 1_000);
      for (const [n, cell] of cells.entries())
        for (const [, text = ""] of cell.matchAll(/`(.*?)`/g)) {
          const value: unknown = text.startsWith("[") ? JSON.parse(text) : text;
          const found = matches(ownFilter(filter ?? { kind: "and", filters: [] }), {
            name: value,
            tags: value,
          });
          assert.equal(found, n === 0, `${query}: ${text}`);
        }
    }
  });

  test("tells the bounds that there are", () => {
    const bounds = Object.fromEntries(tableOf("what | at most"));
    assert.equal(bounds["conditions of a filter"], filterLimits.conditions.toLocaleString("en"));
    assert.equal(bounds["groups of a filter (`and`, `or`, `not`)"], String(filterLimits.groups));
    assert.equal(bounds["values of a filter"], filterLimits.values.toLocaleString("en"));
    assert.equal(bounds["levels of `filter`"], String(filterLimits.depth));
    assert.match(reference, new RegExp(`resources on a page: ${defaultPageSize} by default`));
  });

  test("says rightly which lists an index serves", async () => {
    const books = await defineCollection("books", collections.books ?? {});
    for (const [query, served] of tableOf("query string | index used")) {
      const { filter, sort } = parseList(query, books, 1_000);
      const isServed =
        accessPathOf({ ...(filter && { filter: ownFilter(filter) }), sort: ownSort(sort) }, books.indexes) !==
        undefined;
      assert.equal(served?.split(":")[0], isServed ? "yes" : "no", query);
    }
  });
});

describe("the references of lists and of filters, by their tables,", () => {
  let service: Service;
  before(async () => {
    service = await startWithBooks();
  });
  after(() => service.stop());

  for (const [query, ids] of tableOf("query string | ids | which books"))
    test(`finds ${ids} by ${query}`, async () => {
      const answer = await service.send({ path: `${list}?${query}` });
      assert.equal(answer.status, 200, answer.text);
      assert.equal((answer.json as { id: number }[]).map(({ id }) => id).join(", "), ids);
    });

  for (const [query, message] of tableOf("query string | message"))
    test(`refuses ${query}`, async () => {
      const answer = await service.send({ path: `${list}?${query}` });
      assert.equal(answer.status, 400);
      assert.equal((answer.json as { message: string }).message, message);
    });

  test("knows every member of the content of QUERY, and no other", async () => {
    const answer = await service.send({ method: "QUERY", path: list, content: { unknown: 1 } });
    const members = tableOf("member | value").map(([name]) => name);
    assert.match((answer.json as { message: string }).message, new RegExp(` ${members.join(", ")}\\.$`));
  });
});

interface Example {
  request: Request;
  limits: { queryMs?: number };
  status: string;
  headers: [name: string, value: string][];
  body: string;
}

/** The examples in their order: a request, and from the line that begins with `HTTP/1.1` on, its answer. */
function readExamples(): Example[] {
  const blocks = [...reference.matchAll(/^```http(?: queryMs=([0-9]+))?\n(.*?)^```$/gms)];
  return blocks.map(([, queryMs, text = ""]) => {
    const [asked = "", answered = ""] = text.split("\nHTTP/1.1 ");
    const { first, headers, body } = readMessage(asked);
    const [method = "", path = ""] = first.split(" ");
    const answer = readMessage(answered);
    return {
      request: { method, path, headers: Object.fromEntries(headers), ...(body === "" ? {} : { body }) },
      limits: queryMs === undefined ? {} : { queryMs: Number(queryMs) },
      status: answer.first,
      headers: answer.headers,
      body: answer.body,
    };
  });
}

/** A value that is too long for a line continues, indented, on the next line. */
function readMessage(text: string): { first: string; headers: [string, string][]; body: string } {
  const [head = "", ...rest] = text.split("\n\n");
  const [first = "", ...lines] = head.replaceAll(/\n +/g, " ").trim().split("\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return { first, headers, body: rest.join("\n\n").trim() };
}

/** The names of cursors and positions in the examples, and their values. */
class Cursors {
  readonly #known = new Map<string, string>();

  /** Learns the names of cursors that are new, and puts the cursors in the place of their names. */
  fill(text: string, actual: string): string {
    const found = [...actual.matchAll(cursor)].map(([, , value = ""]) => value);
    let n = 0;
    return text.replace(cursor, (_, parameter: string, name: string) => {
      const value = this.#known.get(name) ?? found[n] ?? name;
      n++;
      this.#known.set(name, value);
      return `${parameter}=${value}`;
    });
  }
}

const cursor = /\b(cursor|since)=([\w-]+)/g;

/** The text of a body as the examples show it: white space between the parts of JSON is theirs. */
function shownBody({ headers, text }: Answer, body: string): [actual: string, expected: string] {
  if (!headers["content-type"]?.startsWith("application/json"))
    return [text.trimEnd().replaceAll("\r\n", "\n"), body];
  const actual = text.replace(/urn:uuid:[0-9a-f-]{36}/, "urn:uuid:…");
  return [actual, JSON.stringify(JSON.parse(body))];
}

describe("the examples of the references of lists and of filters", () => {
  const examples = readExamples();
  assert.ok(examples.length > 20, `${examples.length} examples`);
  const cursors = new Cursors();
  let service: Service;
  before(async () => {
    service = await startWithBooks();
  });
  after(() => service.stop());

  // One after the other: some need what those before them did.
  for (const { request, limits, status, headers, body } of examples)
    test(`${request.method} ${request.path} is answered as it stands there`, async (t) => {
      const isOther = Object.keys(limits).length > 0;
      const asked = isOther ? await startWithBooks(limits) : service;
      if (isOther) t.after(() => asked.stop());
      const path = cursors.fill(request.path, "");
      const answer = await asked.send({ ...request, path }, { mayFail: true });
      assert.equal(`${answer.status} ${STATUS_CODES[answer.status]}`, status, answer.text);
      for (const [name, value] of headers) {
        const actual = answer.headers[name.toLowerCase()] ?? "";
        assert.equal(actual, cursors.fill(value, actual), name);
      }
      const [actual, expected] = shownBody(answer, body);
      assert.equal(actual, expected);
    });
});
