/** Collections with dates in all forms. */

/** A schema with an attribute of each kind that has dates. */
export const datedSchema = {
  type: "object",
  additionalProperties: true,
  properties: {
    at: { type: "string", format: "date-time" },
    due: { type: ["string", "null"], format: "date" },
    millis: { type: "integer", format: "unix-millis" },
    any: { format: "date-value" },
    either: {
      anyOf: [
        { type: "string", format: "date" },
        { type: "string", format: "date-time" },
      ],
    },
    all: { type: "array", items: { type: "string", format: "date-time" } },
    n: { type: "integer" },
    owner: { type: "string" },
  },
} as const;

/** The collections of the tests of dates. */
export const datedCollections = {
  events: { schema: datedSchema, timestamps: true, indexes: ["at", ["n", "-at"], "any"] },
  notes: { schema: datedSchema, references: { owner: "events" } },
  reminders: { schema: datedSchema, timestamps: true, indexes: ["at"] },
  followups: {
    references: { reminderId: "reminders" },
    schema: { properties: { title: { type: "string" }, reminderId: { type: "string" } } },
  },
  sorted: { schema: datedSchema, indexes: ["any"] },
  walked: { schema: datedSchema, indexes: ["at"] },
  texts: { schema: datedSchema, indexes: ["owner"] },
  kept: { schema: datedSchema, references: { owner: { collection: "events", as: "host" } } },
} as const;
