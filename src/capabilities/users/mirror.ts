/**
 * Attributes of the profiles that show what the accounts have (`auth.users.mirror`): the proven address, and the roles. No caller can
 * set them. They change in the commit of the account.
 */
import type { Collection } from "../../collection/collection.ts";
import { type Attributes, textWithId } from "../../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../collection/timestamps.ts";
import type { Mirrored } from "../../import/item-reader.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ServingStore } from "../../store/port/store.ts";
import type { Account, UserRecords } from "./user-records.ts";
import type { UserSettings } from "./user-settings.ts";

/** What an account shows in its profile. */
export type MirroredAccount = Pick<Account, "email" | "roles">;

/** The mirrored attributes of the profiles in one store. */
export class Mirror {
  readonly #store: Pick<ServingStore, "read">;
  readonly #records: Pick<UserRecords, "accountsIn">;
  readonly #names: readonly (readonly [keyof MirroredAccount, string])[];
  readonly #collection: () => Collection;

  /** `collection`: that of the profiles. */
  constructor(
    { store, records }: { store: Pick<ServingStore, "read">; records: Pick<UserRecords, "accountsIn"> },
    { mirror }: Pick<UserSettings, "mirror">,
    collection: () => Collection,
  ) {
    this.#store = store;
    this.#records = records;
    this.#names = Object.entries(mirror) as [keyof MirroredAccount, string][];
    this.#collection = collection;
  }

  /** What the profiles show. `undefined` if they show nothing. */
  get mirrored(): Mirrored | undefined {
    if (this.#names.length === 0) return undefined;
    return {
      attributes: this.#names.map(([, name]) => name),
      having: async (ids) => new Set((await this.#records.accountsIn(ids)).map(({ id }) => id)),
    };
  }

  /** The text of a profile with what the account has. Without an account, it has no mirrored attribute. */
  textWith(text: string, account: MirroredAccount | undefined): string {
    if (this.#names.length === 0) return text;
    const { id, ...attributes } = JSON.parse(text) as Record<string, unknown>;
    return textWithId(JSON.stringify(id), this.#with(attributes, account));
  }

  /**
   * The change of the profile that comes with a change of its account; none if the profile has it already. `isNew`: the account is new, so
   * its commit must notice another change of the profile, and always changes it.
   */
  async changesFor(
    id: string,
    account: MirroredAccount | undefined,
    at: number,
    { isNew = false } = {},
  ): Promise<Change[]> {
    if (this.#names.length === 0) return [];
    const collection = this.#collection();
    const key = { collection: collection.name, id };
    const stored = await this.#store.read(key);
    if (stored === undefined || (!isNew && this.textWith(stored.text, account) === stored.text)) return [];
    const profile = JSON.parse(stored.text) as Record<string, unknown>;
    const attributes = this.#with(clientAttributes(collection, profile), account);
    const time = Math.max(at, stored.updatedAt); // never before the last change, even if the clock was set back
    const next = collection.timestamps ? withTimestamps(attributes, time, stored) : attributes;
    return [{ key, expect: stored.version, next: textWithId(JSON.stringify(profile.id), next) }];
  }

  /** Changes that bring back earlier texts, with what the accounts have now. */
  async overEarlier(changes: readonly Change[]): Promise<readonly Change[]> {
    if (this.#names.length === 0) return changes;
    const { name } = this.#collection();
    const isProfile = ({ key, next }: Change) => key.collection === name && next !== undefined;
    const found = await this.#records.accountsIn(changes.filter(isProfile).map(({ key }) => key.id));
    const accounts = new Map(found.map((account) => [account.id, account]));
    return changes.map((change) =>
      isProfile(change)
        ? { ...change, next: this.textWith(change.next as string, accounts.get(change.key.id)) }
        : change,
    );
  }

  #with(attributes: Attributes, account: MirroredAccount | undefined): Attributes {
    const all = new Map(Object.entries(attributes));
    for (const [member, name] of this.#names)
      if (account === undefined) all.delete(name);
      else all.set(name, account[member]);
    return Object.fromEntries(all);
  }
}
