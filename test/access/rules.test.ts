import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AccessDeclaration, owner } from "../../src/access/access-declaration.ts";
import { StartError } from "../../src/errors.ts";
import { accessOf, caller } from "./fixture.ts";

const ada = caller("ada");

describe("which rule an action has", () => {
  const decisions = async (access: AccessDeclaration | undefined) => {
    const permit = (await accessOf(access)).permit("articles", ada);
    return (["list", "read", "create", "update", "delete"] as const).filter(
      (action) => permit.may(action) !== "nothing",
    );
  };

  test("without rules everything is for the authenticated, and nothing for others", async () => {
    assert.equal((await decisions(undefined)).length, 5);
    const access = await accessOf(undefined);
    assert.equal(access.permit("articles", undefined).may("list"), "nothing");
    assert.equal(access.permit("unheardOf", undefined).may("read"), "nothing");
    assert.equal(access.permit("unheardOf", ada).may("read"), "everything");
  });

  test("a list is of what its caller may read", async () => {
    const access = await accessOf({ list: "public", read: owner("authorId") });
    assert.equal(access.permit("articles", undefined).may("list"), "nothing");
    assert.deepEqual(access.permit("articles", ada).may("list"), access.permit("articles", ada).visible());
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
