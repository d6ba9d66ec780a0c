import assert from "node:assert/strict";
import { test } from "node:test";
import { type CollectionDeclaration, defineCollection } from "../../src/collection/declaration.ts";
import { formatPath } from "../../src/collection/paths.ts";
import { withRelations } from "../../src/collection/relations.ts";
import { StartError } from "../../src/errors.ts";

const schemaOf = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, typeOf(name)])),
});

const typeOf = (name: string) =>
  name.endsWith("s") ? { type: "array", items: { type: "string" } } : { type: "string" };

/** The relations of each collection, such as `users: articles <- articles.authorId []`. */
async function relationsOf(declarations: Record<string, CollectionDeclaration>): Promise<string[]> {
  const collections = await Promise.all(
    Object.entries(declarations).map(
      async ([name, each]) => [name, await defineCollection(name, each)] as const,
    ),
  );
  return [...withRelations(new Map(collections)).values()].flatMap(({ name: from, relations }) =>
    [...relations.values()].map(({ name, kind, collection, path, isList }) => {
      const end =
        kind === "reference"
          ? `-> ${collection} by ${formatPath(path)}`
          : `<- ${collection}.${formatPath(path)}`;
      return `${from}: ${name} ${end}${isList ? " []" : ""}`;
    }),
  );
}

const users = { schema: schemaOf("name") };

test("a reference has a name without Id, and its inverse is the collection that refers", async () => {
  const found = await relationsOf({
    users,
    tags: { schema: schemaOf("name") },
    articles: {
      schema: schemaOf("authorId", "tag_ids"),
      references: { authorId: "users", tag_ids: "tags" },
    },
  });
  assert.deepEqual(found, [
    "users: articles <- articles.authorId []",
    "tags: articles <- articles.tag_ids []",
    "articles: author -> users by authorId",
    "articles: tag -> tags by tag_ids []",
  ]);
});

test("two references to one collection have no derived inverse", async () => {
  const references = { authorId: "users", editorId: { collection: "users", inverse: "edited" } };
  const found = await relationsOf({
    users,
    articles: { schema: schemaOf("authorId", "editorId"), references },
  });
  assert.deepEqual(found, [
    "users: edited <- articles.editorId []",
    "articles: author -> users by authorId",
    "articles: editor -> users by editorId",
  ]);
});

test("a derived name does not exist where an attribute or another relation can have it", async () => {
  const found = await relationsOf({
    users: { schema: { type: "object" } },
    articles: {
      schema: schemaOf("authorId", "author", "owner", "editorId", "editor_id"),
      references: { authorId: "users", owner: "users", editorId: "users", editor_id: "users" },
    },
    notes: { references: { userId: "users" } },
  });
  assert.deepEqual(found, []);
});

test("declared names also exist in collections without a schema", async () => {
  const found = await relationsOf({
    users: {},
    notes: { references: { "by.id": { collection: "users", as: "by-whom", inverse: "notes" } } },
  });
  assert.deepEqual(found, ["users: notes <- notes.by.id []", "notes: by-whom -> users by by.id"]);
});

test("a declared name that is already used is refused", async () => {
  const declarations = {
    users: { schema: schemaOf("articles") },
    articles: {
      schema: schemaOf("authorId", "editorId"),
      references: {
        authorId: { collection: "users", as: "person", inverse: "articles" },
        editorId: { collection: "users", as: "person", inverse: "edited" },
      },
    },
  };
  await assert.rejects(relationsOf(declarations), (error: StartError) => {
    assert(error instanceof StartError);
    assert.deepEqual(
      error.faults.map(({ text }) => text),
      [
        'collections.articles.references.authorId.inverse: "articles" is an attribute of "users". Choose another name.',
        'collections.articles.references.editorId.as: "person" is already a relation of "articles". Choose another name.',
      ],
    );
    return true;
  });
});

test("a name that cannot be part of a path is refused", async () => {
  const references = { authorId: { collection: "users", as: "the author" } };
  const declaration = defineCollection("articles", { schema: schemaOf("authorId"), references });
  await assert.rejects(
    declaration,
    /references\.authorId\.as must be a letter followed by .* not "the author"/,
  );
});
