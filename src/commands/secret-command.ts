/** `holdfast secret` and `secret replace-lost`: makes a secret of a service, and lets a store go on whose secret is lost. */
import { loadCapabilities } from "../capabilities/all.ts";
import { StartError } from "../errors.ts";
import { Records } from "../records.ts";
import type { Vault } from "../secrets.ts";
import { requireStore } from "../store/open.ts";
import type { Store } from "../store/port/store.ts";
import type { Account } from "../users/user-records.ts";
import { withStore } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { print, say } from "./shell.ts";

/** The accounts that are read at once. */
const pageLength = 500;

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
    for (const { inStore } of await loadCapabilities()) {
      const replaced = (await inStore?.replaceLost?.(store, { vault, now })) ?? [];
      print(replaced.map((each) => JSON.stringify(each)));
    }
    for (const { email } of await withLostApp(store, vault))
      say(
        `the authenticator app of ${email} no longer works. Until it is set up again, a recovery code does. To remove it, run npx holdfast users reset-factors ${email}`,
      );
    say("the service starts with this HOLDFAST_SECRET");
  });
}

/** The accounts with an authenticator app whose secret the vault does not open. */
async function withLostApp(store: Store, vault: Vault): Promise<Account[]> {
  const records = new Records(store, []);
  const found: Account[] = [];
  for (let after: readonly [string] | undefined; ; ) {
    const page = await records.list<Account>({
      collection: "_accounts",
      limit: pageLength,
      ...(after && { after }),
    });
    const accounts = page.records.map(({ value }) => value);
    found.push(...accounts.filter(({ totp }) => totp !== undefined && !vault.knows(totp.sealed)));
    const last = accounts.at(-1);
    if (!page.more || last === undefined) return found;
    after = [last.id];
  }
}
