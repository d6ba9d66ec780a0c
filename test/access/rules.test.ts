import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AccessDeclaration, owner } from "../../src/access/access-declaration.ts";
import { StartError } from "../../src/errors.ts";
import { accessOf, caller, mayUpdate } from "./fixture.ts";

const ada = caller("ada");
const bob = caller("bob");
const editor = caller("eve", { roles: ["reader", "editor"] });

describe("a rule", () => {
  for (const [what, rule, allowed] of [
    ["public", "public", [undefined, ada, bob, editor]],
    ["authenticated", "authenticated", [ada, bob, editor]],
    ["nobody", "nobody", []],
    ["a role", { role: "editor" }, [editor]],
    ["a list", [{ role: "editor" }, owner("authorId")], [ada, editor]],
    ["an owner", owner("authorId"), [ada]],
    ["a filter that names nobody", { where: { authorId: "ada" } }, [undefined, ada, bob, editor]],
    ["a role and a filter", { role: "editor", where: { authorId: "ada" } }, [editor]],
  ] as const) {
    test(`${what} lets in whom it names, and nobody else`, async () => {
      const access = await accessOf({ read: "public", update: rule });
      for (const principal of [undefined, ada, bob, editor]) {
        const expected = (allowed as readonly unknown[]).includes(principal);
        assert.equal(mayUpdate(access, principal, { authorId: "ada" }), expected, String(principal?.subject));
      }
    });
  }

  test("with a filter is for the resources that the filter is true of", async () => {
    const access = await accessOf({ update: { role: "editor", where: { status: "draft" } } });
    assert.equal(mayUpdate(access, editor, { status: "draft" }), true);
    assert.equal(mayUpdate(access, editor, { status: "published" }), false);
    assert.equal(mayUpdate(access, editor, {}), false);
  });
});

describe("which rule an action has", () => {
  const decisions = async (access: AccessDeclaration | undefined) => {
    const permit = (await accessOf(access)).permit("articles", ada);
    return (["list", "read", "create", "update", "delete"] as const).filter(
      (action) => permit.may(action) !== "nothing",
    );
  };

  test("read is list and read, write is create, update and delete", async () => {
    assert.deepEqual(await decisions({ read: "authenticated" }), ["list", "read"]);
    assert.deepEqual(await decisions({ write: "authenticated" }), ["create", "update", "delete"]);
  });

  test("an action that is named beats the shorthand", async () => {
    assert.deepEqual(await decisions({ list: "nobody", read: "public" }), ["read"]);
    assert.deepEqual(await decisions({ delete: "nobody", write: "public" }), ["create", "update"]);
    assert.deepEqual(await decisions({ delete: "public", write: "nobody" }), ["delete"]);
  });

  test("without rules everything is for the authenticated, and nothing for others", async () => {
    assert.equal((await decisions(undefined)).length, 5);
    const access = await accessOf(undefined);
    assert.equal(access.permit("articles", undefined).may("list"), "nothing");
    assert.equal(access.permit("unheardOf", undefined).may("read"), "nothing");
    assert.equal(access.permit("unheardOf", ada).may("read"), "everything");
  });

  test("with rules, nobody may what they do not name", async () => {
    assert.deepEqual(await decisions({}), []);
  });

  test("a list is of what its caller may read", async () => {
    const access = await accessOf({ list: "public", read: owner("authorId") });
    assert.equal(access.permit("articles", undefined).may("list"), "nothing");
    assert.deepEqual(access.permit("articles", ada).may("list"), access.permit("articles", ada).visible());
  });
});

describe("scopes", () => {
  const scoped = (...scopes: [string, "read" | "write"][]) =>
    caller("ada", { scopes: scopes.map(([collection, action]) => ({ collection, action })) });

  test("narrow what the rules let somebody do", async () => {
    const access = await accessOf({ read: "public", write: "authenticated" });
    const reader = access.permit("articles", scoped(["articles", "read"]));
    assert.deepEqual([reader.may("list"), reader.may("update")], ["everything", "nothing"]);
    const writer = access.permit("articles", scoped(["articles", "write"], ["other", "read"]));
    assert.deepEqual([writer.may("read"), writer.may("create")], ["nothing", "everything"]);
    const neither = access.permit("articles", scoped());
    assert.deepEqual([neither.may("read"), neither.may("delete")], ["nothing", "nothing"]);
  });

  test("give nothing that the rules do not", async () => {
    const access = await accessOf({ read: { role: "editor" } });
    assert.equal(access.permit("articles", scoped(["articles", "read"])).may("read"), "nothing");
  });
});

describe("a start", () => {
  for (const [access, message] of [
    [{ reed: "public" }, 'collections.articles.access.reed is not an action. Did you mean "read"?'],
    [
      { read: "pubic" },
      'collections.articles.access.read: "pubic" is not a rule. Did you mean "public"? To name a role, write { role: "pubic" }.',
    ],
    [
      { read: { rol: "editor" } },
      'collections.articles.access.read.rol is not part of a rule. Did you mean "role"?',
    ],
    [{ read: { role: "" } }, 'collections.articles.access.read.role must be the name of a role, not "".'],
    [
      { read: [] },
      'collections.articles.access.read is an empty list. If that is what you mean, write "nobody".',
    ],
    [
      { read: ["public", 7] },
      'collections.articles.access.read[1] must be "public", "authenticated", "nobody", { role: … } or { where: … }, or a list of these, not 7.',
    ],
    [
      { list: "public" },
      'collections.articles.access.list: a list shows only what the caller can read, but "read" is missing, so every list would be empty. Declare "read" too.',
    ],
    [
      { read: { where: {} } },
      'collections.articles.access.read: "where" is true for every resource. If that is what you mean, write "public".',
    ],
    [
      { read: { where: { authorId: "$subjct" } } },
      'collections.articles.access.read: "$subjct" is not known. Use "$subject" or a claim such as "$claims.tenant". For a text that begins with "$", write "$$subjct".',
    ],
    [
      { read: owner("autorId") },
      'collections.articles.access.read: "where", at "/autorId", is not an attribute of "articles". Did you mean "authorId"?',
    ],
    [
      { read: owner("views") },
      'collections.articles.access.read: "where", at "/views", is a number and cannot be compared with "a".',
    ],
    [
      "public",
      'collections.articles.access must be an object such as { read: "public", write: "authenticated" }, not "public".',
    ],
  ] as const) {
    test(`is refused for ${JSON.stringify(access)}`, async () => {
      const schema = { properties: { authorId: { type: "string" }, views: { type: "integer" } } };
      await assert.rejects(accessOf(access as unknown as AccessDeclaration, schema), (error) => {
        assert.ok(error instanceof StartError);
        assert.equal(error.message, message);
        return true;
      });
    });
  }

  test("is refused if it filters by a related resource, also with an open schema", async () => {
    const authorId = { type: "string" };
    const references = { authorId: { collection: "articles" } };
    await assert.rejects(
      accessOf(
        { read: { where: { "author.name": "Ada" } } },
        { properties: { authorId }, additionalProperties: true },
        { references },
      ),
      (error) => {
        assert.ok(error instanceof StartError);
        assert.equal(
          error.message,
          'collections.articles.access.read: "where" names "author.name", but "author" is a relation, and rules cannot use attributes of related resources. Compare attributes of the resource itself, such as "authorId".',
        );
        return true;
      },
    );
    const schema = { properties: { authorId, author: { type: "object" } } };
    await accessOf({ read: { where: { "author.name": "Ada" } } }, schema, { references });
  });
});
