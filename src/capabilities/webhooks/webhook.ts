/** A webhook: its attributes with their schema and rules, and what it sees of a collection. */
import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { everyCollection } from "../../changes/consume/consumer.ts";
import { fieldsFault, readSelectionFilter, selectedFields } from "../../changes/consume/selection.ts";
import type { View } from "../../changes/event.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { compileSchema } from "../../collection/declaration.ts";
import { type Attributes, attributeViolation, isAbout, type Validator } from "../../collection/resource.ts";
import { visibilityOf } from "../../collection/visibility.ts";
import { toSentence, type Violation } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import type { ChangeKind } from "../../store/port/change-log.ts";
import { type AllowList, hostOf, isPublicAddress } from "./addresses.ts";
import { secretBytesOf, secretSizes } from "./signature.ts";

// An `import` would load all of the module at each start.
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

/** The name of the internal collection of webhooks. */
export const webhooksName = "_webhooks";

/** How documents name webhooks: the tag of their operations, and the start of other names. */
export const naming = { tag: "Webhooks", called: "webhooks" };

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

/** The attributes that a webhook can leave out. */
const defaults = { types: kinds, enabled: true, roles: [] } as const;

/** A webhook with the defaults of the attributes that it lacks. A replacement can leave them out. */
export function withWebhookDefaults(attributes: Webhook): Webhook {
  return {
    ...attributes,
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !Object.hasOwn(attributes, name))),
  };
}

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
    fields: {
      ...texts,
      minItems: 1,
      maxItems: 100,
      description: "The attributes of `data`, or those that it leaves out, as `-body`.",
    },
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
      declared: value,
      valueFor: () => structuredClone(value),
      namesCaller: false,
    })),
    attributeRules: hiddenRules,
    visibility: visibilityOf(hiddenRules, []),
    validate: (given, before) => {
      const attributes = withoutKeptSecret(given, before);
      const violations = validator(attributes);
      if (violations.length > 0 || rules === undefined) return violations;
      const found = violationsOf(attributes, rules);
      return found.length === 0 || before === undefined ? found : newOf(found, attributes, before(), rules);
    },
  };
  let loading: Promise<void> | undefined;
  const load = async () => {
    validator = await compileSchema(schema, "The schema of webhooks", { isConstant: true });
  };
  return { collection, load: () => (loading ??= load()) };
}

/** A secret that the store keeps encrypted is not judged again. */
function withoutKeptSecret(given: Attributes, before: (() => Attributes) | undefined): Attributes {
  const { secret, ...others } = given;
  const isKept = typeof secret === "string" && isEncrypted(secret) && before?.().secret === secret;
  return isKept ? others : given;
}

/** What the schema cannot express, for attributes that fit it. */
function violationsOf(attributes: Attributes, rules: WebhookRules): readonly Violation[] {
  const webhook = withWebhookDefaults(attributes as unknown as Webhook);
  const about = (name: string, code: string, fault: string | undefined) =>
    fault === undefined ? [] : [attributeViolation(name, code, fault)];
  return [
    ...about("url", "url", urlFault(webhook, rules)),
    ...about("collections", "collection", collectionsFault(webhook, rules)),
    ...filterViolations(webhook, rules),
    ...about("fields", "fields", fieldsFault(webhook.fields ?? [])),
    ...about("headers", "header", headersFault(webhook)),
    ...about("secret", "secret", secretFault(webhook)),
  ];
}

/** Without the violations that the stored webhook has too, because the configuration has changed since it was written. */
function newOf(
  found: readonly Violation[],
  attributes: Attributes,
  before: Attributes,
  rules: WebhookRules,
): readonly Violation[] {
  const known = violationsOf(before, rules);
  const isUnchanged = (violation: Violation) =>
    Object.keys(attributes).some(
      (name) => isAbout(violation, name) && isDeepStrictEqual(attributes[name], before[name]),
    );
  return found.filter(
    (each) => !(isUnchanged(each) && known.some((other) => isDeepStrictEqual(other, each))),
  );
}

/**
 * Why the service cannot deliver to a webhook, in sentences: the configuration has changed since the webhook was written.
 * `undefined` if it can.
 */
export function misfitOf(webhook: Webhook, rules: WebhookRules): string | undefined {
  const { collections, roles } = webhook;
  if (collections.includes(everyCollection)) return undefined;
  const [name = "", ...others] = collections;
  if (collections.every((each) => rules.viewOf(each, roles) === undefined))
    return others.length === 0
      ? `The collection "${name}" does not exist.`
      : `The collections ${collections.join(", ")} do not exist.`;
  const [violation] = filterViolations(webhook, rules);
  if (violation === undefined) return undefined;
  const { pointer, detail } = violation;
  return `The filter does not fit the collection "${name}": ${pointer} ${toSentence(detail)} Correct the filter or the configuration.`;
}

function urlFault({ url }: Webhook, { allow }: WebhookRules): string | undefined {
  if (!URL.canParse(url)) return "must be a URL such as https://example.org/hook";
  const { protocol, hostname, username, password, hash } = new URL(url);
  const host = hostOf(hostname);
  if (username !== "" || password !== "")
    return 'must not contain a user name or password. Send a header with "headers" instead';
  if (hash !== "") return "must not have a fragment";
  if (protocol !== "https:" && !(protocol === "http:" && allow.mayBePlain(host)))
    return 'must begin with https://. For a receiver in your own network, add its name or address to "webhooks.allow" in the configuration';
  if (isIP(host) !== 0 && !isPublicAddress(host) && !allow.hasAddress(host) && !allow.hasName(host))
    return `must not name the address ${host}, which is not public. Add it to "webhooks.allow" in the configuration first`;
  return undefined;
}

function collectionsFault({ collections }: Webhook, { viewOf }: WebhookRules): string | undefined {
  if (collections.length === 1 && collections[0] === everyCollection) return undefined;
  if (collections.includes(everyCollection)) return 'must contain either "*" or names, not both';
  const unknown = collections.find((name) => viewOf(name, []) === undefined);
  return unknown === undefined ? undefined : `names the collection "${unknown}", which does not exist`;
}

function filterViolations(webhook: Webhook, rules: WebhookRules): readonly Violation[] {
  if (webhook.filter === undefined) return [];
  const [name = everyCollection, ...others] = webhook.collections;
  if (name === everyCollection || others.length > 0)
    return [attributeViolation("filter", "filter", 'needs exactly one collection in "collections"')];
  const collection = rules.viewOf(name, webhook.roles);
  if (collection === undefined) return []; // reported already
  return filterOf(webhook, collection, rules).violations;
}

function filterOf(
  { filter, roles }: Pick<Webhook, "filter" | "roles">,
  collection: Collection,
  { viewOf }: Pick<WebhookRules, "viewOf">,
) {
  return readSelectionFilter(filter, collection, (name) => viewOf(name, roles));
}

/** Headers that the service itself sets, or that belong to the connection. */
const ownHeaders =
  /^(?:connection|content-.*|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|webhook-.*)$/i;

function headersFault({ headers = {} }: Webhook): string | undefined {
  const names = Object.keys(headers);
  const refused = names.find((name) => ownHeaders.test(name) || !isHeader(name, headers[name]));
  if (refused === undefined) {
    const isTwice = new Set(names.map((name) => name.toLowerCase())).size < names.length;
    return isTwice ? "must not name a header twice" : undefined;
  }
  return ownHeaders.test(refused)
    ? `must not contain ${refused}, which the service sets itself`
    : `must be valid HTTP headers, but ${JSON.stringify(refused)} is not`;
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

/** Whether a secret, as the store keeps it, is encrypted. No secret that signs has a dot. */
export function isEncrypted(secret: string): boolean {
  return secret.includes(".");
}

function secretFault({ secret }: Webhook): string | undefined {
  if (secret === undefined || secretBytesOf(secret) !== undefined) return undefined;
  return `must be "whsec_" and ${secretSizes.least} to ${secretSizes.most} bytes in base64`;
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
  const seen = {
    collection,
    source,
    listed: "everything",
    fields: fields && selectedFields(fields),
  } as const;
  if (!isObject(declared)) return { ...seen, filter: undefined };
  const { filter, violations } = filterOf({ filter: declared, roles }, collection, { viewOf });
  return violations.length > 0 ? undefined : { ...seen, filter };
}
