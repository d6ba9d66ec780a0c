/** Which fields the form has, and what is asked of the service for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { expiryOf, fieldsOf, isOpen } from "../../console/src/resource/fields.ts";
import { claimNames, claimValue, pickerQuery, titleOf } from "../../console/src/service/schema.ts";

type Info = NonNullable<Parameters<typeof fieldsOf>[0]>;

const info = (schema: Info["schema"], more: Partial<Info> = {}): Info => ({
  name: "articles",
  href: "/api/v1/articles",
  declared: true,
  id: "uuid",
  schema,
  defaults: {},
  timestamps: true,
  requirePreconditions: false,
  indexes: [],
  unique: [],
  search: [],
  references: [],
  relations: [],
  operations: [],
  ...more,
});

test("the attributes of the schema come first, then the others, then what the service keeps", () => {
  const declared = info(
    {
      required: ["title"],
      properties: {
        title: { type: "string" },
        note: { type: ["string", "null"] },
        authorId: { type: "string" },
      },
    },
    { references: [{ attribute: "authorId", collection: "authors", onDelete: "restrict" }] },
  );
  const attributes = { id: "1", extra: 1, createdAt: "2026-01-01T00:00:00.000Z", title: "x" };
  const fields = fieldsOf(declared, attributes, {
    readOnly: ["id", "createdAt", "note"],
    writeOnly: ["pin"],
  });
  assert.deepEqual(
    fields.map(({ name, kind, isLocked }) => [name, kind, isLocked]),
    [
      ["title", "text", false],
      ["note", "text", true],
      ["authorId", "reference", false],
      ["pin", "any", false],
      ["extra", "number", false],
      ["id", "id", true],
      ["createdAt", "time", true],
    ],
  );
  const byName = new Map(fields.map((each) => [each.name, each]));
  assert.ok(byName.get("title")?.isRequired && !byName.get("title")?.allowsNull);
  assert.ok(byName.get("note")?.allowsNull && byName.get("pin")?.isWriteOnly);
  assert.equal(byName.get("authorId")?.target, "authors");
});

test("an own attribute with the name of a timestamp can be set in a collection without timestamps", () => {
  const [field] = fieldsOf(info(null, { timestamps: false }), { updatedAt: "today" }, undefined);
  assert.deepEqual([field?.name, field?.isLocked], ["updatedAt", false]);
});

test("attributes can be added where the schema allows them", () => {
  assert.ok(isOpen(info(null)) && isOpen(info(true)) && isOpen(info({ type: "object" })));
  assert.ok(isOpen(info({ additionalProperties: { type: "string" } })));
  assert.ok(!isOpen(info({ additionalProperties: false })));
});

test("the form shows what the service adds to a new resource", () => {
  const defaults = { status: "draft", views: 0, note: null, at: "$now", by: "$subject", price: "$$5" };
  const fields = fieldsOf(info(null, { defaults }), {}, undefined);
  assert.deepEqual(
    fields.map(({ name, byDefault }) => [name, byDefault]),
    [
      ["status", "draft"],
      ["views", "0"],
      ["note", "null"],
      ["at", "the time"],
      ["by", "your subject"],
      ["price", "$5"],
    ],
  );
});

test("the title of a resource is its first text that people would use", () => {
  assert.equal(titleOf({ id: "1", label: "L", name: "N" }), "N");
  assert.equal(titleOf({ title: " ", email: "a@b.c" }), "a@b.c");
  assert.equal(titleOf({ title: 5 }), undefined);
});

test("a picker searches as the collection allows it", () => {
  assert.equal(pickerQuery("", ["title"], []), "");
  assert.equal(pickerQuery("the sea", ["title"], ["title"]), "q=the+sea");
  assert.equal(pickerQuery("ada", [], ["born", "name"]), "name%3Acontains=ada");
  assert.equal(pickerQuery("a&b=c", [], []), "id=a%26b%3Dc");
  const id = "01a20533-42b7-70d5-9f11-f5a680461c28";
  assert.equal(pickerQuery(id, ["title"], ["title"]), `id=${id}`);
});

test("the claims of rules are found, and read as JSON where they are JSON", () => {
  const rules = { read: [{ at: "x", rule: { where: { a: "$claims.tenant", b: { in: "$claims.teams" } } } }] };
  assert.deepEqual(claimNames(rules), ["tenant", "teams"]);
  assert.deepEqual(claimNames(null), []);
  assert.deepEqual(["7", '["a"]', "north", "{"].map(claimValue), [7, ["a"], "north", "{"]);
});

test("the time at which a resource expires is that of its attribute, in any form of a date", () => {
  const at = "2026-03-01T00:00:00.000Z";
  for (const value of [at, "2026-03-01", Date.parse(at)])
    assert.equal(expiryOf({ expires: "until" }, { until: value }), at);
  assert.equal(expiryOf({ expires: "card.until" }, { card: { until: at } }), at);
  for (const value of [null, undefined, "soon", true])
    assert.equal(expiryOf({ expires: "until" }, { until: value }), undefined);
  assert.equal(expiryOf({}, { until: at }), undefined);
  assert.equal(expiryOf(undefined, { until: at }), undefined);
});
