import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOfDay, timeZone } from "../../src/collection/time-zones.ts";
import { mondayOf } from "../temporal.ts";
import { machineTime } from "../until.ts";
import { check, checkProblem, links } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const timestamp = { type: "string", format: "date-time" } as const;
const day = { type: "string", format: "date" } as const;
const service = await startServiceForFile({
  collections: {
    open: {},
    visits: {
      schema: {
        properties: {
          at: { ...timestamp },
          on: { ...day },
          siteId: { type: "string" },
          timezone: { type: "string" },
        },
      },
      references: { siteId: { collection: "sites", inverse: "visits" } },
      indexes: ["at"],
    },
    sites: { schema: { properties: { name: { type: "string" } } } },
  },
});
const zone = "Europe/Berlin";
/** The night of 29 March has 23 hours in Berlin, and that of 25 October 25. */
const times = [
  "2026-01-04T22:30:00.000Z",
  "2026-01-04T23:30:00.000Z",
  "2026-03-28T22:59:59.999Z",
  "2026-03-28T23:00:00.000Z",
  "2026-03-29T00:59:59.999Z",
  "2026-03-29T01:00:00.000Z",
  "2026-03-29T22:00:00.000Z",
  "2026-10-24T22:00:00.000Z",
  "2026-10-25T00:30:00.000Z",
  "2026-10-25T01:30:00.000Z",
  "2026-10-25T22:59:59.999Z",
  "2026-10-25T23:00:00.000Z",
  "2026-12-31T23:00:00.000Z",
];
for (const at of times)
  for (const collection of ["open", "visits"]) await service.create(collection, { at, on: at.slice(0, 10) });

const groups = async (query: string, collection = "visits") => {
  const answer = await service.send({ path: `/api/v1/${collection}?${query}` });
  check(answer, { status: 200 });
  return (answer.json as Record<string, unknown>[]).map((each) => Object.values(each).join(" "));
};

describe("groups in a time zone", () => {
  for (const collection of ["open", "visits"])
    for (const [unit, expected] of [
      ["year", ["2026 12", "2027 1"]],
      ["month", ["2026-01 2", "2026-03 5", "2026-10 5", "2027-01 1"]],
      [
        "week",
        [
          "2025-12-29 1",
          "2026-01-05 1",
          "2026-03-23 4",
          "2026-03-30 1",
          "2026-10-19 4",
          "2026-10-26 1",
          "2026-12-28 1",
        ],
      ],
      [
        "day",
        [
          "2026-01-04 1",
          "2026-01-05 1",
          "2026-03-28 1",
          "2026-03-29 3",
          "2026-03-30 1",
          "2026-10-25 4",
          "2026-10-26 1",
          "2027-01-01 1",
        ],
      ],
    ] as const)
      test(`have the local ${unit} in ${collection}, also where clocks change`, async () => {
        assert.deepEqual(await groups(`distinct=at:${unit}&timezone=${zone}`, collection), expected);
      });

  test("have the local hour, in which an hour is missing or occurs twice", async () => {
    const nights = "at:gte=2026-03-29T00:00Z&at:lt=2026-03-29T02:00Z";
    assert.deepEqual(await groups(`distinct=at:hour&${nights}&timezone=${zone}`), [
      "2026-03-29T01 1",
      "2026-03-29T03 1",
    ]);
    const autumn = "at:gte=2026-10-25T00:00Z&at:lt=2026-10-25T02:00Z";
    assert.deepEqual(await groups(`distinct=at:hour&${autumn}&timezone=${zone}`), ["2026-10-25T02 2"]);
    assert.deepEqual(await groups(`distinct=at:minute&${autumn}&timezone=Asia/Kathmandu`), [
      "2026-10-25T06:15 1",
      "2026-10-25T07:15 1",
    ]);
  });

  test("keep days, which have no time, in every zone", async () => {
    const days = await groups("distinct=on:day");
    for (const name of ["America/New_York", "Pacific/Kiritimati"])
      for (const collection of ["open", "visits"])
        assert.deepEqual(await groups(`distinct=on:day&timezone=${name}`, collection), days);
  });

  test("have weeks that begin on Monday, also in UTC and in a QUERY, page by page", async () => {
    const counts = Map.groupBy(times, (each) => mondayOf(each.slice(0, 10)));
    const expected = [...counts].map(([monday, all]) => `${monday} ${all.length}`);
    assert.deepEqual(await groups("distinct=at:week"), expected);
    assert.deepEqual(await groups("distinct=at:week", "open"), expected);
    const content = { aggregate: ["count"], group: ["at:week"], timezone: zone, limit: 3 };
    const first = await service.send({ method: "QUERY", path: "/api/v1/visits", content });
    check(first, { status: 200 });
    assert.match(String(first.headers.location), /timezone=Europe%2FBerlin/);
    const next = await service.send({ path: links(first).next ?? "" });
    assert.deepEqual(
      (next.json as { "at:week": string }[]).map((each) => each["at:week"]),
      ["2026-03-30", "2026-10-19", "2026-10-26"],
    );
  });
});

describe("a filter in a time zone", () => {
  const berlin = timeZone(zone);
  const near = (ms: number) => new Date(ms).toISOString();

  /** What each query finds, in a list, as a number, and inside the site, with what it must find. */
  async function compare(now: number) {
    const bounds = [-1, 0, 1, 2].map((days) => startOfDay(berlin, now, days));
    const site = await service.create("sites", { name: "A" });
    const visits = bounds.flatMap((bound) => [bound - 1, bound]);
    for (const ms of visits) await service.create("visits", { at: near(ms), siteId: site.id });
    const pairs: [unknown, unknown][] = [];
    for (const [query, from, to] of [
      ["at:gte=today&at:lt=today%2B1d", 1, 2],
      ["at:gte=today-1d&at:lt=today", 0, 1],
      ["at:gte=today%2B1d&at:lt=today%2B2d", 2, 3],
    ] as const) {
      const path = `/api/v1/visits?siteId=${site.id}&${query}&timezone=europe/berlin`;
      const [first, last] = [bounds[from] as number, bounds[to] as number];
      const wanted = visits.filter((ms) => ms >= first && ms < last).map(near);
      const timesOf = (all: unknown) => (all as { at: string }[]).map(({ at }) => at);
      pairs.push([timesOf((await service.send({ path: `${path}&sort=at` })).json), wanted]);
      pairs.push([
        (await service.send({ path: `${path}&aggregate=count` })).json,
        [{ count: wanted.length }],
      ]);
      const embed = `visits(${query.replaceAll("&", ",")},sort:at,limit:1)`;
      const embedded = await service.send({
        path: `/api/v1/sites?id=${site.id}&embed=${embed}&timezone=${zone}`,
      });
      const [owner] = embedded.json as [{ visits: object[]; _next: { visits: string } }];
      const rest = (await service.send({ path: owner._next.visits })).json as object[];
      pairs.push([timesOf([...owner.visits, ...rest]), wanted]);
    }
    return { pairs, isSameDay: startOfDay(berlin, machineTime(), 0) === bounds[1] };
  }

  test("compares with the start of the day there, in lists, figures and embedded lists", async () => {
    let { pairs, isSameDay } = await compare(machineTime());
    if (!isSameDay) ({ pairs, isSameDay } = await compare(machineTime())); // it was midnight
    for (const [actual, expected] of pairs) assert.deepEqual(actual, expected);
  });

  test("has cursors that belong to the zone", async () => {
    const path = "/api/v1/visits?at:lt=today&sort=at&limit=1";
    const answer = await service.send({ path: `${path}&timezone=${zone}` });
    const cursor = new URLSearchParams(links(answer).next?.split("?")[1]).get("cursor");
    assert.equal((await service.send({ path: links(answer).next ?? "" })).status, 200);
    for (const other of ["", "&timezone=Asia/Tokyo"])
      checkProblem(await service.send({ path: `${path}${other}&cursor=${cursor}` }), "INVALID_CURSOR");
  });
});

describe("a time zone", () => {
  for (const [query, detail] of [
    [
      "distinct=at:day&timezone=Berlin",
      /must be the name of a time zone in the IANA database, such as "Europe\/Berlin" or "UTC", not "Berlin"/,
    ],
    ["distinct=at:day&timezone=%2B01:00", /must be the name of a time zone/],
    ["distinct=at:day&timezone=", /must be the name of a time zone/],
    ["distinct=at&timezone=UTC", /has no effect/],
    ["timezone=UTC", /has no effect: .* To filter by an attribute with this name, write "timezone:eq"/],
    ["at:gte=now&timezone=UTC", /has no effect/],
    ["at:gte=today&timezone=UTC&timezone=UTC", /must be given only once/],
  ] as const)
    test(`the request with ${query} has a time zone that is refused`, async () => {
      const answer = await service.send({ path: `/api/v1/visits?${query}` });
      checkProblem(answer, "INVALID_PARAMETER");
      const [violation] = (answer.json as { violations: { name: string; detail: string }[] }).violations;
      assert.equal(violation?.name, "timezone");
      assert.match(violation.detail, detail);
    });

  test("must be a text in a body, and a feed has none", async () => {
    const content = { distinct: ["at:day"], timezone: 1 };
    checkProblem(
      await service.send({ method: "QUERY", path: "/api/v1/visits", content }),
      "INVALID_PARAMETER",
    );
    checkProblem(await service.send({ path: "/api/v1/visits/_events?timezone=UTC" }), "INVALID_PARAMETER");
    check(await service.send({ path: "/api/v1/visits?timezone:eq=UTC" }), { status: 200, json: [] });
  });
});
