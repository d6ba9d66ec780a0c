import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Collection } from "../../src/collection/collection.ts";
import { type CollectionDeclaration, defineCollection } from "../../src/collection/declaration.ts";
import { hasExpired, requireDeletable } from "../../src/collection/expiry.ts";

const formats = {
  time: { type: "string", format: "date-time" },
  day: { type: ["string", "null"], format: "date" },
  millis: { type: "integer", format: "unix-millis" },
  any: { format: "date-value", type: ["string", "number"] },
  untyped: { format: "date-value" },
} as const;

const expiring = (expires: string, more: CollectionDeclaration = {}) =>
  defineCollection("sessions", {
    schema: {
      type: "object",
      properties: { ...formats, name: { type: "string" }, nested: { properties: formats } },
    },
    expires,
    ...more,
  });

describe("the option expires", () => {
  for (const name of ["time", "day", "millis", "any", "untyped", "nested.time"])
    test(`takes a date: ${name}`, async () => {
      const { expires, indexes } = await expiring(name);
      assert.deepEqual(expires, { path: name.split("."), descending: false, as: "date", expires: true });
      assert.deepEqual(indexes, [[expires]]);
    });

  for (const [name, reason] of [
    ["name", /must declare "name" as a date/],
    ["id", /must be an attribute with a date/],
    ["", /must be an attribute with a date/],
    ["missing", /must declare "missing" as a date/],
  ] as const)
    test(`refuses ${JSON.stringify(name)}`, () => assert.rejects(expiring(name), reason));

  test("refuses the times that the service sets", () =>
    assert.rejects(expiring("createdAt", { timestamps: true }), /the service itself sets "createdAt"/));

  test("takes the place of an equal index, and of no other one", async () => {
    assert.equal((await expiring("time", { indexes: ["time"] })).indexes.length, 1);
    assert.equal((await expiring("time", { indexes: ["-time", ["time", "name"]] })).indexes.length, 3);
  });

  const at = "2026-03-01T00:00:00.000Z";
  for (const [name, value] of [
    ["time", at],
    ["day", "2026-03-01"],
    ["millis", Date.parse(at)],
  ] as const)
    test(`a resource expires at the instant that its date means: ${name}`, async () => {
      const collection = await expiring(name);
      const text = JSON.stringify({ id: "1", [name]: value });
      assert.equal(hasExpired(collection, text, Date.parse(at) - 1), false);
      assert.equal(hasExpired(collection, text, Date.parse(at)), true);
      assert.equal(hasExpired(collection, '{"id":"1"}', Date.parse(at)), false);
      assert.equal(hasExpired(collection, `{"id":"1","${name}":null}`, Date.parse(at)), false);
    });
});

describe("what keeps expired resources from being deleted stops the start", () => {
  const to = (collection: string, onDelete: "restrict" | "cascade" | "clear") => ({
    schema: { type: "object", properties: { toId: { type: "string" } } },
    references: { toId: { collection, onDelete } },
  });
  const refusal = async (
    declared: Record<string, CollectionDeclaration>,
    profiles?: string,
  ): Promise<string> => {
    const session = { schema: { type: "object", properties: formats }, expires: "time" };
    const collections = new Map<string, Collection>();
    for (const [name, declaration] of Object.entries({ sessions: session, ...declared }))
      collections.set(name, await defineCollection(name, declaration));
    try {
      requireDeletable(collections, profiles);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  test("a reference that restricts", async () => {
    assert.match(
      await refusal({ notes: to("sessions", "restrict") }),
      /sessions.expires: the reference "toId" of "notes"/,
    );
    for (const onDelete of ["cascade", "clear"] as const)
      assert.equal(await refusal({ notes: to("sessions", onDelete) }), "");
  });

  test("a reference that restricts what goes with an expired resource", async () => {
    const notes = to("sessions", "cascade");
    assert.match(await refusal({ notes, marks: to("notes", "restrict") }), /the reference "toId" of "marks"/);
    assert.equal(await refusal({ notes: to("sessions", "clear"), marks: to("notes", "restrict") }), "");
    assert.equal(await refusal({ notes, marks: to("notes", "cascade"), ring: to("marks", "cascade") }), "");
  });

  test("the profiles of users", async () => {
    assert.match(await refusal({}, "sessions"), /the profiles of users cannot expire/);
    assert.match(await refusal({ users: to("sessions", "cascade") }, "users"), /in "users" would be deleted/);
    assert.equal(await refusal({ users: to("sessions", "clear") }, "users"), "");
  });
});
