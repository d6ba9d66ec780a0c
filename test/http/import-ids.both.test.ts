/** Ids that do not fit: an import refuses them, or gives new ones and rewrites the references to them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, uuid7 } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const parents = {
  schema: { properties: { name: { type: "string" }, parentId: { type: "string" }, old: { type: "string" } } },
  references: { parentId: "places" },
} as const;

const service = await startServiceForFile({
  openCollections: true,
  collections: {
    places: { ...parents, schema: { ...parents.schema, additionalProperties: false } },
    visits: { references: { placeIds: "places", numberId: "numbers" } },
    numbers: { id: "integer", references: { placeId: "places" } },
    stamped: { timestamps: true },
    streets: { references: { townIds: "towns" } },
  },
});

type Resource = Record<string, unknown>;

const send = (name: string, resources: readonly object[], query = "") =>
  service.send({
    method: "POST",
    path: `/api/v1/${name}/_import${query}`,
    headers: { "Content-Type": "application/x-ndjson" },
    body: resources.map((each) => `${JSON.stringify(each)}\n`).join(""),
  });

interface Report {
  imported: number;
  replacedIds: { count: number; first: object[] };
  errors: { line: number; code: string; pointer: string; detail: string }[];
}

async function imported(name: string, resources: readonly object[], query = ""): Promise<Report> {
  const answer = await send(name, resources, query);
  check(answer, { status: 200 });
  return answer.json as Report;
}

async function refused(name: string, resources: readonly object[], query = ""): Promise<Report["errors"]> {
  const answer = await send(name, resources, query);
  check(answer, { status: 400, problem: "INVALID_IMPORT" });
  return (answer.json as { report: Report }).report.errors;
}

const list = async (name: string, query = "") =>
  (await service.send({ path: `/api/v1/${name}?limit=100${query}` })).json as Resource[];

const strange = [
  "shop:1",
  "ada@example.org",
  "urn:isbn:0451450523",
  "",
  "..",
  "a b",
  "ä",
  "x".repeat(129),
  "_events",
];

test("without the option, each id that does not fit is an error, and nothing is imported", async () => {
  const errors = await refused(
    "open",
    [...strange, null, 1.5, true, {}].map((id) => ({ id })),
  );
  assert.deepEqual(
    errors.map(({ line, code, pointer }) => [line, code, pointer]),
    Array.from({ length: 13 }, (_, n) => [n + 1, n === 8 ? "reservedId" : "id", "#/id"]),
  );
  assert.match(
    errors[0]?.detail ?? "",
    /^is "shop:1", which cannot be an id: .* option "ids" gives .*replace/,
  );
  const [wrong] = await refused("numbers", [{ id: "one" }]);
  assert.match(wrong?.detail ?? "", /ids here are integers/);
  assert.deepEqual(await list("open"), []);
});

test("with replace, they get other ids, always the same ones, so a second import finds them", async () => {
  const resources = [{ id: "kept", n: 0 }, ...strange.map((id, n) => ({ id, n: n + 1 })), { n: 99 }];
  const report = await imported("replaced", resources, "?ids=replace");
  assert.equal(report.imported, 11);
  assert.equal(report.replacedIds.count, 9);
  const empty = await imported("empty", [{ id: null }, { id: null }, { id: "" }], "?ids=replace");
  assert.deepEqual([empty.imported, empty.replacedIds.count], [3, 3]);
  assert.deepEqual(report.replacedIds.first[0], { line: 2, id: '"shop:1"' });
  const errors = await refused("replaced", resources.slice(0, 10), "?ids=replace");
  assert.deepEqual(
    errors.map(({ code }) => code),
    Array.from({ length: 9 }, () => "unique"),
  );
});

test("with keep-in, an attribute has the old id", async () => {
  await imported("kept", [{ id: "shop:1" }, { id: 2.5 }, { id: "fits" }], "?ids=keep-in:old");
  const found = await list("kept", "&sort=old");
  assert.deepEqual(found.map(({ old }) => old).sort(), [2.5, "shop:1", undefined].sort());
  const [error] = await refused("kept", [{ id: "shop:3", old: 1 }], "?ids=keep-in:old");
  assert.deepEqual([error?.code, error?.pointer], ["keepIn", "#/old"]);
  await imported("kept", [{ id: "four", old: 1 }], "?ids=keep-in:old");
  await imported("odd", [{ id: "shop:1" }], "?ids=keep-in:__proto__");
  assert.match((await service.send({ path: "/api/v1/odd" })).text, /"__proto__":"shop:1"/);
});

describe("references", () => {
  test("are rewritten before and after their resource, in the same collection and in others", async () => {
    await imported(
      "places",
      [
        { id: "p:1", name: "room", parentId: "p:2" },
        { id: "p:2", name: "house", parentId: "town" },
        { id: "town", name: "town" },
        { id: "p:3", name: "garden", parentId: "p:2" },
      ],
      "?ids=keep-in:old",
    );
    await imported("visits", [{ id: "v", placeIds: ["p:1", "town"] }], "?ids=replace");
    await imported("numbers", [{ id: 5, placeId: "p:3" }], "?ids=replace");
    const places = new Map((await list("places")).map((each) => [each.id, each]));
    const parentOf = ({ parentId }: Resource) => places.get(parentId);
    const room = [...places.values()].find(({ old }) => old === "p:1") as Resource;
    assert.deepEqual([parentOf(room)?.name, parentOf(parentOf(room) ?? {})?.name], ["house", "town"]);
    const [visit] = await list("visits");
    assert.deepEqual(visit?.placeIds, [room.id, "town"]);
    const [number] = await list("numbers");
    assert.equal(places.get(number?.placeId)?.name, "garden");
  });

  test("are rewritten whatever the old ids are", async () => {
    const oid = { $oid: "507f1f77" };
    await imported(
      "towns",
      [
        { id: oid, name: "a" },
        { id: 1.5, name: "b" },
      ],
      "?ids=replace",
    );
    const streets = [{ id: "s1", townIds: [oid, 1.5, null] }];
    await imported("streets", streets, "?ids=replace");
    const towns = new Map((await list("towns")).map(({ id, name }) => [name, id]));
    assert.deepEqual((await list("streets"))[0]?.townIds, [towns.get("a"), towns.get("b"), null]);
  });

  test("without the option, and those to a collection with integer ids, are invalid as before", async () => {
    const [lost] = await refused("visits", [{ placeIds: ["p:1"] }]);
    assert.deepEqual([lost?.code, lost?.pointer], ["reference", "#/placeIds/0"]);
    const [number] = await refused("visits", [{ numberId: "one" }], "?ids=replace");
    assert.deepEqual([number?.code, number?.pointer], ["reference", "#/numberId"]);
  });
});

test("in a collection with integer ids, the new ids follow those of the body", async () => {
  await imported("numbers", [{ id: "one" }, { id: 41 }], "?ids=keep-in:was");
  assert.deepEqual(
    (await list("numbers", "&id:gt=40")).map(({ id, was }) => [id, was]),
    [
      [41, undefined],
      [42, "one"],
    ],
  );
});

test("an option that cannot be carried out is refused", async () => {
  for (const [name, ids, says] of [
    ["open", "yes", /must be replace, or keep-in:/],
    ["open", "keep-in:", /must be replace, or keep-in:/],
    ["open", "keep-in:id", /names the id itself/],
    ["places", "keep-in:gone", /"gone\\", which is not an attribute of places/],
    ["stamped", "keep-in:createdAt", /"createdAt\\", which the service writes/],
  ] as const) {
    const answer = await send(name, [{ id: "a" }], `?ids=${ids}`);
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match(answer.text, says);
  }
  const both = await send("replaced", [{ id: "a" }], "?ids=replace&on=email");
  assert.match(both.text, /cannot be combined with/);
});

describe("the member that is the id", () => {
  test("can have another name, also inside an object, in JSON and in CSV", async () => {
    await imported("renamed", [{ _id: "a", n: 1 }, { n: 2 }], "?id=_id");
    await imported(
      "renamed",
      [
        { _id: { $oid: "b" }, n: 3 },
        { _id: { $oid: "c", more: 1 }, n: 4 },
      ],
      "?id=_id.$oid",
    );
    const found = new Map((await list("renamed")).map((each) => [each.n, each]));
    assert.deepEqual([found.get(1)?.id, found.get(3)?.id], ["a", "b"]);
    assert.deepEqual(found.get(4), { id: "c", _id: { more: 1 }, n: 4 });
    assert.match(String(found.get(2)?.id), uuid7);
    const body = "ID,n\nd,5\n";
    const path = "/api/v1/renamed/_import";
    const csv = (query: string) =>
      service.send({ method: "POST", path: path + query, headers: { "Content-Type": "text/csv" }, body });
    check(await csv("?id=ID"), { status: 200 });
    assert.equal((await list("renamed", "&n=5"))[0]?.id, "d");
    const without = { method: "POST", path, headers: { "Content-Type": "text/csv" }, body: "n\n6\n" };
    for (const query of ["", "?id=id"])
      check(await service.send({ ...without, path: path + query }), { status: 200 });
    const lost = await csv("?id=_ID");
    check(lost, { status: 400, problem: "INVALID_IMPORT" });
    assert.match(lost.text, /does not name \\"_ID\\"\. Did you mean \\"ID\\"\?/);
  });

  test("can be none: then each resource gets a new id, and an attribute can keep the old one", async () => {
    await imported("none", [{ id: "same" }, { id: "same" }], "?id=none&ids=keep-in:old");
    const found = await list("none");
    assert.deepEqual(
      found.map(({ old }) => old),
      ["same", "same"],
    );
    for (const { id } of found) assert.match(String(id), uuid7);
  });

  test("is refused if a value would be lost", async () => {
    const [lost] = await refused("both", [{ id: "a", old: 1 }], "?id=none&ids=keep-in:old");
    assert.deepEqual([lost?.code, lost?.pointer], ["keepIn", "#/old"]);
    const [beside] = await refused("both", [{ id: { $oid: "a", more: 1 } }], "?id=id.$oid");
    assert.deepEqual([beside?.code, beside?.pointer], ["id", "#/id"]);
  });

  test("is refused if the resource has an id beside it", async () => {
    const [error] = await refused("both", [{ id: "a", _id: "b" }], "?id=_id");
    assert.deepEqual([error?.code, error?.pointer], ["id", "#/id"]);
    assert.match(error?.detail ?? "", /has a value beside "_id"/);
    check(await send("both", [], "?id=a..b"), { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("finds the references and the keys of the resource as any other id does", async () => {
    await imported(
      "places",
      [
        { old: "x:1", name: "x" },
        { old: "x:2", parentId: "x:1" },
      ],
      "?id=old&ids=replace",
    );
    const parent = (await list("places", "&name=x"))[0];
    assert.equal((await list("places", `&parentId=${parent?.id}`)).length, 1);
  });
});
