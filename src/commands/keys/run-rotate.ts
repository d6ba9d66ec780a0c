import { addKey } from "../../access/api-key.ts";
import type { ApiKey } from "../../store/keys.ts";
import { configOf, type Environment } from "../options.ts";
import { parseDuration, parseExpiry } from "./times.ts";
import { requireLiveKeys, showKey, warnIfNotTaken, withKeys } from "./with-keys.ts";

/** Which key is replaced, and how. */
export interface Rotation {
  named: string;
  expires?: string;
  overlap?: string;
}

const defaultOverlap = "1h";

/** Makes a key in the place of another, shows it, and ends the other. Throws StartError. */
export async function runRotate(
  { named, expires, overlap = defaultOverlap }: Rotation,
  all: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<void> {
  const config = await configOf(all, env);
  await withKeys(config, async (keys) => {
    const now = Date.now();
    const overlapMs = parseDuration(overlap, "--overlap");
    const old = newest(await requireLiveKeys(keys, named, now));
    const { name, subject, roles, scopes } = old;
    const expiresAt = expires === undefined ? sameSpan(old, now) : parseExpiry(expires, now);
    // Before the other ends, so that there always is one.
    const { text, key } = await addKey(keys, { name, subject, roles, scopes, expiresAt }, now);
    await keys.end(old.prefix, overlapMs === 0 ? { revokedAt: now } : { expiresAt: now + overlapMs });
    warnIfNotTaken(config);
    const end = (await keys.find(old.prefix))?.expiresAt ?? now;
    const until = overlapMs === 0 ? "no longer works" : `works until ${new Date(end).toISOString()}`;
    process.stderr.write(`the old key ${old.prefix} ${until}\n`);
    showKey(text, key);
  });
}

/** One that is being replaced already may still work beside it. */
function newest(keys: readonly ApiKey[]): ApiKey {
  return keys.toSorted((a, b) => b.createdAt - a.createdAt)[0] as ApiKey;
}

function sameSpan({ createdAt, expiresAt }: ApiKey, now: number): number | undefined {
  return expiresAt === undefined ? undefined : now + (expiresAt - createdAt);
}
