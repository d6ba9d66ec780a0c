/** The resources for measurements. */

/** Attributes of about 300 bytes as JSON. */
export function sampleAttributes(n: number): Record<string, unknown> {
  return {
    title: `A title of an article with the number ${n}`,
    author: `author-${n % 1000}`,
    publishedOn: "2026-03-14",
    rating: (n % 50) / 10,
    tags: ["news", "sport", `tag-${n % 77}`],
    summary:
      "A few words that say what the article is about, as an editor would write them for the front page.",
  };
}

/** The schema that `sampleAttributes` fits. */
export const sampleSchema = {
  type: "object",
  required: ["title", "author", "publishedOn", "rating", "tags", "summary"],
  properties: {
    title: { type: "string", minLength: 1, maxLength: 200 },
    author: { type: "string", pattern: "^author-[0-9]+$" },
    publishedOn: { type: "string", format: "date" },
    rating: { type: "number", minimum: 0, maximum: 5 },
    tags: { type: "array", items: { type: "string", maxLength: 30 }, maxItems: 20 },
    summary: { type: "string", maxLength: 20_000 },
  },
};
