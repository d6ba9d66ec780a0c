import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, checkProblem, links } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const number = { type: ["integer", "null"] } as const;
const text = { type: "string" } as const;
const schema = { properties: { name: text, qty: number, ownerId: text } } as const;
const service = await startServiceForFile({
  collections: {
    owners: { schema: { properties: { rank: number } } },
    plain: { schema, references: { ownerId: "owners" } },
    indexed: { schema, indexes: ["qty:nullslast", "-qty:nullsfirst"] },
  },
});
const ranks = [await service.create("owners", { rank: 1 }), await service.create("owners", { rank: null })];
const stock: Record<string, unknown>[] = [
  { name: "a", qty: 2 },
  { name: "b", qty: null },
  { name: "c", qty: 1 },
  { name: "d" },
  { name: "e", qty: 3 },
];
for (const [n, each] of stock.entries()) {
  const owner = ranks[n];
  await service.create("plain", { ...each, ...(owner && { ownerId: owner.id }) });
  await service.create("indexed", each);
}

/** The names on all pages of two resources, with a slash between the pages. */
async function walk(path: string): Promise<string> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await service.send({ path: next });
    check(answer, { status: 200 });
    assert.ok(pages.length < 5, pages.join("/"));
    pages.push((answer.json as { name: string }[]).map(({ name }) => name).join(""));
    next = links(answer).next;
  }
  return pages.join("/");
}

describe("a sort with the place of nulls", () => {
  for (const collection of ["plain", "indexed"])
    for (const [sort, expected] of [
      ["qty", "bd/ca/e"],
      ["qty:nullsfirst", "bd/ca/e"],
      ["qty:nullslast", "ca/eb/d"],
      ["-qty", "ea/cb/d"],
      ["-qty:nullslast", "ea/cb/d"],
      ["-qty:nullsfirst", "bd/ea/c"],
      ["-qty:nullsfirst,-name", "db/ea/c"],
    ] as const)
      test(`is ${expected} for ${collection}?sort=${sort}, by cursor and by offset`, async () => {
        assert.equal(await walk(`/api/v1/${collection}?sort=${sort}&limit=2`), expected);
        assert.equal(await walk(`/api/v1/${collection}?sort=${sort}&limit=2&offset=0`), expected);
      });

  test("works in a QUERY, for earlier times, and for attributes of related resources", async () => {
    const path = "/api/v1/plain";
    const content = { sort: ["-qty:nullsfirst"] };
    const names = (answer: { json: unknown }) =>
      (answer.json as { name: string }[]).map(({ name }) => name).join("");
    assert.equal(names(await service.send({ method: "QUERY", path, content })), "bdeac");
    const made = await service.create("plain", { name: "f", qty: 0 });
    const [{ at }] = (await service.send({ path: `${made.path}/_changes` })).json as [{ at: string }];
    await service.send({ method: "PATCH", path: made.path, content: { qty: null } });
    assert.equal(names(await service.send({ path: `${path}?sort=qty:nullslast` })), "caebdf");
    assert.equal(names(await service.send({ path: `${path}?sort=qty:nullslast&at=${at}` })), "fcaebd");
    await service.send({ method: "DELETE", path: made.path });
    const related = await service.send({ path: `${path}?sort=owner.rank:nullslast,-name` });
    assert.equal(names(related), "aedcb");
    const first = await service.send({ path: `${path}?sort=-owner.rank:nullsfirst,name&name:in=a,b,c` });
    assert.equal(names(first), "bca");
  });

  test("is a part of the cursor, so a cursor of another place of nulls is refused", async () => {
    for (const collection of ["plain", "indexed"]) {
      const answer = await service.send({ path: `/api/v1/${collection}?sort=qty:nullslast&limit=2` });
      const cursor = new URLSearchParams(links(answer).next?.split("?")[1]).get("cursor");
      for (const sort of ["qty", "qty:nullsfirst", "-qty:nullsfirst"])
        checkProblem(
          await service.send({ path: `/api/v1/${collection}?sort=${sort}&cursor=${cursor}` }),
          "INVALID_CURSOR",
        );
    }
  });

  test("orders groups by keys and figures", async () => {
    const groups = async (query: string) =>
      ((await service.send({ path: `/api/v1/plain?${query}` })).json as Record<string, unknown>[]).map(
        (each) => JSON.stringify(Object.values(each)),
      );
    assert.deepEqual(await groups("aggregate=count&group=qty&sort=qty:nullslast"), [
      "[1,1]",
      "[2,1]",
      "[3,1]",
      "[1]",
      "[null,1]",
    ]);
    assert.deepEqual(await groups("aggregate=avg(qty)&group=name&sort=-avg(qty):nullsfirst,name"), [
      '["b",null]',
      '["d",null]',
      '["e",3]',
      '["a",2]',
      '["c",1]',
    ]);
    assert.deepEqual(await groups("aggregate=max(qty)&group=name&sort=max(qty):nullslast,name&limit=3"), [
      '["c",1]',
      '["a",2]',
      '["e",3]',
    ]);
  });
});
