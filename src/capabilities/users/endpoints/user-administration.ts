/** The endpoints with which administrators manage people: accounts and invitations. None shows a password, a code or a token. */

import { isKeyRole } from "../../../access/api-key.ts";
import { shortJson } from "../../../collection/messages.ts";
import { Problem } from "../../../errors.ts";
import { type Body, type Fault, type Member, readBody } from "../../../http/endpoint/body.ts";
import type { Endpoint } from "../../../http/endpoint/endpoint.ts";
import {
  closedObject,
  hasAdministrators,
  json,
  listOf,
  next,
  type Part,
  text,
  texts,
  truth,
} from "../../../http/openapi/described.ts";
import type { PageAsked } from "../../../http/operations/page-parameters.ts";
import { type Asked, jsonResult, notFound, type Result } from "../../../http/operations/result.ts";
import { requirePreconditions, validatorsOf } from "../../../http/protocol/conditional.ts";
import { jsonLimits } from "../../../http/protocol/content.ts";
import { mergePatchTypeNames, requireMergePatchType } from "../../../http/protocol/content-types.ts";
import type { Service } from "../../../http/service.ts";
import { applyMergePatch } from "../../../json/merge-patch.ts";
import { allOf, type Filter } from "../../../query/filter.ts";
import { inBody, inQuery, Violations } from "../../../query/violations.ts";
import type { Versioned } from "../../../records.ts";
import type { AccountChange } from "../administration.ts";
import type { AuditSource } from "../audit.ts";
import { addressKey } from "../mail-address.ts";
import type { People, UsersEndpoint } from "../open-users.ts";
import type { Account, Invitation } from "../user-records.ts";
import { maxClaimBytes } from "../user-settings.ts";
import type { Users } from "../users.ts";
import { sessionWith, shownSession, time, timeText } from "./sign-in.ts";
import { identity, shownIdentity } from "./sign-in-providers.ts";

/** A body, and the administration of the service that a request asks. */
interface Sent {
  service: Service;
  people: People;
  users: Users;
  /** The members of the body. */
  given: Readonly<Record<string, unknown>>;
  asked: Asked;
  /** Who asks, for the audit. */
  source: AuditSource;
}

type Exists = NonNullable<UsersEndpoint["exists"]>;

type Row = Pick<
  UsersEndpoint,
  | "exists"
  | "path"
  | "method"
  | "page"
  | "parameters"
  | "names"
  | "id"
  | "summary"
  | "description"
  | "successes"
  | "errors"
  | "content"
> & { body?: Body<Service>; work(sent: Sent): Promise<Result> };

/** Whether a service has these endpoints. */
export const hasUsers: Exists = (described, settings) =>
  settings !== undefined && hasAdministrators(described);

/** Whether users of a service can have identities at providers. */
const hasIdentities: Exists = (described, settings) =>
  hasUsers(described, settings) && (settings?.providers.length ?? 0) > 0;

/** A row for administrators of a service with users. */
function endpointOf({ exists = hasUsers, work, body, ...row }: Row): UsersEndpoint {
  return {
    ...row,
    tag: "Users",
    who: "administrators",
    exists,
    ...(body && { body }),
    handle: async (service, asked, { people }) => {
      const { settings, readOnly } = service;
      if (people === undefined) return notFound;
      const { users } = people;
      const isRead = row.method === "GET";
      const bytes = isRead ? undefined : await asked.request.content.receive(settings.limits.bodyBytes);
      if (!isRead && readOnly)
        throw new Problem("UNAVAILABLE", "The service is read-only now. No account changes.");
      const given =
        body && bytes ? await readBody(body, bytes, { limits: settings.limits, context: service }) : {};
      const source = { ...users.visitor(asked.request), actor: asked.caller.principal?.subject };
      return work({ service, people, users, given, asked, source });
    },
  };
}

const mostRoles = 100;

const rolesMember: Member<Service> = {
  schema: { ...texts, maxItems: mostRoles, description: "Only roles that `auth.users.roles` allows." },
  isOptional: true,
  fault: ["type", `must be an array of at most ${mostRoles} strings`],
};

const claimsFault: Fault = ["claims", `must be an object of at most ${maxClaimBytes} bytes as JSON`];

const claimsMember: Member<Service> = {
  schema: { type: "object", description: "What access rules read as `$claims`." },
  isOptional: true,
  is: (claims: object) => areShort(claims),
  fault: claimsFault,
};

function areShort(claims: object): boolean {
  return Buffer.byteLength(JSON.stringify(claims)) <= maxClaimBytes;
}

const newInvitation: Body<Service> = {
  insteadOfArray: 'send {"email":"ada@example.org"}',
  example: { email: "ada@example.org", roles: ["editor"] },
  members: {
    email: {
      schema: { ...text, minLength: 1, maxLength: 1_000 },
      fault: ["type", "must be a mail address"],
    },
    roles: rolesMember,
    claims: claimsMember,
    profile: {
      schema: { type: "object", description: "The attributes of the new profile." },
      isOptional: true,
      fault: ["type", "must be an object"],
    },
    user: {
      schema: {
        ...text,
        maxLength: 100,
        description: "The id of a profile without an account, instead of `profile`.",
      },
      isOptional: true,
      fault: ["type", "must be the id of a profile"],
      together: ({ given }) =>
        given.user !== undefined && given.profile !== undefined
          ? { member: "user", fault: ["excess", 'cannot be together with "profile"'] }
          : undefined,
    },
  },
};

const accountChange: Body<Service> = {
  insteadOfArray: 'send {"disabled":true}',
  example: { roles: ["editor"], claims: { tenant: "acme" } },
  members: {
    email: {
      schema: {
        ...text,
        minLength: 1,
        maxLength: 1_000,
        description: "A mail brings a link to this address. It counts when its owner has proven it.",
      },
      isOptional: true,
      fault: ["type", "must be a mail address"],
    },
    roles: rolesMember,
    claims: {
      ...claimsMember,
      schema: {
        type: ["object", "null"],
        description: "A merge patch of the claims: `null` removes a claim, or all of them.",
      },
      is: () => true, // the result of the patch counts
    },
    disabled: {
      schema: { ...truth, description: "Whether the user can sign in no more. Their sessions end." },
      isOptional: true,
      fault: ["type", "must be true or false"],
    },
  },
};

const account = closedObject({
  id: { ...text, description: "The id of the profile." },
  email: text,
  roles: texts,
  claims: { type: "object" },
  disabled: truth,
  createdAt: time,
});

const invitation = closedObject(
  {
    id: text,
    email: text,
    roles: texts,
    claims: { type: "object" },
    profile: { type: "object" },
    user: text,
    createdAt: time,
    expiresAt: time,
  },
  { optional: ["profile", "user"] },
);

const ofAccount = { id: { description: "The id of the account, which is that of the profile." } };
const ofInvitation = { id: { description: "The id of the invitation." } };
const page = { usual: 100, most: 1_000, hasAfter: true } as const;

/** The parameters that filter the accounts, and what each says. */
const accountFilters = {
  email: "Only the account with this address.",
  role: "Only accounts with this role.",
  disabled: "Only accounts that are disabled (`true`), or only the others (`false`).",
} as const;

/** Throws INVALID_PARAMETER. */
function accountFilter({ filters: { email, role, disabled } }: PageAsked): Filter {
  const filters: Filter[] = [];
  if (email !== undefined) filters.push({ kind: "in", path: ["address"], values: [addressKey(email)] });
  if (role !== undefined) filters.push({ kind: "contains", path: ["roles"], values: [role] });
  if (disabled !== undefined) {
    const violations = new Violations();
    if (disabled !== "true" && disabled !== "false")
      violations.add(inQuery("disabled"), "type", "must be true or false");
    violations.throwIfAny();
    filters.push({ kind: "in", path: ["disabled"], values: [disabled === "true"] });
  }
  return allOf(filters);
}

const oneAccount: Endpoint["successes"] = {
  200: { description: "The account.", must: ["ETag"], content: json(account) },
};

/** The endpoints. */
export const userAdministrationEndpoints: readonly UsersEndpoint[] = [
  endpointOf({
    path: "/_accounts",
    method: "GET",
    page: { ...page, filters: Object.keys(accountFilters) },
    parameters: Object.entries(accountFilters).map(
      ([name, description]): Part => ({ name, in: "query", description, schema: text }),
    ),
    id: "listAccounts",
    summary: "List the accounts",
    description: "Lists the accounts in the order of their ids.",
    successes: {
      200: {
        description: "The accounts.",
        content: json(closedObject({ accounts: listOf(account), next }, { optional: ["next"] })),
      },
    },
    work: (sent) =>
      pageOf<Account>(sent, {
        collection: "_accounts",
        member: "accounts",
        shown: shownAccount,
        filter: accountFilter(sent.asked.page),
      }),
  }),
  endpointOf({
    path: "/_accounts/{id}",
    method: "GET",
    names: ofAccount,
    id: "getAccount",
    summary: "Read an account",
    description: "Returns the address, the roles and the claims of a user.",
    successes: oneAccount,
    work: async ({ users, asked }) => answerAccount(await users.records.account(idOf(asked))),
  }),
  endpointOf({
    path: "/_accounts/{id}",
    method: "PATCH",
    names: ofAccount,
    body: accountChange,
    content: { types: mergePatchTypeNames, limit: "bodyBytes", require: requireMergePatchType },
    id: "changeAccount",
    summary: "Change an account",
    description:
      "Changes the roles or the claims of a user, or disables the account. The change takes effect within a second. A new address takes effect when its owner has proven it.",
    successes: oneAccount,
    errors: [409, 412],
    work: async ({ service, users, given, asked, source }) => {
      const decide = (found: Versioned<Account>): AccountChange => {
        requireMatch(asked, found);
        return changeOf({ service, users }, found.value, given);
      };
      return answerAccount(await users.administration.change(idOf(asked), decide, source));
    },
  }),
  endpointOf({
    path: "/_accounts/{id}",
    method: "DELETE",
    names: ofAccount,
    id: "deleteAccount",
    summary: "Delete an account",
    description: "Deletes the account and ends its sessions. The profile stays.",
    successes: { 205: { description: "The account is deleted." } },
    errors: [409, 412],
    work: async ({ users, asked, source }) => {
      const requireFit = (found: Versioned<Account>) => requireMatch(asked, found);
      const deleted = await users.administration.delete(idOf(asked), requireFit, source);
      return deleted ? { kind: "deleted" } : notFound;
    },
  }),
  endpointOf({
    path: "/_accounts/{id}/_sessions",
    method: "GET",
    names: ofAccount,
    id: "listSessionsOfAccount",
    summary: "List the sessions of an account",
    description: "Lists the sessions of the user, the latest used first.",
    successes: {
      200: {
        description: "The sessions.",
        content: json(closedObject({ sessions: listOf(sessionWith()) })),
      },
    },
    work: async ({ users, asked }) => {
      const found = await users.records.account(idOf(asked));
      if (found === undefined) return notFound;
      const sessions = await users.records.sessionsOf(found.value.id);
      return jsonResult({
        sessions: sessions.map(({ value }) => shownSession(users, { session: value, account: found.value })),
      });
    },
  }),
  endpointOf({
    path: "/_accounts/{id}/_sign-out",
    method: "POST",
    names: ofAccount,
    id: "signOutAccount",
    summary: "End all sessions of an account",
    description: "Their tokens stop working within a second.",
    successes: { 204: { description: "All sessions have ended." } },
    work: async ({ users, asked, source }) => doneIf(await users.administration.signOut(idOf(asked), source)),
  }),
  endpointOf({
    path: "/_accounts/{id}/_reset",
    method: "POST",
    names: ofAccount,
    id: "resetAccount",
    summary: "Make a user choose another password",
    description:
      "The password stops working, all sessions end, and a mail asks the user to choose another password. Only the user gets a code.",
    successes: { 204: { description: "The mail is on its way." } },
    work: async ({ users, asked, source }) => doneIf(await users.administration.reset(idOf(asked), source)),
  }),
  endpointOf({
    path: "/_accounts/{id}/_reset-factors",
    method: "POST",
    names: ofAccount,
    id: "resetFactorsOfAccount",
    summary: "Remove the second factor of a user",
    description:
      "Removes the authenticator app, the recovery codes and the passkeys of a user who has lost them. All sessions end, and a mail tells the user.",
    successes: { 204: { description: "The user has no second factor." } },
    work: async ({ users, asked, source }) =>
      doneIf(await users.administration.resetFactors(idOf(asked), source)),
  }),
  endpointOf({
    path: "/_accounts/{id}/_identities",
    method: "GET",
    names: ofAccount,
    exists: hasIdentities,
    id: "listIdentitiesOfAccount",
    summary: "List the identities of an account",
    description: "Lists the identities at providers with which the user can sign in, the newest first.",
    successes: {
      200: { description: "The identities.", content: json(closedObject({ identities: listOf(identity) })) },
    },
    work: async ({ users, asked }) => {
      const found = await users.records.account(idOf(asked));
      if (found === undefined) return notFound;
      const all = await users.records.identitiesOf(found.value.id);
      return jsonResult({ identities: all.map(({ value }) => shownIdentity(value)) });
    },
  }),
  endpointOf({
    path: "/_accounts/{id}/_identities/{identity}",
    method: "DELETE",
    names: { ...ofAccount, identity: { description: "The id of the identity." } },
    exists: hasIdentities,
    id: "unlinkIdentityOfAccount",
    summary: "Remove an identity of an account",
    description:
      "The user can no longer sign in with it, also if this was the only way. All sessions of the user end, and a mail tells the user.",
    successes: { 205: { description: "The identity is removed." } },
    work: async ({ users, asked, source }) => {
      const { identity: id = "" } = asked.names;
      const done = await users.administration.unlinkIdentity(idOf(asked), id, source);
      return done ? { kind: "deleted" } : notFound;
    },
  }),
  endpointOf({
    path: "/_invitations",
    method: "GET",
    page,
    id: "listInvitations",
    summary: "List the invitations",
    description: "Lists the open invitations, also expired ones, the oldest first.",
    successes: {
      200: {
        description: "The invitations.",
        content: json(closedObject({ invitations: listOf(invitation), next }, { optional: ["next"] })),
      },
    },
    work: (sent) =>
      pageOf<Invitation>(sent, {
        collection: "_invitations",
        member: "invitations",
        shown: shownInvitation,
      }),
  }),
  endpointOf({
    path: "/_invitations",
    method: "POST",
    body: newInvitation,
    id: "createInvitation",
    summary: "Invite a person",
    description:
      "Mails a link, which works for 7 days. With it, a person who proves the address gets an account. Earlier invitations of the address end.",
    successes: {
      201: { description: "The invitation.", must: ["Location"], content: json(invitation) },
    },
    errors: [409],
    work: async ({ service, users, given, source }) => {
      const { email, roles = [], claims = {}, profile, user } = given as Partial<Invitation>;
      requireRoles(users, roles, []);
      // The person adds what is missing.
      if (profile !== undefined) await users.requireFitting(profile, { isPart: true });
      const wanted = { email: email as string, roles, claims, profile, user };
      const made = await users.invitations.invite(wanted, source, { mails: true });
      const location = `${service.settings.prefix}/_invitations/${made.invitation.id}`;
      return jsonResult(shownInvitation(made.invitation), { status: 201, headers: { location } });
    },
  }),
  endpointOf({
    path: "/_invitations/{id}",
    method: "GET",
    names: ofInvitation,
    id: "getInvitation",
    summary: "Read an invitation",
    description: "Returns an invitation without its link, which only the mail has.",
    successes: { 200: { description: "The invitation.", content: json(invitation) } },
    work: async ({ users, asked }) => {
      const found = await users.records.invitation(idOf(asked));
      return found === undefined ? notFound : jsonResult(shownInvitation(found.value));
    },
  }),
  endpointOf({
    path: "/_invitations/{id}",
    method: "DELETE",
    names: ofInvitation,
    id: "deleteInvitation",
    summary: "Withdraw an invitation",
    description: "Its link stops working at once.",
    successes: { 205: { description: "The invitation is withdrawn." } },
    work: async ({ users, asked, source }) =>
      (await users.invitations.withdraw(idOf(asked), source)) ? { kind: "deleted" } : notFound,
  }),
  endpointOf({
    path: "/_mails",
    method: "GET",
    exists: (described, settings) => settings?.keepsMails === true && hasUsers(described, settings),
    id: "listMails",
    summary: "List the last mails",
    description: "Lists the last 100 mails that the service kept instead of sending them, the latest first.",
    successes: {
      200: {
        description: "The mails.",
        content: json(closedObject({ mails: listOf(closedObject({ to: text, subject: text, text, time })) })),
      },
    },
    work: async ({ people }) => {
      const kept = (await people.keptMails?.()) ?? [];
      return jsonResult({ mails: kept.map(({ at, ...mail }) => ({ ...mail, time: timeText(at) })) });
    },
  }),
];

function idOf({ names }: Asked): string {
  return names.id as string;
}

/** Throws PRECONDITION_FAILED if the request names another version. */
function requireMatch({ request }: Asked, { version, value }: Versioned<Account>): void {
  requirePreconditions(request.headers, validatorsOf({ version, updatedAt: value.createdAt }, ""));
}

/** What a PATCH changes. Throws INVALID_PARAMETER. */
function changeOf(
  { service, users }: Pick<Sent, "service" | "users">,
  before: Account,
  { email, roles, claims, disabled }: Partial<AccountChange>,
): AccountChange {
  if (roles !== undefined) requireRoles(users, roles, before.roles);
  // The new address can be that of another person, who then has the roles of the account.
  if (email !== undefined && email !== before.email) requireAddressable(users, before);
  const patched =
    claims === undefined
      ? before.claims
      : (applyMergePatch(
          claims === null ? {} : before.claims,
          claims ?? {},
          jsonLimits(service.settings.limits),
        ) as Account["claims"]);
  if (!areShort(patched)) refuse("claims", claimsFault);
  return {
    roles: roles === undefined ? before.roles : [...new Set(roles)],
    claims: patched,
    disabled: disabled ?? before.disabled,
    email,
  };
}

/** Throws INVALID_PARAMETER for a role that administrators cannot give. An account can keep those that it has. */
function requireRoles(users: Users, roles: readonly string[], kept: readonly string[]): void {
  const wrong = ungivable(users, roles, kept);
  if (wrong !== undefined) refuse("roles", ["role", `cannot contain ${wrong}`]);
}

/** Throws INVALID_PARAMETER if the account has a role that administrators cannot give. */
function requireAddressable(users: Users, { roles }: Account): void {
  const wrong = ungivable(users, roles, []);
  if (wrong !== undefined)
    refuse("email", ["role", `cannot change, because the account has the role ${wrong}`]);
}

/** The first role that administrators cannot give, with which ones they can; `undefined` if they can give all of them. */
function ungivable(
  { grantable }: Users,
  roles: readonly string[],
  kept: readonly string[],
): string | undefined {
  const wrong = roles.find((role) => !kept.includes(role) && (!grantable.includes(role) || !isKeyRole(role)));
  if (wrong === undefined) return undefined;
  const allowed =
    grantable.length === 0 ? "no role is allowed" : `the allowed roles are ${grantable.join(", ")}`;
  return `${shortJson(wrong)}: ${allowed}. The option "auth.users.roles" changes this`;
}

function refuse(member: string, fault: Fault): never {
  const violations = new Violations();
  violations.add(inBody(member), ...fault);
  throw violations.problem();
}

/** A page of records, in the order of their ids. */
async function pageOf<T extends { id: string }>(
  { service, users, asked: { page: asked } }: Sent,
  {
    collection,
    member,
    shown,
    filter,
  }: { collection: string; member: string; shown: (value: T) => object; filter?: Filter },
): Promise<Result> {
  const { limit, after, filters } = asked;
  if (after !== undefined && !/^[0-9a-f-]{36}$/.test(after)) {
    const violations = new Violations();
    violations.add(inQuery("after"), "after", "must be the last id of a page");
    throw violations.problem();
  }
  const query = {
    collection,
    limit,
    ...(filter && { filter }),
    ...(after !== undefined && { after: [after] }),
  };
  const { records, more } = await users.records.list<T>(query);
  const last = records.at(-1)?.value.id ?? "";
  const rest = new URLSearchParams({ ...filters, limit: String(limit), after: last });
  const path = `${service.settings.prefix}/${collection}?${rest}`;
  return jsonResult({ [member]: records.map(({ value }) => shown(value)), ...(more && { next: path }) });
}

function shownAccount({ id, email, roles, claims, disabled, createdAt }: Account): object {
  return { id, email, roles, claims, disabled, createdAt: timeText(createdAt) };
}

function shownInvitation(shown: Invitation): object {
  const { id, email, roles, claims, profile, user, createdAt, expiresAt } = shown;
  const times = { createdAt: timeText(createdAt), expiresAt: timeText(expiresAt) };
  return { id, email, roles, claims, ...(profile && { profile }), ...(user && { user }), ...times };
}

function answerAccount(found: Versioned<Account> | undefined): Result {
  if (found === undefined) return notFound;
  return jsonResult(shownAccount(found.value), { headers: { etag: `"${found.version}"` } });
}

function doneIf(isDone: boolean): Result {
  return isDone ? jsonResult({}, { status: 204, body: "" }) : notFound;
}
