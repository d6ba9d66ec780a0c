/** Figures of lists over HTTP: the two syntaxes, the formats, the pages of groups, and what is refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { listParameters } from "../../src/query/list-parameters.ts";
import { check, links } from "./check.ts";
import { allPages } from "./pages.ts";
import { type Answer, jsonType, startServiceForFile } from "./service.ts";

const schema = {
  properties: {
    status: { type: ["string", "null"] },
    total: { type: "number" },
    placedAt: { type: "string", format: "date-time" },
    count: { type: "integer" },
    items: { type: "array", items: { type: "string" } },
    customer: { properties: { name: { type: "string" } } },
  },
};

const orders = [
  { status: "open", total: 10, placedAt: "2026-01-31T08:30:00.000Z", customer: { name: "Ann" } },
  { status: "open", total: 2.5, placedAt: "2026-02-01T00:00:00.000Z", customer: { name: "Bob" } },
  { status: "done", total: 4, placedAt: "2026-02-28T23:59:59.999Z", count: 3 },
  { status: null, total: -1, count: 3 },
  { total: 7 },
];

const service = await startServiceForFile({
  openCollections: true,
  collections: { orders: { schema, indexes: ["status"], search: ["customer.name"] } },
});
for (const order of orders) await service.create("orders", order);
for (const content of [{ a: 1 }, { a: "1" }, { a: true }, { a: [1] }, { a: null }, {}, { a: 1 }])
  await service.create("things", content);

const path = "/api/v1/orders";
const get = (query: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service.send({ path: `${path}?${query}`, headers });
const query = (content: unknown): Promise<Answer> => service.send({ method: "QUERY", path, content });

describe("figures", () => {
  test("of the whole list are one group", async () => {
    const answer = await get(
      "aggregate=count,sum(total),avg(total),min(placedAt),max(placedAt),min(status),max(total)",
    );
    check(answer, {
      status: 200,
      headers: {
        "Content-Type": jsonType,
        ETag: /^W\/"5-/,
        "Page-Limit": "100",
        "X-Total-Count": "1",
        Link: undefined,
        "Content-Range": undefined,
      },
      json: [
        {
          count: 5,
          "sum(total)": 22.5,
          "avg(total)": 4.5,
          "min(placedAt)": "2026-01-31T08:30:00.000Z",
          "max(placedAt)": "2026-02-28T23:59:59.999Z",
          "min(status)": "done",
          "max(total)": 10,
        },
      ],
    });
  });

  test("of an empty list are 0 and null, and no group has none", async () => {
    check(await get("status=lost&aggregate=count,sum(total),avg(total),max(total)"), {
      status: 200,
      json: [{ count: 0, "sum(total)": 0, "avg(total)": null, "max(total)": null }],
    });
    check(await get("status=lost&aggregate=count&group=status"), { status: 200, json: [] });
  });

  test("of groups come in the order of the groups, null and absent apart", async () => {
    check(await get("aggregate=count,sum(total)&group=status"), {
      status: 200,
      headers: { "X-Total-Count": "4" },
      json: [
        { count: 1, "sum(total)": 7 },
        { status: null, count: 1, "sum(total)": -1 },
        { status: "done", count: 1, "sum(total)": 4 },
        { status: "open", count: 2, "sum(total)": 12.5 },
      ],
    });
  });

  test("of dates are by UTC, and what is no date is null", async () => {
    check(await get("aggregate=count&group=placedAt:month"), {
      status: 200,
      json: [
        { "placedAt:month": null, count: 2 },
        { "placedAt:month": "2026-01", count: 1 },
        { "placedAt:month": "2026-02", count: 2 },
      ],
    });
    const hours = (await get("aggregate=count&group=placedAt:hour&placedAt:exists=true")).json;
    assert.deepEqual(
      (hours as Record<string, unknown>[]).map((each) => each["placedAt:hour"]),
      ["2026-01-31T08", "2026-02-01T00", "2026-02-28T23"],
    );
  });

  test("of several keys, with a nested one, sorted by a figure", async () => {
    check(await get("aggregate=max(total)&group=customer.name,status&sort=-max(total)&limit=2"), {
      status: 200,
      json: [{ "customer.name": "Ann", status: "open", "max(total)": 10 }, { "max(total)": 7 }],
    });
  });

  test("with distinct are values and their counts", async () => {
    check(await get("distinct=status&sort=-count,status&limit=1"), {
      status: 200,
      json: [{ status: "open", count: 2 }],
    });
    check(await get("distinct=placedAt:year"), {
      status: 200,
      json: [
        { "placedAt:year": null, count: 2 },
        { "placedAt:year": "2026", count: 3 },
      ],
    });
  });

  test("take filters and searches of lists", async () => {
    const filter = encodeURIComponent('{"or":[{"status":"done"},{"total":{"lt":0}}]}');
    check(await get(`aggregate=count&total:lte=4&filter=${filter}`), { status: 200, json: [{ count: 2 }] });
    check(await get("aggregate=count&q=ann"), { status: 200, json: [{ count: 1 }] });
    check(await get("%61ggregate=count&status:in=open,done"), { status: 200, json: [{ count: 3 }] });
  });

  test("of an attribute named count", async () => {
    check(await get("group=count&aggregate=count()&count:exists=true"), {
      status: 200,
      json: [{ count: 3, "count()": 2 }],
    });
  });

  test("of resources with any shape", async () => {
    check(await service.send({ path: "/api/v1/things?distinct=a" }), {
      status: 200,
      json: [
        { count: 1 },
        { a: null, count: 1 },
        { a: true, count: 1 },
        { a: 1, count: 2 },
        { a: "1", count: 1 },
        { a: [1], count: 1 },
      ],
    });
    check(await service.send({ path: "/api/v1/things?aggregate=sum(a),avg(a),min(a),max(a)" }), {
      status: 200,
      json: [{ "sum(a)": 2, "avg(a)": 1, "min(a)": true, "max(a)": "1" }],
    });
    check(await service.send({ path: "/api/v1/unseen?aggregate=count" }), {
      status: 200,
      json: [{ count: 0 }],
    });
  });
});

describe("groups that were cut", () => {
  test("have a next link until the last, which has their number", async () => {
    const answers = await allPages(service.send, `${path}?aggregate=count&group=status&limit=3`);
    const seen = answers.flatMap(({ json }) => json as unknown[]);
    assert.deepEqual(seen, (await get("aggregate=count&group=status")).json);
    const first = `${path}?aggregate=count&group=status&limit=3&offset=0`;
    assert.deepEqual(
      answers.map((each) => [each.headers["x-total-count"], links(each)]),
      [
        [undefined, { next: `${path}?aggregate=count&group=status&limit=3&offset=3`, first }],
        ["4", { prev: first, first }],
      ],
    );
  });

  test("are at most a page", async () => {
    check(await get("distinct=status&limit=max"), { status: 200, headers: { "Page-Limit": "1000" } });
    check(await get("distinct=status&_page=2&_per_page=3"), {
      status: 200,
      json: [{ status: "open", count: 2 }],
    });
    check(await get("distinct=status&offset=9"), {
      status: 200,
      headers: { "X-Total-Count": undefined },
      json: [],
    });
  });
});

describe("the formats of figures", () => {
  test("CSV has a column for each key and figure", async () => {
    const answer = await get("aggregate=count,min(placedAt)&group=status", { Accept: "text/csv" });
    check(answer, { status: 200, headers: { "Content-Type": "text/csv; charset=utf-8; header=present" } });
    assert.equal(
      answer.text,
      [
        "status,count,min(placedAt)",
        ",1,null",
        "null,1,null",
        "done,1,2026-02-28T23:59:59.999Z",
        "open,2,2026-01-31T08:30:00.000Z",
        "",
      ].join("\r\n"),
    );
  });

  test("NDJSON has a line for each group", async () => {
    const answer = await get("distinct=total&limit=2", { Accept: "application/x-ndjson" });
    check(answer, { status: 200, headers: { "Content-Type": "application/x-ndjson; charset=utf-8" } });
    assert.equal(answer.text, '{"total":-1,"count":1}\n{"total":2.5,"count":1}\n');
  });

  test("HEAD has the headers of GET", async () => {
    const asked = "distinct=status";
    const { headers } = await get(asked);
    const head = await service.send({ method: "HEAD", path: `${path}?${asked}` });
    check(head, {
      status: 200,
      headers: { ETag: headers.etag, "Content-Length": headers["content-length"] },
    });
  });
});

describe("QUERY", () => {
  test("answers as GET does at its Location", async () => {
    const answer = await query({
      filter: { total: { gte: 0 } },
      aggregate: ["count", "sum(total)"],
      group: ["placedAt:month"],
      sort: ["-sum(total)"],
      limit: 2,
    });
    check(answer, {
      status: 200,
      json: [
        { "placedAt:month": "2026-01", count: 1, "sum(total)": 10 },
        { "placedAt:month": null, count: 1, "sum(total)": 7 },
      ],
    });
    const equal = await service.send({ path: answer.headers.location ?? "" });
    check(equal, { status: 200, headers: { Link: answer.headers.link } });
    assert.equal(equal.text, answer.text);
    check(await query({ distinct: ["status"], limit: 1 }), { status: 200, json: [{ count: 1 }] });
  });

  test("refuses what is not an array of strings", async () => {
    for (const [content, pointer] of [
      [{ aggregate: "count" }, "#/aggregate"],
      [{ aggregate: [] }, "#/aggregate"],
      [{ distinct: [] }, "#/distinct"],
      [{ aggregate: ["count"], group: [1] }, "#/group"],
      [{ aggregate: ["count"], cursor: "x" }, "#/cursor"],
      [{ aggregate: ["count"], fields: ["status"] }, "#/fields"],
      [{ aggregate: ["count"], grup: ["status"] }, "#/grup"],
    ] as const)
      check(await query(content), { status: 400, problem: "INVALID_PARAMETER", violations: [{ pointer }] });
  });
});

describe("the ETag of figures", () => {
  test("is weak, differs by format, and gives 304 until the collection changes", async () => {
    const asked = "aggregate=sum(total)";
    const { headers } = await get(asked);
    const etag = headers.etag ?? "";
    assert.notEqual((await get(asked, { Accept: "text/csv" })).headers.etag, etag);
    const unmodified = await get(asked, { "If-None-Match": etag });
    check(unmodified, { status: 304, headers: { ETag: etag } });
    check(await get(asked, { "If-Match": 'W/"other"' }), { status: 412, problem: "PRECONDITION_FAILED" });
    const made = await service.create("orders", { total: 0 });
    check(await get(asked, { "If-None-Match": etag }), { status: 200 });
    await service.send({ method: "DELETE", path: made.path });
  });
});

const refused: [asked: string, name: string, code: string, detail: RegExp][] = [
  ["group=status", "group", "figures", /needs "aggregate".*"count"/],
  ["distinct=status&group=status", "distinct", "figures", /together with "group"/],
  ["distinct=status&aggregate=count", "distinct", "figures", /together with "aggregate"/],
  ["aggregate=count&cursor=x", "cursor", "figures", /"offset"/],
  ["aggregate=count&fields=status", "fields", "figures", /"group" and "aggregate"/],
  ["aggregate=count&at=2026-01-31", "at", "figures", /about the present/],
  ["aggregate=count&envelope=true", "envelope", "figures", /always an array/],
  ["aggregate=count&count=exact", "count", "figures", /the figure "count"/],
  ["aggregate=count&_sort=count", "_sort", "figures", /Use "sort"/],
  ["aggregate=count&sort=status", "sort", "sort", /"status", but groups are sorted by.*The names are count/],
  ["aggregate=count&group=status&group=total", "group", "repeatedParameter", /only once/],
  ["aggregate=", "aggregate", "figure", /Figures are count, sum\(attribute\)/],
  ["aggregate=median(total)", "aggregate", "figure", /"median\(total\)", which is not a figure/],
  ["aggregate=count(total)", "aggregate", "figure", /exists=true/],
  ["aggregate=sum(totl)", "aggregate", "unknownAttribute", /Did you mean "total"/],
  [
    "aggregate=sum(status)",
    "aggregate",
    "figureType",
    /needs a number, but the attribute is always string or null/,
  ],
  ["aggregate=avg(items)", "aggregate", "figureType", /always array/],
  [
    "aggregate=count&group=total:month",
    "group",
    "figureType",
    /needs a string, but the attribute is always number/,
  ],
  ["aggregate=count&group=placedAt:decade", "group", "unit", /year, month, week, day, hour, minute/],
  ["aggregate=count&group=stats", "group", "unknownAttribute", /Did you mean "status"/],
  ["distinct=stats", "distinct", "unknownAttribute", /Did you mean "status"/],
  ["aggregate=count&group=status,status", "aggregate", "repeated", /two members with the name "status"/],
  ["distinct=count", "distinct", "repeated", /group=count&aggregate=count\(\)/],
  [`aggregate=count,${Array(10).fill("min(total)").join(",")}`, "aggregate", "tooMany", /at most 10 names/],
  ["aggregate=count&group=status,total,placedAt,items,customer,id", "group", "tooMany", /at most 5/],
  ["aggregate=count&limit=0", "limit", "limit", /from 1 to 1000/],
];

describe("a request for figures is refused:", () => {
  for (const [asked, name, code, detail] of refused)
    test(asked.slice(0, 60), async () => {
      const answer = await get(asked);
      check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ in: "query", name, code }] });
      const { violations } = answer.json as { violations: { detail: string }[] };
      assert.match(violations[0]?.detail ?? "", detail);
    });

  test("with any parameter that figures do not have", async () => {
    const paging = ["limit", "offset", "range", "_start", "_end", "_page", "_limit", "_per_page"];
    const known = [
      "aggregate",
      "group",
      "distinct",
      "filter",
      "q",
      "timezone",
      "sort",
      "bom",
      "delimiter",
      ...paging,
    ];
    for (const name of listParameters.filter((each) => !known.includes(each))) {
      const { json } = await get(`aggregate=count&${name}=1`);
      const { violations } = json as { violations: { name: string; detail: string }[] };
      assert.match(
        violations.find((each) => each.name === name)?.detail ?? "",
        /together with figures/,
        name,
      );
    }
    // An unknown member of a body is refused as in lists.
    check(await query({ aggregate: ["count"], agregate: [] }), {
      status: 400,
      violations: [{ pointer: "#/agregate" }],
    });
  });

  test("where no list is", async () => {
    const made = await service.create("orders", { total: 0 });
    for (const target of [made.path, `${path}/_events`]) {
      const answer = await service.send({ path: `${target}?aggregate=count` });
      check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ name: "aggregate" }] });
    }
    await service.send({ method: "DELETE", path: made.path });
  });

  test("but an attribute with the name of a parameter can still be a filter", async () => {
    check(await service.send({ path: "/api/v1/things?group:eq=1&distinct:exists=false" }), {
      status: 200,
      json: [],
    });
  });
});
