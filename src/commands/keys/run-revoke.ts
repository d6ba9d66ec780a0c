import { configOf, type Environment } from "../options.ts";
import { requireLiveKeys, withKeys } from "./with-keys.ts";

/** Revokes every key that is meant, and says which. Throws StartError. */
export async function runRevoke(
  named: string,
  all: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<void> {
  await withKeys(await configOf(all, env), async (keys) => {
    const now = Date.now();
    for (const { prefix, name } of await requireLiveKeys(keys, named, now)) {
      await keys.end(prefix, { revokedAt: now });
      process.stderr.write(`revoked the API key ${prefix} ("${name}")\n`);
    }
  });
}
