import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { operators } from "../../src/query/operators.ts";
import { listParameters } from "../../src/query/parameters.ts";
import { type Service, startService } from "./service.ts";

const reference = readFileSync("docs/reference/lists.md", "utf8");
const section = (title: string) => reference.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
const cellsOf = (text: string) =>
  [...text.matchAll(/^\| (`.+?) \| (.+) \|$/gm)].map(([, left = "", right = ""]) => [left, right] as const);

test("the reference of lists has every parameter, and no other", () => {
  const listed = cellsOf(section("Parameters")).flatMap(([names]) => names.split(", "));
  const known = listParameters.map((name) => `\`${name}\``);
  assert.deepEqual(new Set(listed.filter((name) => !name.includes("<"))), new Set(known));
});

test("the reference of lists has every operator with its meaning, and no other", () => {
  const known = Object.entries(operators).map(([name, { meaning }]) => [`\`${name}\``, meaning]);
  assert.deepEqual(cellsOf(section("Operators")), known);
});

describe("the reference of lists, as an example says,", () => {
  const examples = section("Examples");
  let service: Service;
  before(async () => {
    service = await startService({ collections: { topics: { search: ["title"] } } });
    const [, resources = ""] = /```json\n([\s\S]+?)```/.exec(examples) ?? [];
    for (const each of JSON.parse(resources) as Record<string, unknown>[])
      await service.create("topics", each);
  });
  after(() => service.stop());

  const tried = cellsOf(examples).map(([query, titles]) => [query.slice(1, -1), titles.split(", ")] as const);
  assert.ok(tried.length > 20);
  for (const [query, titles] of tried)
    test(`finds ${titles.join(", ")} by ${query}`, async () => {
      const answer = await service.send({
        path: `/api/v1/topics?${encodeURI(query).replaceAll("%2525", "%25")}`,
      });
      assert.equal(answer.status, 200, answer.text);
      const found = (answer.json as { title: string }[]).map(({ title }) => title.split(/[ ,]/)[0]);
      assert.deepEqual(found, titles);
    });

  test("refuses a misspelled operator with the violation that is shown", async () => {
    const [, shown = ""] = /```json\n(\{ "in".+)\n```/.exec(reference) ?? [];
    const answer = await service.send({ path: "/api/v1/topics?title:contain=x" });
    assert.deepEqual((answer.json as { violations: unknown[] }).violations, [JSON.parse(shown)]);
  });
});
