/** What the commands about keys have in common. */

import { isLive, keyMark, prefixOf } from "../../access/api-key.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import type { ApiKey, Keys } from "../../store/keys.ts";
import { openKeys, requireStore } from "../../store/open.ts";
import { suggest } from "../words.ts";

/** Does something with the keys of the configured store. Throws StartError, also where there is none and none may be made. */
export async function withKeys(
  config: Config,
  work: (keys: Keys) => Promise<void>,
  { mayCreate = false } = {},
): Promise<void> {
  if (!mayCreate) requireStore(config.store);
  const keys = await openKeys(config.store);
  try {
    await work(keys);
  } finally {
    await keys.close();
  }
}

/** The keys of a name or prefix, or of the key itself, that still let somebody in. Throws StartError where there are none. */
export async function requireLiveKeys(keys: Keys, named: string, now: number): Promise<readonly ApiKey[]> {
  const live = (await keys.all()).filter((key) => isLive(key, now));
  const prefix = named.startsWith(keyMark) ? prefixOf(named) : undefined;
  const found = live.filter((key) => (prefix === undefined ? key.name === named : key.prefix === prefix));
  if (found.length > 0) return found;
  const names = [...new Set(live.map(({ name }) => name))];
  throw new StartError(
    `No valid API key has the name or prefix "${prefix ?? named}". ${suggest(named, names)}`,
  );
}

/** Shows a new key, this once: alone on standard output, so that a script can take it from there. */
export function showKey(text: string, { name, expiresAt }: ApiKey): void {
  const expiry = expiresAt === undefined ? "never expires" : `expires ${new Date(expiresAt).toISOString()}`;
  process.stderr.write(`API key "${name}" (${expiry}). Save it now, it is not shown again:\n`);
  process.stdout.write(`${text}\n`);
}

/** Tells that nobody gets in with a key where the configuration does not say so. */
export function warnIfNotTaken({ auth }: Config): void {
  if (auth?.keys === true) return;
  process.stderr.write(
    "note: the service does not accept API keys yet. Add auth: { keys: true } to the configuration.\n",
  );
}
