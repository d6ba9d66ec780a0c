/** `holdfast users invite`, `list`, `roles`, `disable`, `enable`, `sign-out`, `reset-factors` and `mirror`: the people of a service, in its store or of a running one. */

import { isKeyRole } from "../../access/api-key.ts";
import type { AnyClient } from "../../command.ts";
import { StartError } from "../../errors.ts";
import type { AccountChange } from "./administration.ts";
import type { UsersLine } from "./command-rows.ts";
import { addressKey } from "./mail-address.ts";
import type { People } from "./open-users.ts";
import type { Account } from "./user-records.ts";
import type { Users } from "./users.ts";

/** The accounts that are read at once. */
const pageLength = 500;

/** What the audit says of the one who runs the commands. */
const source = { actor: "command" };

/** Invites an address. The link is printed, or a running service mails it. Throws StartError. */
export async function runInvite(email: string, line: UsersLine): Promise<void> {
  const { call, flags, print, say } = line;
  const roles = rolesOf((flags.role ?? []) as readonly string[]);
  if (call !== undefined) {
    const made = await call(({ $invitations }) => $invitations.create({ email, roles }));
    return say(`invited ${made.email}. A mail brings the link, which works until ${made.expiresAt}.`);
  }
  await withUsers(line, async (users) => {
    await line.warnOfUnknownRoles(roles);
    const asked = { email, roles, claims: {} };
    const { invitation, link } = await users.invitations.invite(asked, source, { mails: false });
    const end = new Date(invitation.expiresAt).toISOString();
    say(`invited ${invitation.email}. The link works until ${end}, and is not shown again:`);
    print(link);
  });
}

/** Prints every account as a line of JSON. Throws StartError. */
export async function runUsersList(line: UsersLine): Promise<void> {
  const { call, print } = line;
  if (call !== undefined)
    return call(async ({ $accounts }) => {
      for (let after: string | undefined; ; ) {
        const page = await $accounts.list({ limit: pageLength, after });
        for (const account of page.accounts) print(JSON.stringify(account));
        after = page.after;
        if (after === undefined) return;
      }
    });
  await withUsers(line, async ({ records }) => {
    for (let last: string | undefined; ; ) {
      const query = { collection: "_accounts", limit: pageLength, ...(last && { after: [last] }) };
      const page = await records.list<Account>(query);
      for (const { value } of page.records) print(JSON.stringify(shown(value)));
      last = page.records.at(-1)?.value.id;
      if (!page.more) return;
    }
  });
}

/** Gives an account these roles, in place of those that it has. Throws StartError. */
export async function runRoles(named: string, roles: readonly string[], line: UsersLine): Promise<void> {
  await change(named, { roles: rolesOf(roles) }, line);
}

/** Disables an account, or enables it again. Throws StartError. */
export async function runDisable(named: string, disabled: boolean, line: UsersLine): Promise<void> {
  await change(named, { disabled }, line);
}

/** Ends all sessions of an account. Throws StartError. */
export async function runSignOut(named: string, line: UsersLine): Promise<void> {
  const { call, say } = line;
  if (call !== undefined) {
    const { email } = await withAccount(call, named, ({ $accounts }, { id }) => $accounts.signOut(id));
    return say(`ended all sessions of ${email}`);
  }
  await withUsers(line, async (users) => {
    const { id, email } = await requireAccount(users, named);
    await users.administration.signOut(id, source);
    say(`ended all sessions of ${email}`);
  });
}

/** Removes the second factor and the passkeys of an account. Throws StartError. */
export async function runResetFactors(named: string, line: UsersLine): Promise<void> {
  const { call, say } = line;
  if (call !== undefined) {
    const { email } = await withAccount(call, named, ({ $accounts }, { id }) => $accounts.resetFactors(id));
    return say(`removed the second factor and the passkeys of ${email}, and ended all sessions`);
  }
  await withUsers(line, async (users) => {
    const { id, email } = await requireAccount(users, named);
    await users.administration.resetFactors(id, source);
    say(`removed the second factor and the passkeys of ${email}, and ended all sessions`);
  });
}

/** Writes the attributes of `auth.users.mirror` into the profiles of all accounts. Throws StartError. */
export async function runMirror(line: UsersLine): Promise<void> {
  if (line.call !== undefined)
    throw new StartError(
      "users mirror works on the store only: leave out --url. With SQLite, stop the service first.",
    );
  await withUsers(line, async ({ administration }) => {
    const count = await administration.mirrorAll();
    line.say(`changed ${count.toLocaleString("en")} ${count === 1 ? "profile" : "profiles"}`);
  });
}

async function change(named: string, changed: AccountChange, line: UsersLine): Promise<void> {
  const { call, print } = line;
  if (call !== undefined) {
    await withAccount(call, named, async ({ $accounts }, { id }) => {
      const { roles, disabled } = changed;
      const account = await $accounts.patch(id, {
        ...(roles && { roles }),
        ...(disabled !== undefined && { disabled }),
      });
      print(JSON.stringify(account));
    });
    return;
  }
  await withUsers(line, async (users) => {
    const { id } = await requireAccount(users, named);
    await line.warnOfUnknownRoles(changed.roles ?? []);
    const account = await users.administration.change(id, () => changed, source, { isFree: true });
    if (account !== undefined) print(JSON.stringify(shown(account.value)));
  });
}

function rolesOf(roles: readonly string[]): string[] {
  const invalid = roles.find((role) => !isKeyRole(role));
  if (invalid === undefined) return [...new Set(roles)];
  throw new StartError(`A role must be 1 to 100 printable characters without spaces, not "${invalid}".`);
}

/** Calls a running service about the account with an address or an id. Throws StartError. */
async function withAccount(
  call: NonNullable<UsersLine["call"]>,
  named: string,
  work: (client: AnyClient, account: Pick<Account, "id" | "email">) => Promise<void>,
): Promise<Pick<Account, "id" | "email">> {
  const missing = `The account "${named}"`;
  return call(async (client) => {
    const found = named.includes("@")
      ? (await client.$accounts.list({ email: named })).accounts[0]
      : await client.$accounts.get(named);
    if (found === undefined) throw new StartError(`No account has the address or the id "${named}".`);
    await work(client, found);
    return found;
  }, missing);
}

/** The account with an address or an id. Throws StartError. */
async function requireAccount({ records }: Users, named: string): Promise<Account> {
  const found = named.includes("@")
    ? await records.accountOf(addressKey(named))
    : await records.account(named);
  if (found !== undefined) return found.value;
  throw new StartError(`No account has the address or the id "${named}".`);
}

async function withUsers(line: UsersLine, work: (users: Users) => Promise<void>): Promise<void> {
  if ((await line.settings()) === undefined)
    throw new StartError("The service has no users. Add auth: { users: … } to the configuration.");
  await line.withOpened(({ people }) => work((people as People).users), { creates: true });
}

function shown({ id, email, roles, claims, disabled, createdAt }: Account): object {
  return { id, email, roles, claims, disabled, createdAt: new Date(createdAt).toISOString() };
}
