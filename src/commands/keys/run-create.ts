import { addKey, isLive, type KeyProperties, keyMark } from "../../access/api-key.ts";
import { parseScope } from "../../access/principal.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import type { Keys } from "../../store/keys.ts";
import { configOf, type Environment } from "../options.ts";
import { suggest } from "../words.ts";
import { parseExpiry } from "./times.ts";
import { showKey, warnIfNotTaken, withKeys } from "./with-keys.ts";

/** Makes a key and shows it. Throws StartError. */
export async function runCreate(
  flags: Readonly<Record<string, unknown>>,
  all: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<void> {
  const config = await configOf(all, env);
  const now = Date.now();
  const wish = wishOf(flags, config, now); // before a store is made
  const make = async (keys: Keys) => {
    await requireFreeName(keys, wish.name, now);
    const { text, key } = await addKey(keys, wish, now);
    warnIfNotTaken(config);
    warnOfUnknownRoles(wish.roles, config);
    showKey(text, key);
  };
  await withKeys(config, make, { mayCreate: true });
}

function wishOf(flags: Readonly<Record<string, unknown>>, config: Config, now: number): KeyProperties {
  const name = String(flags.name);
  if (!isPrintable(name) || name.startsWith(keyMark)) {
    throw new StartError(
      `--name must be 1 to 100 printable characters, without a space at either end, and must not begin with "${keyMark}".`,
    );
  }
  const subject = flags.subject === undefined ? name : String(flags.subject);
  if (!isPrintable(subject))
    throw new StartError("--subject must be 1 to 100 printable characters, without a space at either end.");
  const roles = (flags.role ?? []) as readonly string[];
  const bad = roles.find((role) => !isPrintable(role) || /\s/.test(role));
  if (bad !== undefined)
    throw new StartError(`--role must be 1 to 100 printable characters without spaces, not "${bad}".`);
  const scopes = flags.scope as readonly string[] | undefined;
  for (const scope of scopes ?? []) requireScope(scope, config);
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(String(flags.expires), now);
  return { name, subject, roles: [...new Set(roles)], scopes: scopes && [...new Set(scopes)], expiresAt };
}

/** A terminal shows them as they are. */
function isPrintable(text: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(text) && text.trim() === text;
}

/** A scope that is misspelled would lock its holder out. */
function requireScope(text: string, { collections, openCollections }: Config): void {
  const scope = parseScope(text);
  if (scope === undefined) {
    throw new StartError(`--scope must be <collection>:read or <collection>:write, not "${text}".`);
  }
  if (openCollections || collections.has(scope.collection)) return;
  const instead = suggest(scope.collection, [...collections.keys()]);
  throw new StartError(`--scope: the collection "${scope.collection}" is not declared. ${instead}`);
}

/** The key is made all the same: a rule may name the role later. Without `auth` there are no rules. */
function warnOfUnknownRoles(roles: readonly string[], { auth, roles: named }: Config): void {
  if (auth === undefined) return;
  const known = [...new Set(named.map(({ name }) => name))];
  for (const role of roles.filter((each) => !known.includes(each))) {
    const instead = known.length === 0 ? "No rule names any role." : suggest(role, known);
    process.stderr.write(`warning: no rule names the role "${role}". ${instead}\n`);
  }
}

async function requireFreeName(keys: Keys, name: string, now: number): Promise<void> {
  const taken = (await keys.all()).find((key) => key.name === name && isLive(key, now));
  if (taken === undefined) return;
  throw new StartError(
    `An API key "${name}" already exists (${taken.prefix}). Choose another name, replace the key with "npx holdfast keys rotate", or revoke it with "npx holdfast keys revoke".`,
  );
}
