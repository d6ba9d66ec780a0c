/** Filters by dates: a date is compared by its instant, in whatever form it is written and stored. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { forms, picoseconds } from "../instants.ts";
import { check } from "./check.ts";
import { type Answer, type Service, startService, startServiceForFile } from "./service.ts";

const schema = {
  type: "object",
  additionalProperties: true,
  properties: {
    at: { type: "string", format: "date-time" },
    due: { type: ["string", "null"], format: "date" },
    millis: { type: "integer", format: "unix-millis" },
    any: { format: "date-value" },
    either: {
      anyOf: [
        { type: "string", format: "date" },
        { type: "string", format: "date-time" },
      ],
    },
    n: { type: "integer" },
    owner: { type: "string" },
  },
} as const;
const collections = {
  events: { schema, timestamps: true, indexes: ["at", ["n", "-at"], "any"] },
  notes: { schema, references: { owner: "events" } },
} as const;

const service = await startServiceForFile({ collections, openCollections: true });
const times = ["09:59:59.999", "10:00:00.000", "10:00:00.500", "11:00:00.000"].map(
  (each) => `2026-11-23T${each}Z`,
);
const [before10, at10, after10, at11] = times;
const made: { id: string }[] = [];
before(async () => {
  for (const [n, at] of times.entries()) made.push(await service.create("events", { at, n }));
});

const list = (query: string, collection = "events", on: Service = service): Promise<Answer> =>
  on.send({ path: `/api/v1/${collection}?${query}` });
const post = (path: string, content: unknown) =>
  service.send({ method: "POST", path: `/api/v1/${path}`, content });

async function valuesOf(query: string, attribute = "at", collection = "events"): Promise<unknown[]> {
  const answer = await list(query, collection);
  assert.equal(answer.status, 200, `${query}: ${answer.text}`);
  return (answer.json as Record<string, unknown>[]).map((each) => each[attribute]);
}

/** What each operand finds, in the order of the resources. */
const found: Record<string, readonly unknown[]> = {
  "at:gte=2026-11-23T10:00:00Z": [at10, after10, at11],
  "at:gt=2026-11-23T10:00:00Z": [after10, at11],
  "at:gte=2026-11-23T11:00:00%2B01:00": [at10, after10, at11],
  "at:lt=2026-11-23T04:00-06:00": [before10],
  "at:lte=2026-11-23t10:00:00z": [before10, at10],
  "at:lt=2026-11-23T10:00:00.0000001Z": [before10, at10],
  "at:gt=2026-11-23T09:59:59.9989999Z": [before10, at10, after10, at11],
  "at:gte=1795428000000": [at10, after10, at11],
  "at:gte=2026-11-23": [before10, at10, after10, at11],
  "at:gt=2026-11-24": [],
  "at:eq=2026-11-23T12:00%2B02:00": [at10],
  "at:eq=2026-11-23T10:00:00.0001Z": [],
  "at:ne=2026-11-23T10:00Z": [before10, after10, at11],
  "at:in=2026-11-23T10:00:00Z,2026-11-23T12:00:00%2B01:00": [at10, at11],
  "at:gt=2026-11-23T10:00Z&sort=at&limit=1": [after10],
  "at:lte=8640000000000000": [before10, at10, after10, at11],
  "at:gt=-8640000000000000": [before10, at10, after10, at11],
  "at:lt=-8640000000000000": [],
  'filter={"at":{"gte":"2026-11-23T10:00:00%2B00:00","lt":1795431600000}}': [at10, after10],
  "createdAt:lt=2026-01-01&fields=at": [],
  "createdAt:gt=2026-01-01T00:00Z&n=1": [at10],
  "due=null": [],
  "at:startsWith=2026-11-23T10": [at10, after10],
};
for (const [query, expected] of Object.entries(found))
  test(`a date is compared by its instant: ${query}`, async () => {
    assert.deepEqual(await valuesOf(query), expected);
  });

test("a bulk change deletes only what is earlier", async () => {
  const name = "notes";
  for (const at of times) await service.create(name, { at });
  const answer = await post(`${name}/_bulk`, {
    filter: { at: { lt: "2026-11-23T10:00:00Z" } },
    delete: true,
    max: 9,
  });
  check(answer, { status: 200 });
  assert.deepEqual(await valuesOf("", "at", name), [at10, after10, at11]);
});

const refused: Record<string, RegExp> = {
  "createdAt:gte=yesterday":
    /"createdAt:gte" is a date and cannot be compared with "yesterday"\. Write an existing date such as 2026-01-31/,
  "due=2026-02-30": /"2026-02-30"/,
  "at:gt=2026": /Write an existing date/,
  "at:gt=2026-11-23T10:00:00": /Write an existing date/,
  "at:gt=2026-11-23T10:00:00+01:00": /write "\+" as %2B/,
  "at:in=2026-11-23,soon": /"soon"/,
  'filter={"any":{"ne":"2026-13-01"}}': /"2026-13-01"/,
};
for (const [query, message] of Object.entries(refused))
  test(`an operand that is no date is refused: ${query}`, async () => {
    const answer = await list(query);
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match((answer.json as { detail: string }).detail, message);
  });

test("without a schema, a whole time is compared with whole times, and every other operand as before", async () => {
  const all = [
    "2026-11-23T10:00:00Z",
    "2026-11-23T11:00:00.50+01:00",
    "2026-11-23T08:30:00Z",
    "2026-11-24",
    "zz",
    7,
  ];
  for (const at of all) await service.create("open", { at });
  const of = (query: string) => valuesOf(query, "at", "open");
  assert.deepEqual(await of("at:gte=2026-11-23T10:00:00.000Z"), [all[0], all[1]]);
  assert.deepEqual(await of("at:gt=2026-11-23T11:00:00%2B01:00"), [all[1]]);
  assert.deepEqual(await of("at:eq=2026-11-23T05:00:00.00-05:00"), [all[0]]);
  assert.deepEqual(await of("at:ne=2026-11-23T05:00-05:00"), all.slice(1));
  assert.deepEqual(await of('filter={"at":["2026-11-23T10:00Z","zz",7]}'), [all[0], "zz", 7]);
  assert.deepEqual(await of("at:gte=2026-11-24"), ["2026-11-24", "zz"]);
  assert.deepEqual(await of("at:lt=2026-11-23T09"), ["2026-11-23T08:30:00Z"]);
});

const attributes = ["at", "due", "millis", "any", "either", "free"] as const;
const operators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
const perMs = 10n ** 9n;

/** An instant as the schema lets the attribute have it. Without a schema, in any form. */
function stored(attribute: (typeof attributes)[number], at: bigint, choice: number): string | number {
  const ms = Number(at / perMs);
  const day = new Date(ms).toISOString().slice(0, 10);
  const time = new Date(ms).toISOString();
  const isDay = time.endsWith("T00:00:00.000Z");
  switch (attribute) {
    case "at":
      return time;
    case "due":
      return day;
    case "millis":
      return ms;
    case "any":
      return choice % 3 === 0 ? ms : choice % 3 === 1 && isDay ? day : time;
    case "either":
      return choice % 2 === 0 && isDay ? day : time;
    case "free":
      return forms(at, choice);
  }
}

/** The instant that a stored value means, in picoseconds. */
const meant = (attribute: string, at: bigint): bigint => {
  if (attribute === "free") return at;
  const step = attribute === "due" ? 86_400_000n * perMs : perMs;
  return (at / step) * step; // all of these instants are after 1970
};

describe("random dates", () => {
  let oracle: Service;
  const world: { id: string; at: bigint; values: Record<string, unknown> }[] = [];
  const near = picoseconds.filter((at) => at > 2n * 86_400_000n * perMs);
  before(async () => {
    oracle = await startService({ collections, openCollections: true });
    const pool = fc.sample(near, 12);
    const draws = fc.sample(
      fc.tuple(fc.constantFrom(...pool), fc.integer({ min: -1, max: 1 }), fc.nat()),
      60,
    );
    for (const [from, distance, choice] of draws) {
      const at = from + BigInt(distance) * perMs;
      const free = forms(at, choice);
      const values = Object.fromEntries(
        attributes.map((name, n) => [name, name === "free" ? free : stored(name, at, choice + n)]),
      );
      const { id } = await oracle.create("events", values);
      world.push({ id, at, values });
    }
  });
  after(() => oracle.stop());

  test("lists, QUERY, figures, bulk changes and feeds find what the instants say", async () => {
    const instants = world.map(({ at }) => at);
    const draw = fc.record({
      attribute: fc.constantFrom(...attributes),
      operator: fc.constantFrom(...operators),
      from: fc.constantFrom(...instants),
      distance: fc.constantFrom(0n, 0n, 0n, 1n, -1n, perMs, -perMs),
      choice: fc.nat(),
    });
    for (const { attribute, operator, from, distance, choice } of fc.sample(draw, 120)) {
      const bound = from + distance;
      const operand = forms(bound, choice);
      // Without a schema, only whole times are dates.
      if (attribute === "free" && !String(operand).includes(":")) continue;
      const isTrue = (at: bigint) => {
        const order = at < bound ? -1 : Number(at > bound);
        const equal = { eq: order === 0, ne: order !== 0, in: order === 0, nin: order !== 0 };
        return { ...equal, gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator];
      };
      const isFound = ({ at, values }: (typeof world)[number]) => {
        const isWhole = attribute !== "free" || String(values.free).includes(":");
        return isWhole ? isTrue(meant(attribute, at)) : operator === "ne" || operator === "nin";
      };
      const expected = world
        .filter(isFound)
        .map(({ id }) => id)
        .sort();
      const condition = { [operator]: operator === "in" || operator === "nin" ? [operand] : operand };
      const filter = { [attribute]: condition };
      const about = JSON.stringify(filter);
      const send = async (request: Parameters<Service["send"]>[0]) => {
        const answer = await oracle.send(request);
        assert.equal(answer.status, 200, `${about}: ${answer.text}`);
        return answer.json as Record<string, unknown>[];
      };
      const idsOf = (items: Record<string, unknown>[], name = "id") => items.map((each) => each[name]).sort();
      const path = "/api/v1/events";
      const query = `${attribute}:${operator}=${encodeURIComponent(operand)}`;
      const listed = await send({ path: `${path}?${query}&limit=1000&sort=-${attribute}` });
      assert.deepEqual(idsOf(listed), expected, `a list with ${query}`);
      const queried = await send({ method: "QUERY", path, content: { filter, limit: 1000 } });
      assert.deepEqual(idsOf(queried), expected, `a QUERY with ${about}`);
      const figures = await send({ path: `${path}?${query}&aggregate=count` });
      assert.equal(
        (figures as unknown as { count: number }).count ?? figures[0]?.count,
        expected.length,
        `figures of ${about}`,
      );
      const bulk = await send({
        method: "POST",
        path: `${path}/_bulk`,
        content: { filter: { ...filter, n: { exists: false } }, delete: true, dryRun: true, max: 1000 },
      });
      assert.equal(
        (bulk as unknown as { matched: number }).matched,
        expected.length,
        `a bulk change with ${about}`,
      );
      const events = await send({ path: `${path}/_events?${query}&limit=1000` });
      assert.deepEqual(idsOf(events, "subject"), expected, `a feed with ${query}`);
    }
  });
});
