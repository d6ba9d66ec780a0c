import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { check, links } from "./check.ts";
import { allPages } from "./pages.ts";
import { type Answer, type Service, startService } from "./service.ts";

let service: Service;
before(async () => {
  service = await startService();
  for (let n = 0; n < 17; n++) {
    const rest = n % 3 === 0 ? {} : { tag: ["é", 'a "b"', "a,b & c", "100%"][n % 4] };
    await service.create("topics", { n, even: n % 2 === 0, deep: { m: n % 5 }, ...rest });
  }
});
after(() => service.stop());

const list = "/api/v1/topics";

const pairs = (values: readonly string[]) => fc.subarray([...values], { maxLength: 2 });
const filters = pairs([
  "even=true",
  "n:gte=3",
  "n_lt=15",
  "deep.m=1&deep.m=2",
  "tag=%C3%A9",
  "tag:contains=%2C",
  "tag:ne=a%20%22b%22",
  "tag=100%25",
  'filter={"or":[{"n":{"lt":9}},{"tag":null}]}',
  "filter=%7B%22not%22%3A%7B%22even%22%3Atrue%7D%7D",
]);
const rest = pairs([
  "sort=-even,n",
  "_sort=deep.m&_order=desc",
  'sort=["n","DESC"]',
  "fields=n,tag",
  "count=exact",
]);
const pages = fc.constantFrom(
  ...["", "limit=3", "limit=4&offset=0", "offset=5&limit=4", "_start=2&_end=6", "_page=2&_limit=4"],
  ...["range=[0,4]", "range=%5B3,7%5D", "offset=30", "limit=2&offset=16"],
);
const queries = fc
  .tuple(filters, rest, pages)
  .chain(([a, b, page]) => fc.shuffledSubarray([...a, ...b, page], { minLength: a.length + b.length + 1 }))
  .map((parameters) => parameters.filter((each) => each !== "").join("&"));

function ids(answer: Answer): string[] {
  return (answer.json as { id: string }[]).map(({ id }) => id);
}

const walk = (path: string, relation: "next" | "prev") =>
  allPages(service.send, path, { relation, most: 29 });

test("from every page of any list, links lead to the rest of that list", async () => {
  await fc.assert(
    fc.asyncProperty(queries, async (query) => {
      const answer = await service.send({ path: `${list}?${query.replaceAll(" ", "%20")}` });
      // Two spellings of a sort or a filter in one request are refused.
      fc.pre(answer.status !== 400);
      const { first = "", last, prev } = links(answer);
      const pagesFromFirst = await walk(first, "next");
      const all = pagesFromFirst.flatMap(ids);
      assert.equal(new Set(all).size, all.length, "nothing twice");
      const total = answer.headers["x-total-count"];
      if (total !== undefined) assert.equal(all.length, Number(total));
      const range = /^topics (\d+)-(\d+)\//.exec(answer.headers["content-range"] ?? "");
      if (range !== null) assert.deepEqual(ids(answer), all.slice(Number(range[1]), Number(range[2]) + 1));
      if (last !== undefined && all.length > 0) {
        assert.equal(ids((await walk(last, "next"))[0] as Answer).at(-1), all.at(-1));
      }
      if (prev !== undefined && all.length > 0)
        assert.ok((await walk(prev, "prev")).flatMap(ids).includes(all[0] ?? ""));
    }),
    { numRuns: 150 },
  );
});

const contents = fc.record(
  {
    filter: fc.constantFrom<unknown>(
      ...[
        { even: true },
        { n: [1, 2, "3"] },
        { "deep.m": { gte: 2 } },
        { tag: 'a "b"' },
        { tag: { ne: "é" } },
      ],
      ...[{ or: [{ n: { lt: 5 } }, { not: { even: true } }] }, { tag: null }, {}, { n: { in: [4, 5] } }],
    ),
    sort: fc.subarray(["-even", "n", "-deep.m"]).filter(({ length }) => length > 0),
    limit: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constant("max")),
    offset: fc.integer({ min: 0, max: 20 }),
    fields: fc.subarray(["n", "tag", "missing"], { minLength: 1 }),
    count: fc.constantFrom("exact", "none"),
    envelope: fc.boolean(),
  },
  { requiredKeys: [] },
);

test("any QUERY is answered as the GET at its Location", async () => {
  await fc.assert(
    fc.asyncProperty(contents, async (content) => {
      const answer = await service.send({ method: "QUERY", path: list, content });
      assert.equal(answer.status, 200, answer.text);
      const get = await service.send({ path: answer.headers.location ?? "" });
      check(get, { status: 200 });
      assert.equal(get.text, answer.text);
      for (const name of ["link", "x-total-count", "content-range", "content-type", "accept-query"])
        assert.equal(get.headers[name], answer.headers[name], name);
    }),
    { numRuns: 150 },
  );
});
