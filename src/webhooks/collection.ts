/** The collection of webhooks: its schema, and the rules that a schema cannot express. */
import { isIP } from "node:net";
import type { View } from "../changes/event.ts";
import { type Collection, openCollection } from "../collection/collection.ts";
import { compileSchema } from "../collection/declaration.ts";
import { type Attributes, attributeViolation, type Validator } from "../collection/resource.ts";
import { visibilityOf } from "../collection/visibility.ts";
import type { Violation } from "../errors.ts";
import { isObject } from "../json/values.ts";
import type { Filter } from "../query/filter.ts";
import { readFilter } from "../query/filter-json.ts";
import { emptyFilterSize } from "../query/reading.ts";
import { inBody, Violations } from "../query/violations.ts";
import type { ChangeKind } from "../store/change-log.ts";
import { otherCollections, statesOfWebhooks } from "../store/owed.ts";
import { type AllowList, hostOf, isPublicAddress } from "./addresses.ts";
import { secretBytesOf, secretSizes } from "./signature.ts";

// An `import` would load all of the module at each start.
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

/** The names of the internal collections of webhooks. */
export const webhooksName = "_webhooks";
export const statesName = statesOfWebhooks;
export const deliveriesName = "_webhook_deliveries";

/** The most webhooks of one service. */
export const maxWebhooks = 100;

/** In `collections`: every collection, also those that do not exist yet. */
export const everyCollection = otherCollections;

/** The attributes of a webhook. */
export interface Webhook {
  id: string;
  url: string;
  collections: readonly string[];
  types: readonly ChangeKind[];
  filter?: Record<string, unknown>;
  fields?: readonly string[];
  description?: string;
  enabled: boolean;
  roles: readonly string[];
  headers?: Readonly<Record<string, string>>;
  secret: string;
}

const kinds: readonly ChangeKind[] = ["created", "updated", "deleted"];

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

const defaults = { types: kinds, enabled: true, roles: [] } as const;

/** A webhook with the defaults of the attributes that it lacks. A replacement can leave them out. */
export function withWebhookDefaults(attributes: Webhook): Webhook {
  return {
    ...attributes,
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !Object.hasOwn(attributes, name))),
  };
}

/** What the rules of webhooks depend on. */
export interface WebhookRules {
  allow: AllowList;
  /** A collection as a caller with these roles sees it; `undefined` if it does not exist. */
  viewOf(collection: string, roles: readonly string[]): Collection | undefined;
}

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
      valueFor: () => structuredClone(value),
      namesCaller: false,
    })),
    attributeRules: hiddenRules,
    visibility: visibilityOf(hiddenRules, []),
    validate: (attributes) => {
      const violations = validator(attributes);
      return violations.length > 0 || rules === undefined ? violations : violationsOf(attributes, rules);
    },
  };
  let loading: Promise<void> | undefined;
  const load = async () => {
    validator = await compileSchema(schema, "The schema of webhooks");
  };
  return { collection, load: () => (loading ??= load()) };
}

/** The rules for attributes that fit the schema. */
function violationsOf(attributes: Attributes, rules: WebhookRules): readonly Violation[] {
  const webhook = withWebhookDefaults(attributes as unknown as Webhook);
  return [
    ...urlViolations(webhook, rules.allow),
    ...collectionViolations(webhook, rules),
    ...filterViolations(webhook, rules),
    ...headerViolations(webhook),
    ...secretViolations(webhook),
  ];
}

function urlViolations({ url }: Webhook, allow: AllowList): Violation[] {
  const refuse = (detail: string) => [attributeViolation("url", "url", detail)];
  if (!URL.canParse(url)) return refuse("must be a URL such as https://example.org/hook");
  const { protocol, hostname, username, password, hash } = new URL(url);
  const host = hostOf(hostname);
  if (username !== "" || password !== "")
    return refuse('must not contain a user name or password. Send a header with "headers" instead');
  if (hash !== "") return refuse("must not have a fragment");
  const isPlain = protocol === "http:";
  if (protocol !== "https:" && !(isPlain && allow.mayBePlain(host)))
    return refuse(
      'must begin with https://. For a receiver in your own network, add its address to "webhooks.allow"',
    );
  if (isIP(host) !== 0 && !isPublicAddress(host) && !allow.hasAddress(host) && !allow.hasName(host))
    return refuse(`must not name the address ${host}, which is not public. Add it to "webhooks.allow" first`);
  return [];
}

function collectionViolations({ collections }: Webhook, { viewOf }: WebhookRules): Violation[] {
  if (collections.length === 1 && collections[0] === everyCollection) return [];
  const refuse = (detail: string) => [attributeViolation("collections", "collection", detail)];
  if (collections.includes(everyCollection)) return refuse('must contain either "*" or names, not both');
  const unknown = collections.find((name) => viewOf(name, []) === undefined);
  return unknown === undefined ? [] : refuse(`names the collection "${unknown}", which does not exist`);
}

function filterViolations(webhook: Webhook, rules: WebhookRules): readonly Violation[] {
  if (webhook.filter === undefined) return [];
  const [name = everyCollection, ...others] = webhook.collections;
  if (name === everyCollection || others.length > 0)
    return [attributeViolation("filter", "filter", 'needs exactly one collection in "collections"')];
  const collection = rules.viewOf(name, webhook.roles);
  if (collection === undefined) return []; // reported already
  return readWebhookFilter(webhook.filter, collection).violations;
}

function readWebhookFilter(
  value: unknown,
  collection: Collection,
): { filter: Filter; violations: readonly Violation[] } {
  const violations = new Violations();
  const filter = readFilter(value, inBody("filter"), { collection, violations, used: emptyFilterSize() });
  return { filter, violations: violations.all };
}

/** Headers that the service itself sets, or that belong to the connection. */
const ownHeaders =
  /^(?:connection|content-.*|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|webhook-.*)$/i;

function headerViolations({ headers }: Webhook): Violation[] {
  const names = Object.keys(headers ?? {});
  const refused = names.find((name) => ownHeaders.test(name) || !isHeader(name, headers?.[name]));
  if (refused === undefined) {
    const lower = names.map((name) => name.toLowerCase());
    if (new Set(lower).size === lower.length) return [];
    return [attributeViolation("headers", "header", "must not name a header twice")];
  }
  const why = ownHeaders.test(refused)
    ? `must not contain ${refused}, which the service sets itself`
    : `must be valid HTTP headers, but ${JSON.stringify(refused)} is not`;
  return [attributeViolation("headers", "header", why)];
}

function isHeader(name: string, value: unknown): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

function secretViolations({ secret }: Webhook): Violation[] {
  if (secret === undefined || secretBytesOf(secret) !== undefined) return [];
  const { least, most } = secretSizes;
  return [attributeViolation("secret", "secret", `must be "whsec_" and ${least} to ${most} bytes in base64`)];
}

/** What a webhook sees of a collection; `undefined` if the collection does not exist, or the filter no longer fits it. */
export function viewOfWebhook(
  { filter: declared, fields, roles }: Webhook,
  name: string,
  { viewOf, prefix }: Pick<WebhookRules, "viewOf"> & { prefix: string },
): View | undefined {
  const collection = viewOf(name, roles);
  if (collection === undefined) return undefined;
  const source = `${prefix}/${name}`;
  const seen = { collection, source, listed: "everything", fields } as const;
  if (!isObject(declared)) return { ...seen, filter: undefined };
  const { filter, violations } = readWebhookFilter(declared, collection);
  return violations.length > 0 ? undefined : { ...seen, filter };
}
