/** The endpoints of API keys, for administrators. Only the response to a create or a rotation contains the text of a key. */
import {
  addKey,
  isKeyName,
  isKeyPrefix,
  isKeySubject,
  isLive,
  liveKeyNamed,
  type NewKey,
  replaceKey,
  sameLifetime,
  subjectIsUser,
} from "../../access/api-key.ts";
import { parseScope } from "../../access/principal.ts";
import { timeOf } from "../../collection/dates.ts";
import { shortJson } from "../../collection/messages.ts";
import { Problem } from "../../errors.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import type { ApiKey } from "../../store/port/keys.ts";
import { type Body, type Fault, readBody } from "../endpoint/body.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import {
  closedObject,
  type Described,
  json,
  listOf,
  next,
  type Part,
  text,
  texts as textList,
  truth,
} from "../openapi/described.ts";
import { type Asked, jsonResult, notFound, type Result } from "../operations/result.ts";
import {
  type Data,
  findCollection,
  type KeyAdministration,
  type KeyEvent,
  type Service,
} from "../service.ts";

/** The most valid keys with which another one can be created over HTTP. */
export const maxKeys = 1_000;

/** How long the old key can keep working, in seconds. */
const overlap = { usual: 3_600, most: 2_592_000 } as const;

const time: Part = { type: ["string", "null"], format: "date-time" };

const keyMembers = {
  prefix: { description: "The public part of the key, which identifies it.", ...text },
  name: text,
  subject: { description: "The caller that the key identifies.", ...text },
  roles: textList,
  scopes: { type: ["array", "null"], items: text, description: "`null` without a limit." },
  valid: { description: "Whether the key is neither revoked nor expired.", ...truth },
  createdAt: time,
  expiresAt: { ...time, description: "`null` if the key never expires." },
  revokedAt: time,
  lastUsedAt: { ...time, description: "The last use, to the hour." },
};
const apiKey = closedObject(keyMembers);
const newApiKey = closedObject({
  ...keyMembers,
  key: { description: "The key itself. Only this response contains it.", ...text },
});

type WithKeys = Service & { keys: KeyAdministration };

const printable = "must be 1 to 100 printable characters, without a space at either end";
const name = { type: "string", minLength: 1, maxLength: 100 };
const wrongExpiry: Fault = [
  "expiry",
  'must be a time in the future, such as "2031-01-31" or "2031-01-31T00:00:00.000Z"',
];

/** Whether a date or a time is in the future, or missing. */
export function isFuture(value: string | null, { now }: Pick<Service, "now">): boolean {
  return value === null || (timeOf(value) ?? 0) > now();
}

const newKey: Body<WithKeys> = {
  insteadOfArray: 'send {"name":"deploy"}',
  example: { name: "deploy" },
  members: {
    name: { schema: name, is: isKeyName, fault: ["name", `${printable}, and must not begin with "hf_"`] },
    subject: {
      schema: { description: "By default, the name.", ...name },
      isOptional: true,
      is: isKeySubject,
      fault: ["subject", printable],
      together({ given, valid, context: { keys } }) {
        const member = given.subject === undefined ? "name" : "subject";
        const isReserved = keys.reservedSubjects.includes(valid[member] as string);
        if (!isReserved || valid.name === undefined) return undefined;
        const what = "is the subject of an administrator: choose another subject";
        return { member, fault: ["administrator", what] };
      },
    },
    roles: {
      schema: { description: "Only roles that `auth.keyRoles` allows.", ...textList, maxItems: 100 },
      isOptional: true,
      fault: ["type", "must be an array of at most 100 strings"],
      itemFault: roleFault,
    },
    scopes: {
      schema: { ...keyMembers.scopes, maxItems: 100 },
      isOptional: true,
      fault: ["type", "must be an array of at most 100 strings"],
      itemFault: scopeFault,
    },
    expiresAt: {
      schema: {
        type: ["string", "null"],
        description: "A date or a time in the future. By default, never.",
      },
      isOptional: true,
      is: isFuture,
      fault: wrongExpiry,
    },
  },
};

function roleFault(role: string, { keys: { roles } }: WithKeys): Fault | undefined {
  if (roles.includes(role)) return undefined;
  const allowed = roles.length === 0 ? "no role is allowed" : `the allowed roles are ${roles.join(", ")}`;
  return ["role", `cannot be ${shortJson(role)}: ${allowed}. The option "auth.keyRoles" changes this`];
}

/** What is wrong with a scope. */
export function scopeFault(given: string, service: Data): Fault | undefined {
  const scope = parseScope(given);
  if (scope !== undefined && findCollection(service, scope.collection) !== undefined) return undefined;
  const wanted = "<collection>:read or <collection>:write with a collection of the service";
  return ["scope", `must be ${wanted}, not ${shortJson(given)}`];
}

const rotation: Body<Service> = {
  isOptional: true,
  insteadOfArray: 'send {"overlapSeconds":3600}',
  example: { overlapSeconds: 86_400 },
  members: {
    overlapSeconds: {
      schema: {
        description: "How long the old key keeps working.",
        type: "integer",
        minimum: 0,
        maximum: overlap.most,
        default: overlap.usual,
      },
      isOptional: true,
      fault: ["overlap", `must be a whole number from 0 to ${overlap.most}`],
    },
    expiresAt: {
      schema: {
        type: ["string", "null"],
        description:
          "A date or a time in the future. `null`: never. By default, the lifetime of the old key.",
      },
      isOptional: true,
      is: isFuture,
      fault: wrongExpiry,
    },
  },
};

const common = {
  who: "administrators",
  exists: ({ settings }: Described) => settings.hasKeys,
} as const;

const id = { id: { description: "The prefix of the key.", is: isKeyPrefix } };

const one = (description: string) => ({
  200: { description, content: json(apiKey) },
});

const made: Endpoint["successes"] = {
  201: { description: "The new key.", must: ["Location"], content: json(newApiKey) },
};

/** The endpoints. */
export const keyEndpoints: readonly Endpoint[] = [
  {
    ...common,
    path: "/_keys",
    method: "GET",
    page: { usual: 100, most: 1_000, hasAfter: true },
    id: "listApiKeys",
    summary: "List the API keys",
    description: "Lists all keys, also expired and revoked ones, the oldest first.",
    successes: {
      200: {
        description: "The keys.",
        content: json(closedObject({ keys: listOf(apiKey), next }, { optional: ["next"] })),
      },
    },
    handle: (service, { page }) => pageOf(service as WithKeys, page),
  },
  {
    ...common,
    path: "/_keys",
    method: "POST",
    body: newKey,
    id: "createApiKey",
    summary: "Create an API key",
    description: "Creates a key and returns it. No other response contains it.",
    successes: made,
    errors: [409],
    handle: (service, asked) => change(service, asked, "apiKeyCreated", create),
  },
  {
    ...common,
    path: "/_keys/{id}",
    method: "GET",
    names: id,
    id: "getApiKey",
    summary: "Read an API key",
    description: "Returns what the service knows about a key, without the key itself.",
    successes: one("The key."),
    handle: (service, { names }) => oneOf(service as WithKeys, names.id as string),
  },
  {
    ...common,
    path: "/_keys/{id}/_rotate",
    method: "POST",
    names: id,
    body: rotation,
    id: "rotateApiKey",
    summary: "Replace an API key",
    description:
      "Creates a key with the same properties and returns it. The old key keeps working for a while.",
    successes: made,
    errors: [409],
    handle: (service, asked) =>
      change(service, asked, "apiKeyRotated", (withKeys, content) =>
        rotate(withKeys, asked.names.id as string, content),
      ),
  },
  {
    ...common,
    path: "/_keys/{id}/_revoke",
    method: "POST",
    names: id,
    id: "revokeApiKey",
    summary: "Revoke an API key",
    description: "Makes a key invalid for ever. The service refuses it within a second.",
    successes: one("The revoked key."),
    handle: (service, asked) =>
      change(service, asked, "apiKeyRevoked", (withKeys) => revoke(withKeys, asked.names.id as string)),
  },
];

/** A key that was changed, and what the response says of it. */
interface Changed {
  key: ApiKey;
  result: Result;
}

/** Changes keys, one change at a time, so that two keys cannot get the same name. Throws UNAVAILABLE if the service is read-only. */
async function change(
  service: Service,
  asked: Asked,
  event: KeyEvent,
  work: (service: WithKeys, content: Buffer) => Promise<Changed | undefined>,
): Promise<Result> {
  const content = await asked.request.content.receive(service.settings.limits.bodyBytes);
  if (service.readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. No key was changed.");
  const changed = await service.writes.run("keys", () => work(service as WithKeys, content));
  if (changed === undefined) return notFound;
  const { request, caller } = asked;
  await service.keys?.note?.(event, changed.key.prefix, { request, principal: caller.principal });
  return changed.result;
}

async function pageOf(service: WithKeys, { limit, after }: Asked["page"]): Promise<Result> {
  const all = await service.keys.store.all();
  const start = after === undefined ? 0 : all.findIndex(({ prefix }) => prefix === after) + 1;
  if (after !== undefined && start === 0) {
    const violations = new Violations();
    violations.add(inQuery("after"), "after", "must be the prefix of a key");
    violations.throwIfAny();
  }
  const page = all.slice(start, start + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + limit < all.length;
  const path = `${service.settings.prefix}/_keys?limit=${limit}&after=${encodeURIComponent(last?.prefix ?? "")}`;
  const now = service.now();
  return jsonResult({ keys: page.map((key) => shown(key, now)), ...(hasMore && { next: path }) });
}

async function oneOf({ keys, now }: WithKeys, prefix: string): Promise<Result> {
  const key = await keys.store.find(prefix);
  return jsonResult(key && shown(key, now()));
}

/** Throws KEY_UNAVAILABLE, and what `readBody` throws. */
async function create(service: WithKeys, content: Buffer): Promise<Changed> {
  const given = await readBody(newKey, content, { limits: service.settings.limits, context: service });
  const { name: called, subject = called, roles = [], scopes, expiresAt } = given;
  const now = service.now();
  const all = await service.keys.store.all();
  const taken = liveKeyNamed(all, called as string, now);
  if (taken !== undefined)
    throw unavailable(`A valid key has this name: ${taken.prefix}. Choose another name, or rotate that key.`);
  if (all.filter((key) => isLive(key, now)).length >= maxKeys)
    throw unavailable(`The service has ${maxKeys} valid keys already. Revoke the keys that nothing uses.`);
  const properties = {
    name: called as string,
    subject: subject as string,
    roles: [...new Set(roles as string[])],
    scopes: scopes == null ? undefined : [...new Set(scopes as string[])],
    expiresAt: typeof expiresAt === "string" ? timeOf(expiresAt) : undefined,
  };
  await requireNoUser(service, properties.subject);
  // An account can begin between the check and the key. Then each use of the key is refused.
  return created(service, await addKey(service.keys.store, properties, now));
}

/** Throws KEY_UNAVAILABLE if a subject is the id of an account, also of one that was deleted. */
async function requireNoUser({ keys }: WithKeys, subject: string): Promise<void> {
  if ((await keys.isOfUser?.(subject)) !== true) return;
  throw unavailable(subjectIsUser);
}

/** Throws KEY_UNAVAILABLE, and what `readBody` throws. */
async function rotate(service: WithKeys, prefix: string, content: Buffer): Promise<Changed | undefined> {
  const { keys } = service;
  const given = await readBody(rotation, content, { limits: service.settings.limits, context: service });
  const { overlapSeconds = overlap.usual, expiresAt } = given;
  const old = await keys.store.find(prefix);
  if (old === undefined) return undefined;
  const now = service.now();
  if (!isLive(old, now)) throw unavailable("The key is no longer valid. Create a new one.");
  await requireNoUser(service, old.subject);
  const excess = old.roles.find((role) => !keys.roles.includes(role));
  const reason =
    excess !== undefined
      ? `It has the role "${excess}", which is not in "auth.keyRoles".`
      : keys.reservedSubjects.includes(old.subject)
        ? "Its subject is an administrator."
        : undefined;
  if (reason !== undefined)
    throw unavailable(`This key cannot be replaced over HTTP. ${reason} Use "npx holdfast keys rotate".`);
  const until = typeof expiresAt === "string" ? timeOf(expiresAt) : undefined;
  return created(
    service,
    await replaceKey(keys.store, old, {
      expiresAt: expiresAt === undefined ? sameLifetime(old, now) : until,
      overlapMs: Number(overlapSeconds) * 1_000,
      now,
    }),
  );
}

async function revoke({ keys, now }: WithKeys, prefix: string): Promise<Changed | undefined> {
  await keys.store.invalidate(prefix, { revokedAt: now() });
  const key = await keys.store.find(prefix);
  return key && { key, result: jsonResult(shown(key, now())) };
}

function created({ settings, now }: WithKeys, { text: secret, key }: NewKey): Changed {
  const location = `${settings.prefix}/_keys/${key.prefix}`;
  const told = { ...shown(key, now()), key: secret };
  return { key, result: jsonResult(told, { status: 201, headers: { location } }) };
}

/** A key as responses contain it, without its hash. */
function shown(key: ApiKey, now: number): object {
  const { prefix, name: called, subject, roles, scopes } = key;
  return {
    prefix,
    name: called,
    subject,
    roles,
    scopes: scopes ?? null,
    valid: isLive(key, now),
    createdAt: timeText(key.createdAt),
    expiresAt: timeText(key.expiresAt),
    revokedAt: timeText(key.revokedAt),
    lastUsedAt: timeText(key.lastUsedAt),
  };
}

function timeText(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

function unavailable(detail: string): Problem {
  return new Problem("KEY_UNAVAILABLE", detail);
}
