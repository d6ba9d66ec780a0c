/** The filters of a list as JSON match what they match in the query string of the list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { operators, readListQuery } from "../../console/src/list/list-query.ts";
import { selectionOf } from "../../console/src/list/selections.ts";
import { openCollection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import { type Filter, matches } from "../../src/query/filter.ts";
import { parseList } from "../../src/query/query-string.ts";

const text = { type: "string" };
const schema = {
  type: "object",
  properties: {
    title: text,
    note: { type: ["string", "null"] },
    views: { type: "integer" },
    open: { type: "boolean" },
    status: { enum: ["draft", "5", 5, null] },
    day: { type: "string", format: "date" },
    at: { type: ["integer", "null"], format: "unix-millis" },
    price: { type: ["string", "null"], format: "decimal" },
    tags: { type: "array", items: text },
    sizes: { type: "array", items: { type: "number" } },
    mixed: { type: ["string", "array"] },
    author: { type: "object", properties: { name: text, age: { type: "number" } } },
    lines: {
      type: "array",
      items: { type: "object", properties: { sku: text, qty: { type: "integer" } } },
    },
    whatever: true,
  },
};
const declared = await defineCollection("orders", { schema, timestamps: true });
const open = openCollection("orders");
const infos = {
  declared: { schema, relations: [], timestamps: true },
  open: { schema: null, relations: [], timestamps: false },
};
const names = [
  ...["id", "createdAt", "author.name", "author.age", "lines.sku", "lines.qty", "first_name", "unknown"],
  ...Object.keys(schema.properties),
];
const texts = [
  "5",
  "5.0",
  "true",
  "null",
  "draft",
  "Äpfel",
  "apfel",
  "2026-01-31",
  "1769817600000",
  "a,5",
  "",
];

const values = [
  ...texts,
  5,
  -1,
  1_769_817_600_000,
  true,
  null,
  ["5", "draft"],
  [5, 7],
  { name: "5", age: 5 },
];
const resources = names.flatMap((name) =>
  values.flatMap((value) => {
    const [first = "", second] = name.split(".");
    if (second === undefined) return [{ id: "1", [first]: value }];
    return [
      { id: "1", [first]: { [second]: value } },
      { id: "5", [first]: [{ [second]: value }, { sku: "A" }] },
    ];
  }),
);

const everything: Filter = { kind: "and", filters: [] };

const conditions = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...operators))
  .chain(([name, operator]) =>
    fc.record({
      parameter: fc.constant(`${name}:${operator}`),
      value:
        operator === "any"
          ? fc.constantFrom('{"sku":"A"}', '{"qty":{"gte":5}}')
          : operator === "exists"
            ? fc.constantFrom("true", "false")
            : fc.constantFrom(...texts),
    }),
  );
const queries = fc
  .tuple(fc.array(conditions, { minLength: 1, maxLength: 3 }), fc.constantFrom("", '{"views":{"gt":1}}'))
  .map(([all, filter]) => {
    const query = new URLSearchParams();
    for (const { parameter, value } of all) query.append(parameter, value);
    if (filter !== "") query.append("filter", filter);
    return query.toString();
  });

for (const [kind, collection] of Object.entries({ declared, open })) {
  const info = infos[kind as keyof typeof infos] as never;
  const parse = (query: string) => (parseList(query, collection, 1_000).filter ?? everything) as Filter;
  const valid = resources.filter(({ id: _, ...attributes }) => collection.validate(attributes).length === 0);
  const found = (filter: Filter) => valid.filter((each) => matches(filter, each));

  test(`the filters of a list match the same resources in JSON, in a collection that is ${kind}`, () => {
    let compared = 0;
    const check = (query: string) => {
      let expected: Filter;
      try {
        expected = parse(query);
      } catch {
        return; // the list shows what is wrong with it
      }
      const selection = selectionOf(readListQuery(query), { info, infoOf: () => undefined });
      if (selection === undefined || !("filter" in selection)) return;
      const json = new URLSearchParams({ filter: JSON.stringify(selection.filter) }).toString();
      assert.deepEqual(found(parse(json)), found(expected), JSON.stringify(selection));
      compared++;
    };
    fc.assert(fc.property(queries, check), { numRuns: 2_000 });
    for (const name of names)
      for (const operator of operators)
        for (const value of texts) check(new URLSearchParams([[`${name}:${operator}`, value]]).toString());
    assert.ok(compared > 1_000, `only ${compared} filters were compared`);
    assert.ok(valid.length > 50, `only ${valid.length} resources were compared`);
  });
}

test("a list without filters selects everything, and what JSON cannot say selects nothing", () => {
  const known = { info: infos.declared as never, infoOf: () => undefined };
  const selected = (query: string) => selectionOf(readListQuery(query), known);
  assert.deepEqual(selected(""), { all: true });
  assert.deepEqual(selected("sort=-views"), { all: true });
  for (const query of ["q=sea", "views_gte=5", "or:eq=5", "filter={", "lines:any=no"])
    assert.equal(selected(query), undefined, query);
});

test("a related attribute has the type that its own collection declares", () => {
  const relations = [
    { name: "author", kind: "reference", collection: "authors", attribute: "authorId", list: false },
  ];
  const authors = { schema: { properties: { age: { type: "integer" } } }, relations: [] };
  const known = { info: { schema: null, relations } as never, infoOf: () => authors as never };
  const selected = (query: string) => selectionOf(readListQuery(query), known);
  assert.deepEqual(selected("author.age=5"), { filter: { "author.age": { in: [5] } } });
  assert.deepEqual(selected("author.name=5"), { filter: { "author.name": { in: ["5", 5] } } });
});
