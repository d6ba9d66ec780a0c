/**
 * Names and slugs that the service computes, and that filters, searches and unique values can use.
 * Run: npx holdfast serve --config examples/names/holdfast.config.ts
 */
import { defineConfig } from "holdfast";

/** A text as a part of a path: `Crème brûlée!` becomes `creme-brulee`. */
const slugOf = (text: string) =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");

export default defineConfig({
  store: "sqlite:names.db",
  collections: {
    people: {
      schema: {
        type: "object",
        required: ["given", "family"],
        properties: {
          given: { type: "string", minLength: 1, maxLength: 100 },
          family: { type: "string", minLength: 1, maxLength: 100 },
        },
      },
      computed: {
        fullName: {
          schema: { type: "string" },
          from: ["given", "family"],
          value: ({ given, family }: { given: string; family: string }) => `${given} ${family}`,
        },
      },
      indexes: ["fullName"],
      search: ["fullName"],
    },
    articles: {
      schema: {
        type: "object",
        required: ["title"],
        properties: { title: { type: "string", maxLength: 200 }, text: { type: "string" } },
      },
      computed: {
        slug: {
          // A title without a letter or a number has no slug, and is refused.
          schema: { type: "string", minLength: 1, maxLength: 250 },
          from: ["title"],
          value: ({ title }: { title: string }) => slugOf(title),
        },
      },
      unique: ["slug"],
    },
  },
});
