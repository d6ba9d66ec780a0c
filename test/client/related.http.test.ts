/** Related resources in the client: embedded, nested, and in filters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, HoldfastError } from "../../client/src/index.ts";
import { startServiceForFile } from "../http/service.ts";
import { config } from "./config.ts";

const { members, ...collections } = config.collections;
// Clients could not set this attribute.
const { joinedOn: _, ...properties } = members.schema.properties;
const open = { ...members, schema: { ...members.schema, required: ["name"], properties } };
const service = await startServiceForFile({ collections: { ...collections, members: open } });
const client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
const ann = (await service.create("members", { name: "Ann" })).id;
const shelf = (await client.shelves.create({ name: "left", ownerId: ann })).id;
for (const days of [1, 2, 3])
  await client.loans.create({ shelfId: shelf, memberId: ann, readerIds: [ann], days });

test("embeds related resources, also where the request is a QUERY", async () => {
  const embed = { shelf: { embed: { owner: true } }, readers: true } as const;
  const [loan] = await client.loans.list({ embed, fields: ["days"], limit: 1 }).all();
  assert.equal(loan?.shelf?.owner?.name, "Ann");
  assert.deepEqual(
    loan?.readers.map(({ name }) => name),
    ["Ann"],
  );
  const days = { in: Array.from({ length: 900 }, (_, n) => n) };
  const all = await client.loans.list({ embed, filter: { days }, limit: 2 }).all();
  assert.deepEqual(
    all.map((each) => [each.days, each.shelf?.name]),
    [1, 2, 3].map((each) => [each, "left"]),
  );
  const one = await client.shelves.get(shelf, { embed: { loans: { limit: 2, sort: ["-days", "id"] } } });
  assert.deepEqual(
    one.loans.map((each) => each.days),
    [3, 2],
  );
  assert.match(one._next?.loans ?? "", /\/loans\?limit=2&sort=-days,id&cursor=/);
  assert.equal((await client.shelves.list({ embed: {} }).all()).length, 1);
});

test("chooses the attributes and the resources of each relation", async () => {
  const few = { filter: { days: { gte: 2 }, memberId: ann }, fields: ["days"], sort: "-days" } as const;
  const query = {
    embed: { loans: { ...few, limit: 1 }, owner: { embed: { borrowed: { ...few, limit: 1 } } } },
  };
  const [one] = await client.shelves.list(query).all();
  assert.ok(one);
  const { _next, owner, ...own } = one;
  assert.match(String(_next?.loans), /days%3Agte=2&memberId/);
  const [three] = own.loans;
  assert.deepEqual(own, { id: shelf, name: "left", ownerId: ann, loans: [{ id: three?.id, days: 3 }] });
  assert.equal(owner?.name, "Ann");
  assert.deepEqual(owner.borrowed, own.loans);
  const left = {
    fields: ["-name"],
    embed: { loans: { fields: ["-shelfId", "-memberId", "-readerIds"] } },
  } as const;
  const { loans, ...rest } = await client.shelves.get(shelf, left);
  assert.deepEqual(rest, { id: shelf, ownerId: ann });
  assert.deepEqual(Object.keys(loans[0] ?? {}), ["id", "days"]);
  const ids = Array.from({ length: 900 }, (_, n) => n);
  assert.equal((await client.shelves.list({ ...query, filter: { id: ids } }).all())[0]?.loans.length, 1);
});

test("refuses the filter of a relation that the parameter cannot express, before a request", async () => {
  const read = (filter: object) => client.shelves.list({ embed: { loans: { filter } } } as never).page();
  const cases: [object, RegExp][] = [
    [{ memberId: "Ann (1)" }, /"loans" in "embed" has the value "Ann \(1\)"\. Parentheses/],
    [{ memberId: { in: ["a,b"] } }, /has the value "a,b"/],
    [{ memberId: " a" }, /spaces at the start/],
    [{ days: { in: [] } }, /has an empty list for "days"/],
    [{ or: [] }, /has "or"\. It can have only conditions/],
  ];
  for (const [filter, message] of cases)
    await assert.rejects(
      read(filter),
      (error) => error instanceof HoldfastError && message.test(error.message),
    );
});

test("refuses an embed that is no object of relations, and says what to write", async () => {
  const cases: [unknown, string][] = [
    ["owner", '"embed" must be an object: write { owner: true }.'],
    ["owner,loans", '"embed" must be an object: write { owner: true }.'],
    [["loans", "owner"], '"embed" must be an object: write { loans: true }.'],
    ["", '"embed" must be an object: write { author: true }.'],
    [null, '"embed" must be an object: write { author: true }.'],
    [{ owner: false }, '"owner" in "embed" must be true, or an object with the options of the relation.'],
    [{ owner: null }, '"owner" in "embed" must be true, or an object with the options of the relation.'],
    [{ loans: { embed: "shelf" } }, '"embed" of "loans" must be an object: write { shelf: true }.'],
  ];
  const ids = Array.from({ length: 900 }, (_, n) => String(n));
  for (const [embed, message] of cases)
    for (const ask of [
      () => client.shelves.get(shelf, { embed } as never),
      () => client.shelves.list({ embed } as never).page(),
      () => client.shelves.list({ embed, filter: { id: ids } } as never).page(),
    ])
      await assert.rejects(ask(), (error: Error) => {
        assert.ok(error instanceof HoldfastError, String(error));
        assert.equal(error.message, message);
        return true;
      });
});

test("does not replace a resource that was read with others", async () => {
  const one = await client.shelves.get(shelf, { embed: { owner: true } });
  const { owner: _, ...own } = one;
  await assert.rejects(client.shelves.replace(own), HoldfastError);
});

test("lists and creates on a nested path", async () => {
  const below = client.shelves.nested(shelf, "loans");
  const made = await below.create({ days: 9, memberId: ann });
  assert.equal(made.shelfId, shelf);
  const replaced = await client.loans.replace({ ...made, days: 8 });
  assert.equal(replaced.days, 8);
  const found = await below.list({ filter: { days: { gt: 2 } }, sort: "days", limit: 1 }).all();
  assert.deepEqual(
    found.map((each) => each.days),
    [3, 8],
  );
  await client.loans.delete(replaced);
});

test("filters through references", async () => {
  const found = await client.loans.list({ filter: { "borrower.name": "Ann", days: { lte: 2 } } }).all();
  assert.equal(found.length, 2);
  assert.equal((await client.shelves.list({ filter: { loans: { exists: false } } }).all()).length, 0);
});

test("filters figures by related resources", async () => {
  const query = { aggregate: ["count"], filter: { "shelf.name": "left", "borrower.name": "Ann" } } as const;
  assert.deepEqual(await client.loans.figures(query).all(), [{ count: 3 }]);
});
