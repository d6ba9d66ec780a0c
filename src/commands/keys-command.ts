/** `holdfast keys create`, `list`, `rotate` and `revoke`: API keys, also while a service runs. */
import {
  addKey,
  isKeyName,
  isKeyRole,
  isKeySubject,
  isLive,
  type KeyProperties,
  keyMark,
  liveKeyNamed,
  type NewKey,
  prefixOf,
  replaceKey,
  sameLifetime,
  subjectIsUser,
} from "../access/api-key.ts";
import { parseScope } from "../access/principal.ts";
import { subjectsIn } from "../capabilities/all.ts";
import { suggest } from "../collection/messages.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { durationOf } from "../readers.ts";
import { openKeys, requireStore } from "../store/open.ts";
import type { ApiKey, Keys, OpenKeys } from "../store/port/keys.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags, parseDuration } from "./flags.ts";
import { print, say } from "./shell.ts";

/** Creates a key and prints it. Creates the store if it does not exist. Throws StartError. */
export async function runCreate(flags: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  const now = Date.now();
  const properties = propertiesOf(flags, config, now); // a faulty option must not create a store
  await withOpen(openKeys(config.store), async (keys) => {
    await requireFreeName(keys, properties.name, now);
    await requireNoUser(keys, config, properties.subject);
    const created = await addKey(keys, properties, now);
    warnIfRefused(config);
    warnOfUnknownRoles(properties.roles, config);
    printKey(created);
  });
}

/** Replaces the newest key of a name, or the key of a prefix, and prints the new one. Throws StartError. */
export async function runRotate(named: string, flags: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  requireStore(config.store);
  await withOpen(openKeys(config.store), async (keys) => {
    const now = Date.now();
    const overlapMs = parseDuration(String(flags.overlap ?? "1h"), "--overlap");
    // A key that is already being replaced can still work beside its replacement.
    const [old] = (await requireLiveKeys(keys, named, now)).toSorted((a, b) => b.createdAt - a.createdAt);
    const { prefix, subject } = old as ApiKey;
    await requireNoUser(keys, config, subject);
    const expiresAt =
      flags.expires === undefined
        ? sameLifetime(old as ApiKey, now)
        : parseExpiry(String(flags.expires), now);
    const created = await replaceKey(keys, old as ApiKey, { expiresAt, overlapMs, now });
    warnIfRefused(config);
    const end = (await keys.find(prefix))?.expiresAt ?? now;
    const until = overlapMs === 0 ? "no longer works" : `works until ${new Date(end).toISOString()}`;
    say(`the old key ${prefix} ${until}`);
    printKey(created);
  });
}

/** Revokes the key of a prefix, or every key of a name, and prints which. Throws StartError. */
export async function runRevoke(named: string, flags: Flags, env: Environment): Promise<void> {
  const { store } = await configOf(flags, env);
  requireStore(store);
  await withOpen(openKeys(store), async (keys) => {
    const now = Date.now();
    for (const { prefix, name } of await requireLiveKeys(keys, named, now)) {
      await keys.invalidate(prefix, { revokedAt: now });
      say(`revoked the API key ${prefix} ("${name}")`);
    }
  });
}

function propertiesOf(flags: Flags, config: Config, now: number): KeyProperties {
  const name = String(flags.name);
  if (!isKeyName(name)) {
    throw new StartError(
      `--name must be 1 to 100 printable characters, without a space at either end, and must not begin with "${keyMark}".`,
    );
  }
  const subject = flags.subject === undefined ? name : String(flags.subject);
  if (!isKeySubject(subject))
    throw new StartError("--subject must be 1 to 100 printable characters, without a space at either end.");
  const roles = (flags.role ?? []) as readonly string[];
  const invalid = roles.find((role) => !isKeyRole(role));
  if (invalid !== undefined)
    throw new StartError(`--role must be 1 to 100 printable characters without spaces, not "${invalid}".`);
  const scopes = flags.scope as readonly string[] | undefined;
  for (const scope of scopes ?? []) requireScope(scope, config);
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(String(flags.expires), now);
  return { name, subject, roles: [...new Set(roles)], scopes: scopes && [...new Set(scopes)], expiresAt };
}

/** Throws StartError for a scope without a known collection, because the key would give no access to it. */
function requireScope(text: string, { collections, openCollections }: Config): void {
  const scope = parseScope(text);
  if (scope === undefined) {
    throw new StartError(`--scope must be <collection>:read or <collection>:write, not "${text}".`);
  }
  if (openCollections || collections.has(scope.collection)) return;
  const instead = suggest(scope.collection, [...collections.keys()]);
  throw new StartError(`--scope: the collection "${scope.collection}" is not declared. ${instead}`);
}

/** Warns about roles that no rule names. A later configuration can name them, so they are not errors. */
export function warnOfUnknownRoles(roles: readonly string[], { auth, roles: named }: Config): void {
  if (auth === undefined) return;
  const known = [...new Set(named.map(({ name }) => name))];
  for (const role of roles.filter((each) => !known.includes(each))) {
    const instead = known.length === 0 ? "No rule names any role." : suggest(role, known);
    say(`warning: no rule names the role "${role}". ${instead}`);
  }
}

/** Throws StartError if a subject is the id of an account, also of one that was deleted. */
async function requireNoUser(keys: OpenKeys, config: Config, subject: string): Promise<void> {
  if (await isOfUser(keys, config, subject)) throw new StartError(subjectIsUser);
}

/** Whether the subject of a key is the id of an account, also of one that was deleted. The service refuses such keys. */
export async function isOfUser(keys: OpenKeys, config: Config, subject: string): Promise<boolean> {
  for (const collection of await subjectsIn(config)) if (await keys.hadEver(collection, subject)) return true;
  return false;
}

async function requireFreeName(keys: Keys, name: string, now: number): Promise<void> {
  const taken = liveKeyNamed(await keys.all(), name, now);
  if (taken === undefined) return;
  throw new StartError(
    `An API key "${name}" already exists (${taken.prefix}). Choose another name, replace the key with "npx holdfast keys rotate", or revoke it with "npx holdfast keys revoke".`,
  );
}

/** The valid keys with this name or prefix. Also takes the text of a key. Throws StartError if no valid key has it. */
async function requireLiveKeys(keys: Keys, named: string, now: number): Promise<readonly ApiKey[]> {
  const live = (await keys.all()).filter((key) => isLive(key, now));
  const prefix = named.startsWith(keyMark) ? prefixOf(named) : undefined;
  const found = live.filter((key) => (prefix === undefined ? key.name === named : key.prefix === prefix));
  if (found.length > 0) return found;
  const names = [...new Set(live.map(({ name }) => name))];
  throw new StartError(
    `No valid API key has the name or prefix "${prefix ?? named}". ${suggest(named, names)}`,
  );
}

/** Only the key itself goes to standard output, so that a script can read it from there. */
function printKey({ text, key: { name, expiresAt } }: NewKey): void {
  const expiry = expiresAt === undefined ? "never expires" : `expires ${new Date(expiresAt).toISOString()}`;
  say(`API key "${name}" (${expiry}). Save it now, it is not shown again:`);
  print(text);
}

/** Prints a note if the configuration does not accept API keys, because the service would refuse the new key. */
function warnIfRefused({ auth }: Config): void {
  if (auth?.keys === true) return;
  say("note: the service does not accept API keys yet. Add auth: { keys: true } to the configuration.");
}

/** A time from now or a date, as Unix time in milliseconds. Throws StartError, also if it is in the past. */
function parseExpiry(text: string, now: number): number {
  const duration = durationOf(text);
  const time = duration === undefined ? parseDate(text) : now + duration;
  if (time > now) return time;
  throw new StartError(`--expires must be in the future, unlike "${text}".`);
}

function parseDate(text: string): number {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+Z)?$/.exec(text) ?? [];
  if (date === undefined) {
    throw new StartError(
      `--expires must be a time such as 90d, 12h or 30m, or a date such as 2027-01-31, not "${text}".`,
    );
  }
  const time = Date.parse(text);
  // `Date.parse` reads 30 February as a day in March.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(date)) return time;
  throw new StartError(`--expires must be a date that exists, unlike "${text}".`);
}

/** Prints every key, also expired and revoked ones. Throws StartError if the store does not exist. */
export async function runList({ json, ...flags }: Flags, env: Environment): Promise<void> {
  const { store } = await configOf(flags, env);
  requireStore(store);
  const all = await withOpen(openKeys(store), (keys) => keys.all());
  const lines = json === true ? all.map(toJson) : toTable(all, Date.now());
  print(lines);
}

function toJson({ hash: _, ...key }: ApiKey): string {
  const times = [key.createdAt, key.expiresAt, key.revokedAt, key.lastUsedAt].map((time) =>
    time === undefined ? null : new Date(time).toISOString(),
  );
  const [createdAt, expiresAt, revokedAt, lastUsedAt] = times;
  return JSON.stringify({ ...key, scopes: key.scopes ?? null, createdAt, expiresAt, revokedAt, lastUsedAt });
}

const heading = ["key", "name", "subject", "roles", "scopes", "created", "expires", "last used"];

function toTable(keys: readonly ApiKey[], now: number): string[] {
  if (keys.length === 0) return ["there are no API keys"];
  const rows = [heading, ...keys.map((key) => cellsOf(key, now))];
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function cellsOf(key: ApiKey, now: number): string[] {
  const scopes = key.scopes?.join(" ") ?? "all";
  return [
    key.prefix,
    key.name,
    key.subject,
    key.roles.join(" ") || "none",
    scopes || "none",
    day(key.createdAt),
    expiryOf(key, now),
    key.lastUsedAt === undefined ? "never" : hour(key.lastUsedAt),
  ];
}

function expiryOf(key: ApiKey, now: number): string {
  if (key.revokedAt !== undefined) return `revoked ${day(key.revokedAt)}`;
  if (key.expiresAt === undefined) return "never";
  return isLive(key, now) ? day(key.expiresAt) : `expired ${day(key.expiresAt)}`;
}

function hour(time: number): string {
  return `${new Date(time).toISOString().slice(0, 13).replace("T", " ")}:00`;
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
