/** A configuration as users write it, by which the tests' clients are typed. */
import { Type } from "typebox";
import { defineConfig } from "../../src/index.ts";

export const config = defineConfig({
  collections: {
    articles: {
      schema: {
        type: "object",
        required: ["title"],
        properties: {
          title: { type: "string", minLength: 1 },
          status: { enum: ["draft", "published"] },
          views: { type: "integer" },
          rating: { type: ["number", "null"] },
          tags: { type: "array", items: { type: "string" } },
          author: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
        },
      },
      defaults: { status: "draft" },
      search: ["title"],
    },
    books: {
      id: "integer",
      schema: Type.Object({
        title: Type.String(),
        year: Type.Optional(Type.Integer()),
        kind: Type.Optional(Type.Union([Type.Literal("novel"), Type.Literal("poems")])),
      }),
      timestamps: true,
    },
    members: {
      schema: {
        type: "object",
        required: ["name", "joinedOn"],
        properties: {
          name: { type: "string" },
          joinedOn: { type: "string", format: "date", readOnly: true },
          password: { type: "string", writeOnly: true },
        },
      },
    },
    notes: {},
    shelves: {
      id: "integer",
      schema: { type: "object", properties: { name: { type: "string" }, ownerId: { type: "string" } } },
      references: { ownerId: "members" },
    },
    loans: {
      schema: {
        type: "object",
        required: ["shelfId"],
        properties: {
          shelfId: { type: "integer" },
          memberId: { type: "string" },
          readerIds: { type: "array", items: { type: "string" } },
          days: { type: "integer" },
        },
      },
      references: {
        shelfId: "shelves",
        memberId: { collection: "members", as: "borrower", inverse: "borrowed" },
        readerIds: { collection: "members", as: "readers", inverse: "reading" },
      },
    },
  },
});

/** The client is compiled and runs in the thread of the service, whose standstills are not looked at here. */
