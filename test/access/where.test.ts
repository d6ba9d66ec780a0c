import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Where } from "../../src/access/access-declaration.ts";
import { accessOf, caller, mayUpdate } from "./fixture.ts";

const tenanted = (claims: Record<string, unknown>) => caller("ada", { claims });

async function updates(where: Where, claims: Record<string, unknown>, article: Record<string, unknown>) {
  return mayUpdate(await accessOf({ update: { where } }), tenanted(claims), article);
}

describe("a filter that names a claim", () => {
  test("compares it, of whatever type it is", async () => {
    for (const tenant of ["t1", 7, true]) {
      assert.equal(await updates({ tenant: "$claims.tenant" }, { tenant }, { tenant }), true);
      assert.equal(await updates({ tenant: "$claims.tenant" }, { tenant }, { tenant: "other" }), false);
    }
    assert.equal(await updates({ tenant: "$claims.tenant" }, { tenant: 7 }, { tenant: "7" }), false);
  });

  test("finds it inside others, and by a name that has dots", async () => {
    assert.equal(await updates({ org: "$claims.org.id" }, { org: { id: "o1" } }, { org: "o1" }), true);
    const url = "https://example.com/org";
    assert.equal(await updates({ org: `$claims.${url}` }, { [url]: "o1" }, { org: "o1" }), true);
  });

  test("takes a claim of several values for any of them", async () => {
    const claims = { teams: ["red", "blue"] };
    assert.equal(await updates({ team: "$claims.teams" }, claims, { team: "blue" }), true);
    assert.equal(await updates({ team: { in: "$claims.teams" } }, claims, { team: "blue" }), true);
    assert.equal(await updates({ team: "$claims.teams" }, claims, { team: "green" }), false);
  });

  test("takes values that the schema knows as other types", async () => {
    const schema = { properties: { owner: { type: "string" }, tenant: { type: "integer" } } };
    const where = { owner: "$subject", tenant: "$claims.tenant" };
    const access = await accessOf({ update: { where } }, schema);
    assert.equal(mayUpdate(access, tenanted({ tenant: 7 }), { owner: "ada", tenant: 7 }), true);
    assert.equal(mayUpdate(access, tenanted({ tenant: "7" }), { owner: "ada", tenant: 7 }), false);
  });

  test("takes the values that the schema allows out of a claim with others", async () => {
    const schema = {
      properties: { team: { enum: ["red", "green"] }, at: { type: "string", format: "date-time" } },
    };
    const access = await accessOf({ update: { where: { team: "$claims.teams" } } }, schema);
    const claims = { teams: ["red", "blue"] };
    assert.equal(mayUpdate(access, tenanted(claims), { team: "red" }), true);
    assert.equal(mayUpdate(access, tenanted(claims), { team: "green" }), false);
    await assert.rejects(
      accessOf({ update: { where: { team: "geren" } } }, schema),
      /must be one of "red", "green"/,
    );
    const from = await accessOf({ update: { where: { at: { gte: "$claims.from" } } } }, schema);
    const at = "2026-11-23T10:00:00.000Z";
    assert.equal(mayUpdate(from, tenanted({ from: "2026-11-23T11:00:00+01:00" }), { at }), true);
    assert.equal(mayUpdate(from, tenanted({ from: 1_795_428_000_001 }), { at }), false);
    assert.equal(mayUpdate(from, tenanted({ from: "always" }), { at }), false);
  });

  test("takes the numbers and days that the schema allows out of a claim with others", async () => {
    const schema = {
      properties: {
        size: { type: "string", format: "decimal", enum: ["1.0", "2.50"] },
        day: { type: "string", format: "date", enum: ["2026-01-01", "2026-01-02"] },
      },
    };
    const access = await accessOf({ update: { where: { size: { in: "$claims.sizes" } } } }, schema);
    assert.equal(mayUpdate(access, tenanted({ sizes: ["1", "3"] }), { size: "1.0" }), true);
    assert.equal(mayUpdate(access, tenanted({ sizes: ["1", "3"] }), { size: "2.50" }), false);
    const onDays = await accessOf({ update: { where: { day: { in: "$claims.days" } } } }, schema);
    assert.equal(
      mayUpdate(onDays, tenanted({ days: ["2026-01-02", "2027-01-01"] }), { day: "2026-01-02" }),
      true,
    );
    assert.equal(mayUpdate(onDays, tenanted({ days: ["2027-01-01"] }), { day: "2026-01-02" }), false);
  });

  test("may stand beside a text that begins with a dollar sign", async () => {
    assert.equal(await updates({ price: "$$5" }, {}, { price: "$5" }), true);
  });
});

/** Claims that count as missing. */
const lacking = [
  {},
  { tenant: null },
  { tenant: {} },
  { tenant: [] },
  { tenant: [null] },
  { tenant: "" },
].concat([{ tenant: [["t1"]] }, { tenant: "\ud800" }, { tenant: "a\0b" }] as never[]);

describe("a filter that names what the caller lacks is true of nothing", () => {
  const filters: Where[] = [
    { tenant: "$claims.tenant" },
    { tenant: { ne: "$claims.tenant" } },
    { tenant: { nin: "$claims.tenant" } },
    { not: { tenant: "$claims.tenant" } },
    { or: [{ status: "open" }, { tenant: "$claims.tenant" }] },
    { not: { and: [{ status: "shut" }, { tenant: { exists: true } }, { tenant: "$claims.tenant" }] } },
  ];
  const articles = [{}, { tenant: null }, { tenant: "" }, { tenant: "t1", status: "open" }, { tenant: [] }];

  for (const claims of lacking) {
    test(`with the claims ${JSON.stringify(claims)}`, async () => {
      for (const where of filters)
        for (const article of articles)
          assert.equal(await updates(where, claims, article), false, JSON.stringify({ where, article }));
    });
  }

  test("without a credential too", async () => {
    for (const where of filters) {
      const access = await accessOf({ update: { where } });
      assert.equal(access.permit("articles", undefined).may("update"), "nothing");
    }
  });

  test("and inherited members are no claims", async () => {
    for (const name of ["constructor", "__proto__", "toString", "a.constructor.name"])
      assert.equal(await updates({ tenant: { ne: `$claims.${name}` } }, { a: {} }, { tenant: "t1" }), false);
  });
});

test("whatever a claim holds, only equal values are the caller's own", async () => {
  const access = await accessOf({ update: { where: { tenant: "$claims.tenant" } } });
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom("t1", "$subject", "$claims.tenant", 7),
  );
  fc.assert(
    fc.property(value, value, (tenant, held) => {
      const isOne = (each: unknown) => each === held && typeof held !== "object";
      const expected = Array.isArray(tenant)
        ? tenant.every((each) => typeof each !== "object" && each !== "") && tenant.some(isOne)
        : isOne(tenant) && tenant !== "";
      assert.equal(mayUpdate(access, tenanted({ tenant }), { tenant: held }), expected);
    }),
  );
});
