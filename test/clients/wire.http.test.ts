/** The recorded requests of the clients, and the responses that they need in a browser. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { modes, type Topic, useFixture } from "./fixture.ts";

const titles = (topics: readonly Topic[]) => topics.map(({ title }) => title.replace("Topic ", "")).join("");

interface Recorded {
  who: string;
  /** `ID-a` and `ID-c` are placeholders for the ids of these topics. */
  query: string;
  headers?: Readonly<Record<string, string>>;
  expected: string;
  contentRange?: string;
  total?: string;
}

const filterOf = (filter: object) => `filter=${encodeURIComponent(JSON.stringify(filter))}`;

const recorded: readonly Recorded[] = [
  {
    who: "ra-data-simple-rest, getList",
    query: `${filterOf({ title_like: "topic", views_gte: 30 })}&range=%5B0%2C3%5D&sort=%5B%22title%22%2C%22ASC%22%5D`,
    headers: { Accept: "*/*", Range: "topics=0-3" },
    expected: "defg",
    contentRange: "topics 0-3/9",
    total: "9",
  },
  {
    who: "ra-data-simple-rest, getList without a filter",
    query: `${filterOf({})}&range=%5B10%2C19%5D&sort=%5B%22id%22%2C%22ASC%22%5D`,
    headers: { Accept: "*/*", Range: "topics=10-19" },
    expected: "kl",
    contentRange: "topics 10-11/12",
    total: "12",
  },
  {
    who: "ra-data-simple-rest, getList of nothing",
    query: `${filterOf({ title: "none" })}&range=%5B0%2C9%5D&sort=%5B%22id%22%2C%22DESC%22%5D`,
    headers: { Accept: "*/*", Range: "topics=0-9" },
    expected: "",
    contentRange: "topics */0",
    total: "0",
  },
  { who: "ra-data-simple-rest, getMany", query: filterOf({ id: ["ID-a", "ID-c"] }), expected: "ac" },
  {
    who: "ra-data-json-server, getList",
    query: "_end=3&_order=ASC&_sort=title&_start=0&title_like=TOPIC&views_gte=30",
    headers: { Accept: "application/json" },
    expected: "def",
    contentRange: "topics 0-2/9",
    total: "9",
  },
  {
    who: "ra-data-json-server, getMany",
    query: "id=ID-a&id=ID-c",
    headers: { Accept: "application/json" },
    expected: "ac",
  },
  {
    who: "refine, getList",
    query: "_end=10&_order=desc,asc&_sort=title,id&_start=0&id=ID-a&id=ID-c&title_like=topic",
    headers: { Accept: "application/json, text/plain, */*" },
    expected: "ca",
    contentRange: "topics 0-1/2",
    total: "2",
  },
  {
    who: "refine, getList with pagination off",
    query: "",
    headers: { Accept: "application/json, text/plain, */*" },
    expected: "abcdefghijkl",
    contentRange: "topics 0-11/12",
    total: "12",
  },
  {
    who: "refine, custom",
    query: "&_order=desc&_sort=views&published=true&_page=2&_limit=2",
    headers: { Accept: "application/json, text/plain, */*" },
    expected: "ge",
    contentRange: "topics 2-3/6",
    total: "6",
  },
];

for (const mode of modes) {
  describe(`recorded requests, ${mode} collections`, () => {
    const fixture = useFixture(mode);
    for (const { who, query, headers, expected, contentRange, total } of recorded) {
      test(who, async () => {
        const filled = query
          .replaceAll("ID-a", fixture.topics[0]?.id ?? "")
          .replaceAll("ID-c", fixture.topics[2]?.id ?? "");
        const origin = "http://localhost:5173";
        const path = `/api/v1/topics?${filled}`;
        const answer = await fixture.service.send({ path, headers: { ...headers, Origin: origin } });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(titles(answer.json as Topic[]), expected);
        assert.equal(answer.headers["access-control-allow-origin"], origin);
        if (total === undefined) return;
        assert.equal(answer.headers["content-range"], contentRange);
        assert.equal(answer.headers["x-total-count"], total);
        const exposed = answer.headers["access-control-expose-headers"]?.toLowerCase().split(", ") ?? [];
        for (const name of ["content-range", "x-total-count", "link", "etag"])
          assert.ok(exposed.includes(name), name);
      });
    }
  });
}

describe("what a browser asks before", () => {
  const fixture = useFixture("open");
  for (const [method, headers] of [
    ["GET", "range"],
    ["PUT", "content-type"],
    ["PATCH", "content-type"],
    ["DELETE", "content-type"],
    ["POST", "content-type,authorization"],
  ] as const)
    test(`${method} with ${headers} is allowed`, async () => {
      const answer = await fixture.service.send({
        method: "OPTIONS",
        path: "/api/v1/topics",
        headers: {
          Origin: "http://localhost:5173",
          "Access-Control-Request-Method": method,
          "Access-Control-Request-Headers": headers,
        },
      });
      assert.equal(answer.status, 204);
      assert.ok(answer.headers["access-control-allow-methods"]?.split(", ").includes(method));
      const allowed = answer.headers["access-control-allow-headers"]?.toLowerCase().split(", ") ?? [];
      for (const name of headers.split(",")) assert.ok(allowed.includes(name), name);
    });
});
