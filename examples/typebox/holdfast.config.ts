/**
 * Schemas written with TypeBox (npm install typebox), which makes JSON Schema.
 * Run: npx holdfast serve --config examples/typebox/holdfast.config.ts
 */
import { defineConfig } from "holdfast";
import { Type } from "typebox";

const author = Type.Object({
  name: Type.String({ minLength: 1 }),
  born: Type.Optional(Type.String({ format: "date" })),
});

const article = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 200 }),
  authorId: Type.String(),
  status: Type.Union([Type.Literal("draft"), Type.Literal("published")]),
  views: Type.Optional(Type.Integer({ minimum: 0 })),
  tags: Type.Optional(Type.Array(Type.String())),
});

export default defineConfig({
  store: "sqlite:library.db",
  collections: {
    authors: { schema: author },
    articles: {
      schema: article,
      defaults: { status: "draft" },
      references: { authorId: { collection: "authors", onDelete: "cascade" } },
      indexes: ["-views"],
      search: ["title"],
    },
  },
});
