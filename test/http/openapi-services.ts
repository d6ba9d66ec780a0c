/** Services with which the documents of the interface are tried. */
import { auth } from "./access/callers.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";

const text = { type: "string" };

/** Everything that a declaration may say, and names that could collide. */
export const declared: ServiceOptions = {
  rate: { requests: 1_000, perSeconds: 60 },
  collections: {
    users: {
      id: "integer",
      attributes: { password: { writeOnly: true } },
      schema: { type: "object", required: ["name"], properties: { name: text, password: text } },
    },
    articles: {
      timestamps: true,
      requirePreconditions: true,
      search: ["title"],
      unique: ["slug"],
      references: { authorId: "users" },
      defaults: { status: "draft", due: "$now" },
      schema: {
        title: "Article",
        description: "What is written.",
        $defs: { tag: { $anchor: "tag", type: "string" } },
        type: "object",
        required: ["title", "status"],
        properties: {
          title: { type: "string", minLength: 1 },
          slug: { type: "string", maxLength: 50 },
          authorId: { type: "integer" },
          status: { enum: ["draft", "published"] },
          due: { format: "date-value" },
          shown: { type: ["string", "number", "null"], format: "date-value" },
          tags: { type: "array", items: { $ref: "#tag" } },
          parts: { type: "array", items: { $ref: "#" } },
          main: { $ref: "#/$defs/tag" },
          count: { type: ["integer", "null"] },
        },
      },
    },
    article: {},
    // The service has paths of these names outside the prefix.
    problems: {},
    livez: {},
    blog_posts: { schema: { properties: { a: text }, additionalProperties: true } },
    blogPosts: {},
    Service: {},
    odd: { schema: { allOf: [{ properties: { a: text }, additionalProperties: false }] } },
  },
};

/** Schemas that generators of code do not understand as they are declared. */
export const unusual: ServiceOptions = {
  collections: {
    parts: {
      schema: {
        title: "Part of a machine",
        type: "object",
        required: ["kind"],
        properties: {
          kind: { const: "part" },
          isPart: { const: true },
          five: { const: 5 },
          none: { const: null },
          anything: true,
          list: { type: "array" },
          pair: { type: "array", prefixItems: [text, { type: "number" }], items: false },
          mixed: { enum: ["a", 1, null] },
          fractions: { enum: [1, 2.5] },
          cased: { enum: ["a", "A"] },
          truths: { enum: [true, false] },
          maybe: { enum: [true, false, null] },
          signs: { enum: ["<", ">", "", null] },
          maker: { title: "Address", type: "object", properties: { city: text } },
          owner: { title: "Address", type: "object", properties: { street: text } },
          seller: { $ref: "#/properties/maker" },
          filter: { type: "object", properties: { mesh: text } },
          page: { type: ["object", "null"], properties: { number: { type: "integer" } } },
          whole: { $ref: "#" },
          inner: { type: "array", items: { $ref: "#" } },
          screw: { $ref: "#/$defs/a%20screw" },
          join: { oneOf: [{ $ref: "#/$defs/a%20screw" }, { $ref: "#/$defs/glue" }] },
          more: { allOf: [{ $ref: "#/$defs/glue" }, { type: "object", properties: { more: text } }] },
          "dotted.name": text,
          class: text,
        },
        $defs: {
          "a screw": { type: "object", properties: { with: { $ref: "#/$defs/glue" } } },
          glue: { title: "Glue", type: "object", properties: { kind: { const: "glue" } } },
        },
        additionalProperties: false,
      },
    },
    machines: {
      schema: { title: "Part of a machine", type: "object", properties: { part: { type: "object" } } },
    },
  },
};

/** A service with access rules and another prefix. */
export const guarded: ServiceOptions = {
  auth,
  prefix: "/shop/v2",
  collections: {
    people: {
      access: { read: "public", write: { role: "editor" } },
      attributes: { salary: { roles: ["hr"] } },
      schema: { type: "object", properties: { name: text, salary: { type: "number" } } },
    },
    notes: {},
  },
};

/** Starts an open service, one with declared collections, and one with access rules. The test must stop them. */
export async function startDescribed(): Promise<Record<"open" | "declared" | "guarded", Service>> {
  // The services after the first are started, and their schemas compiled, in the thread of the ones before.
  return {
    open: await startService(),
    declared: await startService(declared),
    guarded: await startService(guarded),
  };
}
