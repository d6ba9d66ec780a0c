/** `holdfast users invite`, `list`, `roles`, `disable`, `enable`, `sign-out`, `reset-factors` and `mirror`: the people of a service, in its store or of a running one. */

import { isKeyRole } from "../access/api-key.ts";
import type { AnyClient } from "../command.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { openService } from "../server/open-service.ts";
import type { AccountChange } from "../users/administration.ts";
import { addressKey } from "../users/mail-address.ts";
import type { Account } from "../users/user-records.ts";
import type { Users } from "../users/users.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { warnOfUnknownRoles } from "./keys-command.ts";
import { callService, type RunningService, runningOf, withUrlAdvice } from "./running-service.ts";
import { print, say } from "./shell.ts";
import { counted } from "./wording.ts";

/** The accounts that are read at once. */
const pageLength = 500;

/** What the audit says of the one who runs the commands. */
const source = { actor: "command" };

/** Invites an address. The link is printed, or a running service mails it. Throws StartError. */
export async function runInvite(email: string, flags: Flags, env: Environment): Promise<void> {
  const roles = rolesOf((flags.role ?? []) as readonly string[]);
  const running = runningOf(flags, env);
  if (running !== undefined) {
    const made = await callService(running, ({ $invitations }) => $invitations.create({ email, roles }));
    return say(`invited ${made.email}. A mail brings the link, which works until ${made.expiresAt}.`);
  }
  await withUsers(flags, env, async (users, config) => {
    warnOfUnknownRoles(roles, config);
    const asked = { email, roles, claims: {} };
    const { invitation, link } = await users.invitations.invite(asked, source, { mails: false });
    const end = new Date(invitation.expiresAt).toISOString();
    say(`invited ${invitation.email}. The link works until ${end}, and is not shown again:`);
    print(link);
  });
}

/** Prints every account as a line of JSON. Throws StartError. */
export async function runUsersList(flags: Flags, env: Environment): Promise<void> {
  const running = runningOf(flags, env);
  if (running !== undefined)
    return callService(running, async ({ $accounts }) => {
      for (let after: string | undefined; ; ) {
        const page = await $accounts.list({ limit: pageLength, after });
        for (const account of page.accounts) print(JSON.stringify(account));
        after = page.after;
        if (after === undefined) return;
      }
    });
  await withUsers(flags, env, async ({ records }) => {
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
export async function runRoles(
  named: string,
  roles: readonly string[],
  run: [Flags, Environment],
): Promise<void> {
  await change(named, { roles: rolesOf(roles) }, run);
}

/** Disables an account, or enables it again. Throws StartError. */
export async function runDisable(named: string, disabled: boolean, run: [Flags, Environment]): Promise<void> {
  await change(named, { disabled }, run);
}

/** Ends all sessions of an account. Throws StartError. */
export async function runSignOut(named: string, flags: Flags, env: Environment): Promise<void> {
  const running = runningOf(flags, env);
  if (running !== undefined) {
    const { email } = await withAccount(running, named, ({ $accounts }, { id }) => $accounts.signOut(id));
    return say(`ended all sessions of ${email}`);
  }
  await withUsers(flags, env, async (users) => {
    const { id, email } = await requireAccount(users, named);
    await users.administration.signOut(id, source);
    say(`ended all sessions of ${email}`);
  });
}

/** Removes the second factor and the passkeys of an account. Throws StartError. */
export async function runResetFactors(named: string, flags: Flags, env: Environment): Promise<void> {
  const running = runningOf(flags, env);
  if (running !== undefined) {
    const { email } = await withAccount(running, named, ({ $accounts }, { id }) =>
      $accounts.resetFactors(id),
    );
    return say(`removed the second factor and the passkeys of ${email}, and ended all sessions`);
  }
  await withUsers(flags, env, async (users) => {
    const { id, email } = await requireAccount(users, named);
    await users.administration.resetFactors(id, source);
    say(`removed the second factor and the passkeys of ${email}, and ended all sessions`);
  });
}

/** Writes the attributes of `auth.users.mirror` into the profiles of all accounts. Throws StartError. */
export async function runMirror(flags: Flags, env: Environment): Promise<void> {
  if (runningOf(flags, env) !== undefined)
    throw new StartError(
      "users mirror works on the store only: leave out --url. With SQLite, stop the service first.",
    );
  await withUsers(flags, env, async ({ administration }) => {
    say(`changed ${counted(await administration.mirrorAll(), "profile")}`);
  });
}

async function change(
  named: string,
  changed: AccountChange,
  [flags, env]: [Flags, Environment],
): Promise<void> {
  const running = runningOf(flags, env);
  if (running !== undefined) {
    await withAccount(running, named, async ({ $accounts }, { id }) => {
      const { roles, disabled } = changed;
      const account = await $accounts.patch(id, {
        ...(roles && { roles }),
        ...(disabled !== undefined && { disabled }),
      });
      print(JSON.stringify(account));
    });
    return;
  }
  await withUsers(flags, env, async (users, config) => {
    const { id } = await requireAccount(users, named);
    warnOfUnknownRoles(changed.roles ?? [], config);
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
  running: RunningService,
  named: string,
  call: (client: AnyClient, account: Pick<Account, "id" | "email">) => Promise<void>,
): Promise<Pick<Account, "id" | "email">> {
  const missing = `The account "${named}"`;
  return callService(
    running,
    async (client) => {
      const found = named.includes("@")
        ? (await client.$accounts.list({ email: named })).accounts[0]
        : await client.$accounts.get(named);
      if (found === undefined) throw new StartError(`No account has the address or the id "${named}".`);
      await call(client, found);
      return found;
    },
    missing,
  );
}

/** The account with an address or an id. Throws StartError. */
async function requireAccount({ records }: Users, named: string): Promise<Account> {
  const found = named.includes("@")
    ? await records.accountOf(addressKey(named))
    : await records.account(named);
  if (found !== undefined) return found.value;
  throw new StartError(`No account has the address or the id "${named}".`);
}

async function withUsers(
  flags: Flags,
  env: Environment,
  work: (users: Users, config: Config) => Promise<void>,
): Promise<void> {
  const config = await configOf(flags, env);
  if (config.auth?.users === undefined)
    throw new StartError("The service has no users. Add auth: { users: … } to the configuration.");
  try {
    await withOpen(openService(config, { delivers: false }), async ({ service }) => {
      if (!service.hasStarted()) throw new StartError("The store cannot be reached now.");
      await work(service.users as Users, config);
    });
  } catch (error) {
    throw withUrlAdvice(error);
  }
}

function shown({ id, email, roles, claims, disabled, createdAt }: Account): object {
  return { id, email, roles, claims, disabled, createdAt: new Date(createdAt).toISOString() };
}
