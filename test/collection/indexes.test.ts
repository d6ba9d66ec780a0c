import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CollectionDeclaration, defineCollection } from "../../src/collection/declaration.ts";
import { StartError } from "../../src/errors.ts";

const schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    year: { type: ["integer", "null"] },
    tags: { type: "array" },
    author: { type: "object", properties: { name: { type: "string" } } },
    other: { type: "object" },
  },
};

const define = (declaration: CollectionDeclaration) => defineCollection("books", { schema, ...declaration });

describe("what makes lists quick is refused where the schema has no room for it", () => {
  const cases: [declaration: CollectionDeclaration, message: string][] = [
    [{ search: ["titel"] }, 'search[0]: "titel" is not an attribute of the schema. Did you mean "title"?'],
    [
      { search: ["title", "author.nam"] },
      'search[1]: "author.nam" is not an attribute of the schema. Did you mean "author.name"?',
    ],
    [{ search: ["publisher"] }, 'search[0]: "publisher" is not an attribute of the schema.'],
    [{ search: ["title.en"] }, 'search[0]: "title.en" is not an attribute of the schema.'],
    [{ search: ["year"] }, 'search[0]: "year" has no words to search, because its type is number or null.'],
    [{ search: ["author"] }, 'search[0]: "author" has no words to search, because its type is object.'],
    [
      { indexes: ["year", ["title", "-yaer"]] },
      'indexes[1]: "yaer" is not an attribute of the schema. Did you mean "year"?',
    ],
    [{ indexes: ["createdAt"] }, 'indexes[0]: "createdAt" is not an attribute of the schema.'],
  ];
  for (const [declaration, message] of cases)
    test(message, async () => {
      await assert.rejects(define(declaration), new StartError(`collections.books.${message}`));
    });
});

test("what makes lists quick may be whatever the schema has room for", async () => {
  await define({ search: ["title", "tags", "author.name", "other.name"], indexes: ["year", "author.name"] });
  await define({ indexes: ["-createdAt"], timestamps: true });
  await defineCollection("books", { search: ["anything"], indexes: ["anything.else"] });
  await define({ schema: { ...schema, additionalProperties: true }, search: ["titel"], indexes: ["titel"] });
});
