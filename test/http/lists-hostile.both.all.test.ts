import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { anyCharacter } from "../characters.ts";
import { type Service, startService } from "./service.ts";

let service: Service;
before(async () => {
  const properties = { title: { type: "string" }, views: { type: "integer" }, tags: { type: "array" } };
  service = await startService({
    collections: { topics: {}, posts: { id: "integer", search: ["title"], schema: { properties } } },
  });
  for (const collection of ["topics", "posts"])
    for (const views of [1, 2, 3])
      await service.create(collection, { title: `a${views}`, views, tags: ["x", views] });
});
after(() => service.stop());

const collection = fc.constantFrom("topics", "posts");
const name = fc.oneof(
  fc.constantFrom(
    "title",
    "views",
    "tags",
    "id",
    "author.name",
    "__proto__",
    'a"b',
    "a'b",
    "a[0]",
    "$.x",
    "é",
    "a]",
  ),
  fc.string({ unit: anyCharacter }),
);
const operator = fc.constantFrom(
  ...["", ":eq", ":ne", ":gt", ":gte", ":lt", ":lte", ":in", ":nin", ":contains", ":startsWith", ":endsWith"],
  ...[":exists", "_ne", "_gt", "_like", ":foo"],
);
const value = fc.oneof(
  fc.constantFrom(
    "1",
    "a",
    "true",
    "null",
    "1e999",
    "1e308",
    "-0",
    "%",
    "_",
    "'",
    '";--',
    "\\",
    "x,y",
    "😀",
    "99999999999999999999",
  ),
  fc.string({ unit: anyCharacter }),
);
const encode = (text: string) => encodeURIComponent(text.toWellFormed());
const byAttribute = fc.tuple(name, operator, value).map(([n, o, v]) => `${encode(n)}${o}=${encode(v)}`);
const scalar = fc.oneof(
  value,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const filter = fc
  .letrec((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(name, scalar).map(([n, v]) => ({ [n]: v })),
      fc.tuple(name, fc.array(scalar, { maxLength: 3 })).map(([n, v]) => ({ [n]: v })),
      fc.tuple(name, operator, scalar).map(([n, o, v]) => ({ [n]: { [o.slice(1)]: v } })),
      fc
        .tuple(fc.constantFrom("and", "or"), fc.array(tie("filter"), { maxLength: 3 }))
        .map(([n, v]) => ({ [n]: v })),
      tie("filter").map((inner) => ({ not: inner })),
    ),
  }))
  .filter.map((each) => `filter=${encode(JSON.stringify(each))}`);
const sort = fc.tuple(fc.constantFrom("", "-"), name).map(([sign, n]) => `sort=${sign}${encode(n)}`);
const rest = fc.constantFrom(
  "q=a",
  "limit=2",
  "offset=1",
  "_page=1",
  "fields=title",
  "envelope=true",
  "count=exact",
  "range=[0,1]",
);
const query = fc
  .array(fc.oneof(byAttribute, filter, sort, rest), { maxLength: 4 })
  .map((parts) => parts.join("&"));

describe("a list that is asked for in any way", () => {
  // `send` fails a test that gets a 5xx.
  test("is a list or a 400 with violations", async () => {
    await fc.assert(
      fc.asyncProperty(collection, query, async (of, text) => {
        const answer = await service.send({ path: `/api/v1/${of}?${text}` });
        assert.ok(answer.status === 200 || answer.status === 400, `${answer.status}`);
        if (answer.status === 400)
          assert.ok((answer.json as { violations: unknown[] }).violations.length > 0);
      }),
      { numRuns: 1500 },
    );
  });
});
