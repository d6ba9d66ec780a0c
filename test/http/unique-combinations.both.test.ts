/** Unique combinations of attributes, and unique values of a part of a collection. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auth, type Caller, createAs, outcome, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const text = { type: "string", maxLength: 100 } as const;
const service = await startServiceForFile({
  auth: { ...auth, administrators: [{ role: "hr" }] },
  collections: {
    seats: {
      schema: {
        type: "object",
        properties: {
          train: text,
          day: { type: "string", format: "date" },
          seat: text,
          status: { enum: ["open", "gone"] },
          owner: text,
        },
      },
      unique: [{ attributes: ["train", "day", "seat"], ignoreCase: true, where: { status: { ne: "gone" } } }],
      access: { read: [{ where: { owner: "$subject" } }, { role: "hr" }], write: "authenticated" },
    },
    pages: { schema: { properties: { teamId: text, slug: text, note: text } }, unique: [["teamId", "slug"]] },
    desks: {
      schema: { properties: { room: { type: "integer" }, seat: text, floor: text } },
      attributes: { room: { roles: ["hr"] }, seat: { roles: ["hr"] }, floor: { roles: ["hr"] } },
      unique: [["floor", "seat"], { attribute: "room", where: { seat: "s2" } }],
    },
    teams: {},
    members: {
      schema: { properties: { name: text, teamId: text } },
      references: { teamId: { collection: "teams", onDelete: "clear" } },
      unique: [{ attribute: "name", where: { teamId: { exists: false } } }],
    },
  },
});

let number = 0;
const fresh = (name: string) => `${name}${++number}`;
const post = (who: Caller, collection: string, content: unknown) =>
  sendAs(service, who, { method: "POST", path: `/api/v1/${collection}`, content });

interface Taken {
  detail: string;
  errors: Record<string, string>;
  violations: { pointer: string; detail: string }[];
  holder?: string | null;
  operation?: number;
  resource?: string;
}

function takenOf(answer: Answer): Taken {
  check(answer, { status: 409, problem: "UNIQUE_VIOLATION", more: ["operation", "resource"] });
  return answer.json as Taken;
}

describe("a refusal", () => {
  test("points at every attribute, and names the other resource only to those who can read it", async () => {
    const seat = { train: fresh("IC"), day: "2026-01-31", seat: "12A", owner: "ada" };
    const { path } = await createAs(service, "ada", "seats", seat);
    const taken = takenOf(await post("ada", "seats", { ...seat, seat: "12a" }));
    assert.equal(taken.holder, path);
    assert.equal(taken.detail, '"train", "day" and "seat" repeat the values of another resource.');
    assert.deepEqual(
      taken.violations.map(({ pointer, detail }) => [pointer, detail]),
      [
        ["#/train", 'repeats the value of another resource, together with "day" and "seat"'],
        ["#/day", 'repeats the value of another resource, together with "train" and "seat"'],
        ["#/seat", 'repeats the value of another resource, together with "train" and "day"'],
      ],
    );
    assert.deepEqual(Object.keys(taken.errors), ["train", "day", "seat"]);
    assert.equal(takenOf(await post("bob", "seats", { ...seat, owner: "bob" })).holder, null);
    assert.equal(takenOf(await post("hans", "seats", seat)).holder, path);
  });

  test("never tells a caller of attributes that the caller cannot see", async () => {
    const desk = { floor: fresh("floor"), seat: "s1" };
    const { path } = await createAs(service, "hans", "desks", desk);
    check(await sendAs(service, "ada", { method: "DELETE", path }), { status: 205 });
    await createAs(service, "hans", "desks", desk);
    const restore = { method: "POST", path: `${path}/_restore`, content: { version: 1 } };
    const answer = await sendAs(service, "ada", restore);
    assert.doesNotMatch(answer.text, /seat|floor|s1/);
    assert.match(takenOf(answer).detail, /because of attributes that you cannot see\.$/);
    assert.deepEqual(
      takenOf(await sendAs(service, "hans", restore)).violations.map(({ pointer }) => pointer),
      ["#/floor", "#/seat"],
    );
  });
});

describe("a combination and its filter hold", () => {
  test("in PUT and PATCH, and a resource that leaves the filter makes its values free", async () => {
    const seat = { train: fresh("IC"), day: "2026-01-31", seat: "1", owner: "ada" };
    const first = await createAs(service, "ada", "seats", seat);
    const second = await createAs(service, "ada", "seats", { ...seat, status: "gone" });
    const patch = (path: string, content: object) =>
      sendAs(service, "ada", { method: "PATCH", path, content });
    assert.equal(takenOf(await patch(second.path, { status: null })).holder, first.path);
    takenOf(
      await sendAs(service, "ada", { method: "PUT", path: second.path, content: { id: second.id, ...seat } }),
    );
    check(await patch(first.path, { status: "gone" }), { status: 200 });
    check(await patch(second.path, { status: "open" }), { status: 200 });
    assert.equal(takenOf(await patch(first.path, { status: "open" })).holder, second.path);
    check(await patch(second.path, { day: null }), { status: 200 });
    check(await patch(first.path, { status: "open" }), { status: 200 });
  });

  test("in a batch, for what all its operations make together", async () => {
    const teamId = fresh("team");
    const [a, b] = await Promise.all(
      ["x", "y"].map((slug) => createAs(service, "ada", "pages", { teamId, slug })),
    );
    const send = (operations: unknown[]) =>
      sendAs(service, "ada", { method: "POST", path: "/api/v1/_batch", content: { operations } });
    const rename = (id: string | undefined, slug: string) => ({
      method: "PATCH",
      path: `/pages/${id}`,
      body: { slug },
    });
    check(await send([rename(a?.id, "y"), rename(b?.id, "x")]), { status: 200 });
    const taken = takenOf(
      await send([
        { method: "POST", path: "/pages", body: { teamId: fresh("team"), slug: "x" } },
        { method: "POST", path: "/pages", body: { teamId, slug: "x" } },
      ]),
    );
    assert.deepEqual([taken.operation, taken.holder], [1, b?.path]);
    const twins = { method: "POST", path: "/pages", body: { teamId, slug: "z" } };
    const both = takenOf(await send([twins, twins]));
    assert.deepEqual([both.operation, "holder" in both], [1, false]);
  });

  test("in a bulk change and its dry run", async () => {
    const teamId = fresh("team");
    const [a] = await Promise.all(
      ["x", "y"].map((slug) => createAs(service, "ada", "pages", { teamId, slug })),
    );
    for (const dryRun of [true, false]) {
      const content = { filter: { teamId }, patch: { slug: "x" }, max: 2, dryRun };
      const taken = takenOf(
        await sendAs(service, "ada", { method: "POST", path: "/api/v1/pages/_bulk", content }),
      );
      assert.equal(taken.violations.length, 2);
      assert.match(taken.resource ?? "", /^\/api\/v1\/pages\//);
    }
    const moved = fresh("team");
    const content = { filter: { teamId }, patch: { teamId: moved }, max: 2 };
    check(await sendAs(service, "ada", { method: "POST", path: "/api/v1/pages/_bulk", content }), {
      status: 200,
    });
    takenOf(await post("ada", "pages", { teamId: moved, slug: "x" }));
    check(await post("ada", "pages", { teamId, slug: "x" }), { status: 201 });
    assert.ok(a);
  });

  test("in an import, which names every attribute with its value", async () => {
    const teamId = fresh("team");
    await createAs(service, "ada", "pages", { teamId, slug: "x" });
    const body = [{ teamId, slug: "x" }, { teamId, slug: "y" }, { teamId, slug: "y" }, { slug: "x" }]
      .map((each) => JSON.stringify(each))
      .join("\n");
    const answer = await sendAs(service, "hans", {
      method: "POST",
      path: "/api/v1/pages/_import",
      body,
      headers: { "Content-Type": "application/x-ndjson" },
    });
    const { report } = answer.json as { report: { invalid: number; errors: Record<string, unknown>[] } };
    assert.equal(report.invalid, 2);
    assert.deepEqual(
      report.errors.map(({ line, pointer, value }) => [line, pointer, value]),
      [
        [1, "#/teamId", JSON.stringify(teamId)],
        [1, "#/slug", '"x"'],
        [3, "#/teamId", JSON.stringify(teamId)],
        [3, "#/slug", '"y"'],
      ],
    );
  });

  test("in a restore, which names the other resource", async () => {
    const teamId = fresh("team");
    const first = await createAs(service, "ada", "pages", { teamId, slug: "x" });
    await sendAs(service, "ada", { method: "DELETE", path: first.path });
    const second = await createAs(service, "ada", "pages", { teamId, slug: "x" });
    const restore = { method: "POST", path: `${first.path}/_restore`, content: { version: 1 } };
    const taken = takenOf(await sendAs(service, "ada", restore));
    assert.equal(taken.holder, second.path);
    assert.equal(
      taken.detail,
      'Version 1 cannot be restored. "teamId" and "slug" repeat the values of another resource.',
    );
  });

  test("when a delete clears a reference", async () => {
    const name = fresh("kim");
    const [a, b] = await Promise.all(["1", "2"].map(() => createAs(service, "ada", "teams", {})));
    const remove = (path = "") => sendAs(service, "ada", { method: "DELETE", path });
    await createAs(service, "ada", "members", { name, teamId: a?.id });
    const other = await createAs(service, "ada", "members", { name, teamId: b?.id });
    check(await remove(a?.path), { status: 205 });
    const refused = await remove(b?.path);
    assert.equal(outcome(refused), "409 REFERENCED");
    assert.match(
      refused.text,
      /would clear references to it, and then two resources would have the same value/,
    );
    check(await remove(other.path), { status: 205 });
    check(await remove(b?.path), { status: 205 });
  });
});

test("the details of a collection show combinations and filters to those who see all their attributes", async () => {
  const detailsFor = async (who: Caller) => {
    const { json } = await sendAs(service, who, { path: "/api/v1/_collections" });
    const { collections } = json as { collections: { name: string; unique: unknown[] }[] };
    return new Map(collections.map(({ name, unique }) => [name, unique]));
  };
  const forAda = await detailsFor("ada");
  assert.deepEqual(forAda.get("seats"), [
    { attributes: ["train", "day", "seat"], ignoreCase: true, where: { status: { ne: "gone" } } },
  ]);
  assert.deepEqual(forAda.get("pages"), [{ attributes: ["teamId", "slug"], ignoreCase: false }]);
  assert.deepEqual(forAda.get("desks"), []);
  assert.deepEqual((await detailsFor("hans")).get("desks"), [
    { attributes: ["floor", "seat"], ignoreCase: false },
    { attribute: "room", ignoreCase: false, where: { seat: "s2" } },
  ]);
});
