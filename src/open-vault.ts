/** Opens the vault of a store, and checks that the secrets are those that the store was used with. */
import { createSecretKey, type KeyObject } from "node:crypto";
import { openCollection } from "./collection/collection.ts";
import { StartError } from "./errors.ts";
import { isOvertaken, put, Records } from "./records.ts";
import { adviceIfLost, nameOfSecret, newSecret, secretVariable, Vault } from "./secrets.ts";
import type { ServingStore } from "./store/port/store.ts";

const secretsName = "_secrets";
const currentId = "current";

/** What the store keeps about the secrets. */
interface SecretRecord {
  /** The name of the first secret of the service that started last. */
  first: string;
  /** The secret that the service has made. It stays when the variable is set, because it opens what it has sealed. */
  made?: string | undefined;
}

/** What decides whether a service must be given a secret. */
export interface SecretSources {
  /** The secrets from the environment; empty without them. */
  secrets: readonly KeyObject[];
  /** Whether the service is for this machine only. */
  isLocal: boolean;
  isSqlite: boolean;
}

/** How to open the vault. */
export interface VaultOptions extends SecretSources {
  /** Whether to write nothing. A vault that would need a new secret then has one for itself. */
  readOnly: boolean;
  /** The option with which the service always encrypts. @default none */
  encryptsFor?: string | undefined;
  /** Whether the secrets take the place of one that is lost. @default false */
  replacesLost?: boolean;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** Whether a service has to be given a secret. */
export function needsSecret({ secrets, isLocal, isSqlite }: SecretSources): boolean {
  return secrets.length === 0 && !(isLocal && isSqlite);
}

/** The error of a service that has no secret and must have one. `option`: the one with which it always encrypts. */
export function missingSecret(option: string | undefined): StartError {
  const which = option === undefined ? "A" : `With ${option}, a`;
  const path = option === undefined ? [] : option.split(".");
  const text = `${secretVariable} is missing. ${which} service that others can reach or that is on PostgreSQL needs this environment variable: "holdfast secret" prints a value for it.`;
  return new StartError([{ path, text }]);
}

/**
 * Opens the vault. All threads and instances that start together get the same secrets. Throws StartError if the service has no
 * secret and needs one, or if the store was used with another secret; and what the store throws.
 */
export async function openVault(store: ServingStore, options: VaultOptions): Promise<Vault> {
  const records = new Records(store, [openCollection(secretsName)]);
  for (;;) {
    const known = await records.read<SecretRecord>(secretsName, currentId);
    const made = known?.value.made ?? (options.secrets.length === 0 && !known ? newSecret() : undefined);
    const own = made === undefined ? [] : [createSecretKey(made, "base64")];
    const secrets = [...options.secrets, ...own];
    const names = secrets.map(nameOfSecret);
    const [first = ""] = names;
    const isLost = known !== undefined && !names.includes(known.value.first);
    if (isLost && options.replacesLost !== true) throw wrongSecret(options);
    if (needsSecret(options)) throw missingSecret(options.encryptsFor);
    if (known?.value.first === first || options.readOnly) return new Vault(secrets);
    const change = put(secretsName, currentId, known?.version, { first, made });
    try {
      await records.commit([change], options.now());
      return new Vault(secrets);
    } catch (error) {
      if (!isOvertaken(error)) throw error; // otherwise another one that starts was faster
    }
  }
}

function wrongSecret({ secrets }: VaultOptions): StartError {
  const what =
    secrets.length === 0
      ? `${secretVariable} is missing: this store was used with one`
      : `${secretVariable} is wrong: this store was used with another one`;
  return new StartError(
    `${what}, so the service could not read what it has encrypted. Give that secret again. To replace it, put the new one before it: <new>,<old>. ${adviceIfLost}`,
  );
}
