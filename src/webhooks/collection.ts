/** The collection of webhooks: its schema. `rules.ts` has what a schema cannot express. */
import { type Collection, openCollection } from "../collection/collection.ts";
import { compileSchema } from "../collection/declaration.ts";
import type { Validator } from "../collection/resource.ts";
import { visibilityOf } from "../collection/visibility.ts";
import { newOf, violationsOf, type WebhookRules } from "./rules.ts";
import { defaults, kinds, webhooksName } from "./webhook.ts";

/** The most webhooks of one service. */
export const maxWebhooks = 100;

const texts = { type: "array", items: { type: "string", minLength: 1 }, uniqueItems: true };

const schema = {
  title: "A webhook",
  description: "Receivers outside the service that get its changes. Only administrators have access.",
  type: "object",
  required: ["url", "collections"],
  properties: {
    url: { type: "string", maxLength: 2_000, description: "The URL of the receiver, with https." },
    collections: {
      ...texts,
      minItems: 1,
      maxItems: 50,
      description: 'The collections whose changes it gets. `["*"]` means every collection.',
    },
    types: {
      type: "array",
      items: { enum: kinds },
      minItems: 1,
      uniqueItems: true,
      description: "The kinds of changes that it gets.",
    },
    filter: {
      type: "object",
      description: "A filter as in the body of a QUERY request. The webhook then has exactly one collection.",
    },
    fields: { ...texts, minItems: 1, maxItems: 100, description: "The attributes of `data`." },
    description: { type: "string", maxLength: 1_000, description: "What the webhook is for." },
    enabled: { type: "boolean", description: "Whether the service delivers." },
    roles: {
      ...texts,
      maxItems: 100,
      description: "Roles whose attributes the webhook gets, besides those that need no role.",
    },
    headers: {
      type: "object",
      additionalProperties: { type: "string", maxLength: 4_000 },
      maxProperties: 20,
      writeOnly: true,
      description: "Headers of every delivery. They are removed if the origin of `url` changes.",
    },
    secret: {
      type: "string",
      maxLength: 100,
      writeOnly: true,
      description: "The secret of the signatures: `whsec_` and 24 to 64 bytes in base64.",
    },
  },
};

const hiddenRules = ["headers", "secret"].map((name) => ({
  name,
  readOnly: false,
  writeOnly: true,
  roles: undefined,
}));

/** The collection of webhooks, and what must be loaded before it can validate. */
export interface WebhookCollection {
  collection: Collection;
  load(): Promise<void>;
}

/** The collection of webhooks. Without rules, it is for descriptions only. */
export function webhookCollection(rules?: WebhookRules): WebhookCollection {
  let validator: Validator = () => [];
  const collection: Collection = {
    ...openCollection(webhooksName),
    schema: JSON.stringify(schema),
    defaults: Object.entries(defaults).map(([name, value]) => ({
      name,
      declared: value,
      valueFor: () => structuredClone(value),
      namesCaller: false,
    })),
    attributeRules: hiddenRules,
    visibility: visibilityOf(hiddenRules, []),
    validate: (attributes, before) => {
      const violations = validator(attributes);
      if (violations.length > 0 || rules === undefined) return violations;
      const found = violationsOf(attributes, rules);
      return found.length === 0 || before === undefined ? found : newOf(found, attributes, before(), rules);
    },
  };
  let loading: Promise<void> | undefined;
  const load = async () => {
    validator = await compileSchema(schema, "The schema of webhooks");
  };
  return { collection, load: () => (loading ??= load()) };
}
