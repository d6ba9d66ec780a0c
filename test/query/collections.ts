/** Collections for the tests of this room. */
import { openCollection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";

/** An undeclared collection. */
export const topics = openCollection("topics");

/** Declared and closed, with integer ids. */
export const posts = await defineCollection("posts", {
  id: "integer",
  search: ["title"],
  schema: {
    type: "object",
    properties: {
      title: { type: "string" },
      views: { type: "integer" },
      isOpen: { type: "boolean" },
      note: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string" } },
      author: { type: "object", properties: { name: { type: "string" }, age: { type: "number" } } },
      anything: true,
      rank_gt: { type: "number" },
      count: { type: "integer" },
    },
  },
});

/** Closed, with names that contain a dot. */
export const dotted = await defineCollection("dotted", {
  schema: {
    type: "object",
    properties: {
      "a.b": true,
      c: { type: "object", properties: { "a.b": true }, additionalProperties: false },
    },
    additionalProperties: false,
  },
});
