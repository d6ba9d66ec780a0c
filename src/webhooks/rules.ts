/** The rules for webhooks that a schema cannot express, and what they see of a collection. */
import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { View } from "../changes/event.ts";
import type { Collection } from "../collection/collection.ts";
import { type Attributes, attributeViolation, isAbout } from "../collection/resource.ts";
import { toSentence, type Violation } from "../errors.ts";
import { isObject } from "../json/values.ts";
import type { Filter } from "../query/filter.ts";
import { readOwnFilter } from "../query/filter-request.ts";
import { emptyFilterSize } from "../query/reading.ts";
import { inBody, Violations } from "../query/violations.ts";
import { type AllowList, hostOf, isPublicAddress } from "./addresses.ts";
import { secretBytesOf, secretSizes } from "./signature.ts";
import { everyCollection, type Webhook, withWebhookDefaults } from "./webhook.ts";

// An `import` would load all of the module at each start.
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

/** What the rules of webhooks depend on. */
export interface WebhookRules {
  allow: AllowList;
  /** A collection as a caller with these roles sees it; `undefined` if it does not exist. */
  viewOf(collection: string, roles: readonly string[]): Collection | undefined;
}

/** The rules for attributes that fit the schema. */
export function violationsOf(attributes: Attributes, rules: WebhookRules): readonly Violation[] {
  const webhook = withWebhookDefaults(attributes as unknown as Webhook);
  return [
    ...urlViolations(webhook, rules.allow),
    ...collectionViolations(webhook, rules),
    ...filterViolations(webhook, rules),
    ...headerViolations(webhook),
    ...secretViolations(webhook),
  ];
}

/** Without the violations that the stored webhook has too, because the configuration has changed since it was written. */
export function newOf(
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
      'must begin with https://. For a receiver in your own network, add its name or address to "webhooks.allow" in the configuration',
    );
  if (isIP(host) !== 0 && !isPublicAddress(host) && !allow.hasAddress(host) && !allow.hasName(host))
    return refuse(
      `must not name the address ${host}, which is not public. Add it to "webhooks.allow" in the configuration first`,
    );
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
  return readWebhookFilter(webhook, collection, rules).violations;
}

/** The filter of a webhook for its collection, and what is wrong with it. */
function readWebhookFilter(
  { filter: value, roles }: Pick<Webhook, "filter" | "roles">,
  collection: Collection,
  rules: Pick<WebhookRules, "viewOf">,
): { filter: Filter; violations: readonly Violation[] } {
  const violations = new Violations({ hasSubjects: false }); // the error of an attribute names its place
  const viewOf = (name: string) => rules.viewOf(name, roles);
  const reading = { collection, violations, used: emptyFilterSize(), viewOf, refusesNow: true };
  const filter = readOwnFilter(value, inBody("filter"), reading);
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
  const { filter, violations } = readWebhookFilter({ filter: declared, roles }, collection, { viewOf });
  return violations.length > 0 ? undefined : { ...seen, filter };
}
