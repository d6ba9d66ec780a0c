/** Manages API keys for administrators. Only the response to a create or a rotation contains the text of a key. */
import { addKey, isLive, type NewKey } from "../../access/api-key.ts";
import { liveKeyNamed, replaceKey, sameLifetime } from "../../access/key-changes.ts";
import { Problem } from "../../errors.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import type { ApiKey } from "../../store/port/keys.ts";
import type { OperationOf } from "../operations/operation.ts";
import type { PageAsked } from "../operations/page-parameters.ts";
import { type Document, notFound, type Result } from "../operations/result.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import type { KeyAdministration, Service } from "../service.ts";
import { parseNewKey, parseReplacement } from "./key-content.ts";

/** The most valid keys with which another one can be created over HTTP. */
export const maxKeys = 1_000;

type OnKeys = OperationOf<"keys" | "key" | "createKey" | "keyAction">;

type WithKeys = Service & { keys: KeyAdministration };

/**
 * Carries out an operation on keys. Throws KEY_UNAVAILABLE, INVALID_PARAMETER, the problems of receiving the content, and
 * UNAVAILABLE if the service is read-only.
 */
export async function performOnKeys(
  service: Service,
  operation: OnKeys,
  request: HttpRequest,
): Promise<Result> {
  const { keys } = service;
  if (keys === undefined) throw new Error("Without the administration of keys, the path does not exist.");
  const withKeys = { ...service, keys };
  if (operation.kind === "keys") return pageOf(withKeys, operation.asked);
  if (operation.kind === "key") return oneOf(withKeys, operation.prefix);
  const content = await request.content.receive(service.settings.limits.bodyBytes);
  if (service.readOnly) throw new Problem("UNAVAILABLE", "The service is read-only now. No key was changed.");
  // One change at a time, so that two keys cannot get the same name.
  return service.writes.run("keys", () => {
    if (operation.kind === "createKey") return create(withKeys, content);
    return operation.action === "rotate"
      ? rotate(withKeys, operation.prefix, content)
      : revoke(withKeys, operation.prefix);
  });
}

async function pageOf(service: WithKeys, { limit, after }: PageAsked): Promise<Result> {
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
  const next = `${service.settings.prefix}/_keys?limit=${limit}&after=${encodeURIComponent(last?.prefix ?? "")}`;
  const now = service.now();
  return document({ keys: page.map((key) => shown(key, now)), ...(hasMore && { next }) });
}

async function oneOf({ keys, now }: WithKeys, prefix: string): Promise<Result> {
  const key = await keys.store.find(prefix);
  return key === undefined ? notFound : document(shown(key, now()));
}

async function create(service: WithKeys, content: Buffer): Promise<Result> {
  const properties = parseNewKey(service, content);
  const now = service.now();
  const all = await service.keys.store.all();
  const taken = liveKeyNamed(all, properties.name, now);
  if (taken !== undefined)
    throw unavailable(`A valid key has this name: ${taken.prefix}. Choose another name, or rotate that key.`);
  if (all.filter((key) => isLive(key, now)).length >= maxKeys)
    throw unavailable(`The service has ${maxKeys} valid keys already. Revoke the keys that nothing uses.`);
  return made(service, await addKey(service.keys.store, properties, now));
}

async function rotate(service: WithKeys, prefix: string, content: Buffer): Promise<Result> {
  const { keys } = service;
  const { overlapMs, expiresAt } = parseReplacement(service, content);
  const old = await keys.store.find(prefix);
  if (old === undefined) return notFound;
  const now = service.now();
  if (!isLive(old, now)) throw unavailable("The key is no longer valid. Create a new one.");
  const excess = old.roles.find((role) => !keys.roles.includes(role));
  const reason =
    excess !== undefined
      ? `It has the role "${excess}", which is not in "auth.keyRoles".`
      : keys.reservedSubjects.includes(old.subject)
        ? "Its subject is an administrator."
        : undefined;
  if (reason !== undefined)
    throw unavailable(`This key cannot be replaced over HTTP. ${reason} Use "npx holdfast keys rotate".`);
  const until = expiresAt === undefined ? sameLifetime(old, now) : (expiresAt ?? undefined);
  return made(service, await replaceKey(keys.store, old, { expiresAt: until, overlapMs, now }));
}

async function revoke({ keys, now }: WithKeys, prefix: string): Promise<Result> {
  await keys.store.invalidate(prefix, { revokedAt: now() });
  const key = await keys.store.find(prefix);
  return key === undefined ? notFound : document(shown(key, now()));
}

function made({ settings, now }: WithKeys, { text, key }: NewKey): Result {
  const location = `${settings.prefix}/_keys/${key.prefix}`;
  return document({ ...shown(key, now()), key: text }, { status: 201, headers: { location } });
}

/** A key as responses contain it, without its hash. */
function shown(key: ApiKey, now: number): object {
  const { prefix, name, subject, roles, scopes } = key;
  return {
    prefix,
    name,
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

function timeText(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

function document(value: object, more: Partial<Document> = {}): Result {
  return {
    kind: "document",
    document: { status: 200, type: jsonType, body: JSON.stringify(value), ...more },
  };
}

function unavailable(detail: string): Problem {
  return new Problem("KEY_UNAVAILABLE", detail);
}
