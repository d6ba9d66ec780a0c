/** `holdfast secret` and `secret replace-lost`: makes a secret of a service, and lets a store go on whose secret is lost. */
import { inStores } from "../capabilities/all.ts";
import { StartError } from "../errors.ts";
import { requireStore } from "../store/open.ts";
import { withStore } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { print, say } from "./shell.ts";

/** Prints a new secret. */
export async function runSecret(): Promise<void> {
  print((await import("../secrets.ts")).newSecret());
}

/**
 * Makes the secret in the environment that of the store. Capabilities replace what the lost secret has encrypted, which it prints.
 * Throws StartError.
 */
export async function runReplaceLost(flags: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env);
  requireStore(config.store);
  if (config.secrets.length === 0)
    throw new StartError(
      'HOLDFAST_SECRET is missing. It must be a new secret: "holdfast secret" prints one.',
    );
  const now = Date.now;
  await withStore(config, async (store) => {
    const { openVault } = await import("../open-vault.ts");
    const isSqlite = config.store.kind === "sqlite";
    const vault = await openVault(store, { ...config, isSqlite, readOnly: false, replacesLost: true, now });
    for (const { replaceLost } of await inStores()) {
      const { replaced = [], lost = [] } = (await replaceLost?.(store, { vault, now })) ?? {};
      print(replaced.map((each) => JSON.stringify(each)));
      say(lost);
    }
    say("the service starts with this HOLDFAST_SECRET");
  });
}
