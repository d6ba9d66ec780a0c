/** The endpoints of people: they sign up and in, and manage their own sessions and password. None tells who has an account. */
import { isKeyName } from "../../../access/api-key.ts";
import { unauthenticated } from "../../../access/challenges.ts";
import { timeOf } from "../../../collection/dates.ts";
import { Problem } from "../../../errors.ts";
import { onGone } from "../../../http/admission/gone.ts";
import { type Body, type Member, readBody } from "../../../http/endpoint/body.ts";
import type { Success } from "../../../http/endpoint/endpoint.ts";
import { scopeFault } from "../../../http/endpoints/keys.ts";
import {
  closedObject,
  json,
  listOf,
  only,
  type Part,
  text,
  texts,
  truth,
} from "../../../http/openapi/described.ts";
import { type Asked, jsonResult, notFound, type Result } from "../../../http/operations/result.ts";
import { jsonType } from "../../../http/protocol/message.ts";
import type { Service } from "../../../http/service.ts";
import { inBody, Violations } from "../../../query/violations.ts";
import type { AuditKind } from "../audit.ts";
import type { Current, Visitor } from "../flows.ts";
import type { UsersEndpoint } from "../open-users.ts";
import type { PasskeyProof } from "../passkeys.ts";
import type { Begun, SecondStep } from "../second-factor.ts";
import type { GivenTicket, TicketProof } from "../tickets.ts";
import type { Account, Session } from "../user-records.ts";
import { maxKeyMs, type UserSettings } from "../user-settings.ts";
import type { Confirmation, Proof, SignUpAsked, Users } from "../users.ts";

/** What a request has sent, and who has sent it. */
export interface Sent {
  users: Users;
  /** The members of the body. */
  given: Readonly<Record<string, unknown>>;
  visitor: Visitor;
  asked: Asked;
}

type Has = (settings: UserSettings) => boolean;

/** What an endpoint of people says. The rest is the same for all of them. */
interface PeopleEndpoint
  extends Pick<
    UsersEndpoint,
    | "path"
    | "method"
    | "id"
    | "summary"
    | "description"
    | "names"
    | "errors"
    | "isForSetUp"
    | "parameters"
    | "formats"
    | "parse"
  > {
  /** Whether a GET writes something. @default false */
  writes?: true;
  /** Whether services with these settings have it. @default all that have users */
  has?: Has;
  body?: Body<Service>;
  /** What the audit records if its proof is wrong. @default it takes no proof */
  kind?: AuditKind;
  /** Whether it is about the caller, whatever address the body names. @default false */
  isOwn?: boolean;
  successes: Readonly<Record<number, Success>>;
  work(sent: Sent): Result | Promise<Result>;
}

const always = () => true;

type Exists = NonNullable<UsersEndpoint["exists"]>;

/** All endpoints of a path must have the same function. */
const existing = new Map<Has, Exists>();

function existsIf(has: Has): Exists {
  const exists: Exists = existing.get(has) ?? ((_, settings) => settings !== undefined && has(settings));
  existing.set(has, exists);
  return exists;
}

export function endpointOf({
  has = always,
  writes,
  body,
  work,
  kind,
  isOwn = false,
  ...row
}: PeopleEndpoint): UsersEndpoint {
  return {
    ...row,
    // A cookie that does not count makes the caller a stranger, and does not stop a read.
    ...(row.method === "GET" && row.isForSetUp === true && { isNeverForbidden: true }),
    tag: "Sign-in",
    who: "everyone",
    exists: existsIf(has),
    ...(body && { body }),
    handle: async (service, asked, { people }) => {
      const { request } = asked;
      const { settings, readOnly } = service;
      if (people === undefined) return notFound;
      const { users } = people;
      const isRead = row.method === "GET";
      const bytes = isRead ? undefined : await request.content.receive(settings.limits.bodyBytes);
      if (readOnly && (!isRead || writes === true))
        throw new Problem(
          "UNAVAILABLE",
          "The service is read-only now. You cannot sign in, and no account changes.",
        );
      const given =
        body && bytes ? await readBody(body, bytes, { limits: settings.limits, context: service }) : {};
      if (given.cookie === true) users.cookies.requireOwnPage(request);
      const gone = new AbortController();
      // Like a read: nothing is written before the password is checked.
      const stopWatching = onGone({ method: "GET", socket: request.socket }, () => gone.abort());
      const visitor = { ...users.visitor(request), gone: gone.signal };
      try {
        return await work({ users, given, visitor, asked });
      } catch (error) {
        const subject = asked.caller.principal?.session && asked.caller.principal.subject;
        await users.noteFailure(error, { kind, given, subject, isOwn, visitor });
        throw error;
      } finally {
        stopWatching();
      }
    },
  };
}

/** An endpoint of somebody who has signed in. */
export function ownEndpoint({
  work,
  ...row
}: Omit<PeopleEndpoint, "work"> & {
  work(sent: Sent & { current: Current }): Result | Promise<Result>;
}): UsersEndpoint {
  return endpointOf({
    ...row,
    isOwn: true,
    work: async (sent) => {
      const current = await requireCurrent(sent.users, sent.asked);
      // Scopes are about collections, so a key with scopes cannot read the account.
      if (row.method === "GET" && current.session.scopes !== undefined)
        throw new Problem("INSUFFICIENT_SCOPE", "This key has scopes, so it cannot read about the account.", {
          headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
        });
      return work({ ...sent, current: { ...current, source: sent.visitor } });
    },
  });
}

/** A body with these members. A client can leave out each of them: the work says which of them it needs. */
export function bodyOf(members: Record<string, Member<Service>>, example: Part): Body<Service> {
  return { members, example, insteadOfArray: `send ${JSON.stringify(example)}` };
}

export function textMember(description: string, most: number): Member<Service> {
  const schema = { ...text, description, minLength: 1, maxLength: most };
  return { schema, isOptional: true, fault: ["type", `must be a string of 1 to ${most} characters`] };
}

/** The most characters of a ticket. */
const maxTicket = 2_000;

/** The most characters of what a browser returns for a passkey, as JSON. */
const maxPasskey = 20_000;

const email = textMember("The address.", 1_000);
const password = textMember("The password.", 1_024);
export const ticket = textMember("The ticket of the request before.", maxTicket);
const invitation = textMember("The token in the link of an invitation.", 100);
const ticketMembers = {
  ticket,
  code: textMember("The code in the mail.", 100),
};
export const device = textMember("What an earlier sign-in of this device has returned.", 100);

/** What the browser has made of the options of a passkey. */
export const passkey: Member<Service> = {
  schema: {
    type: "object",
    required: ["id", "response"],
    properties: { id: text, response: { type: "object" } },
    description: "What `navigator.credentials` has returned for the options, as JSON (`toJSON()`).",
  },
  isOptional: true,
  is: (value: object) => JSON.stringify(value).length <= maxPasskey,
  fault: ["type", "must be the JSON of a credential"],
};

const byPassword = { email: "ada@example.org", password: "correct horse battery" };

/** Throws INVALID_PARAMETER unless the members are there. */
export function requireMembers<Name extends string>(
  given: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Record<Name, string> {
  const violations = new Violations();
  for (const name of names)
    if (given[name] === undefined) violations.add(inBody(name), "required", "is missing");
  violations.throwIfAny();
  return given as Record<Name, string>;
}

/** The proof with what the device of the request shows: a member of the body, or a cookie. */
export function withDevice<P extends object>(
  { users, given, asked }: Sent,
  proof: P,
): P & { device?: string } {
  const shown = (given.device as string | undefined) ?? users.cookies.deviceIn(asked.request);
  return shown === undefined ? proof : { ...proof, device: shown };
}

/** A ticket with its code or a passkey, or else a password and what comes with it. */
function proofOf<Name extends string>(
  given: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): TicketProof | PasskeyProof | Record<Name, string> {
  const { ticket: of, code, passkey: signed } = given as Partial<TicketProof & PasskeyProof>;
  if (of === undefined && code === undefined && signed === undefined) return requireMembers(given, names);
  const excess = [...names, ...(signed === undefined ? [] : ["code"])].find(
    (name) => given[name] !== undefined,
  );
  if (excess === undefined && signed === undefined) return requireMembers(given, ["ticket", "code"]);
  if (excess === undefined)
    return { ...requireMembers(given, ["ticket"]), passkey: signed as PasskeyProof["passkey"] };
  const violations = new Violations();
  violations.add(
    inBody(excess),
    "excess",
    "is too much. Send a password, a ticket with its code, or a ticket with a passkey",
  );
  throw violations.problem();
}

export const cookie: Member<Service> = {
  schema: {
    ...truth,
    description: "Whether the token comes in a cookie instead of the body. For pages of the service itself.",
    default: false,
  },
  isOptional: true,
  fault: ["type", "must be true or false"],
};

/** The schema of a time. */
export const time: Part = { ...text, format: "date-time" };

const user = closedObject({
  id: { ...text, description: "The id of the profile." },
  email: text,
  roles: texts,
  claims: { type: "object" },
});

/** The members of a session. */
const sessionMembers = {
  id: text,
  createdAt: time,
  usedAt: { ...time, description: "The last use, to five minutes." },
  expiresAt: { ...time, description: "When it ends if nothing uses it." },
  confirmedUntil: { ...time, description: "Until when it can change the account." },
  mustAddFactor: {
    ...truth,
    description: "Whether it can do nothing before the user has set up a second factor.",
  },
  network: { ...text, description: "The network of the client, without the last part of its address." },
  agent: { ...text, description: "The start of the header `User-Agent`." },
  name: { ...text, description: "The name of a key for a program. Left out for other sessions." },
  scopes: { ...texts, description: "What limits the key." },
};

/** A session as responses contain it. `more`: further members. */
export function sessionWith(more: Readonly<Record<string, Part>> = {}): Part {
  return closedObject({ ...sessionMembers, ...more }, { optional: ["name", "scopes"] });
}

const sessionSchema = sessionWith();

const newUserKey: Body<Service> = {
  insteadOfArray: 'send {"name":"backup","expiresAt":"2027-01-31"}',
  example: { name: "backup", scopes: ["articles:read"], expiresAt: "2027-01-31" },
  members: {
    name: {
      schema: { ...text, minLength: 1, maxLength: 100 },
      is: isKeyName,
      fault: ["name", "must be 1 to 100 printable characters, without a space at either end"],
    },
    scopes: {
      schema: { ...texts, maxItems: 100 },
      isOptional: true,
      fault: ["type", "must be an array of at most 100 strings"],
      itemFault: scopeFault,
    },
    expiresAt: {
      schema: { ...text, description: "A date or a time in the next 366 days." },
      is: (value: string, { now }) =>
        (timeOf(value) ?? 0) > now() && (timeOf(value) ?? 0) <= now() + maxKeyMs,
      fault: ["expiry", 'must be a time in the next 366 days, such as "2027-01-31"'],
    },
  },
};

/** The response that begins a session. */
const begun: Part = closedObject(
  {
    session: sessionSchema,
    user,
    token: { ...text, description: "Send it as `Authorization: Bearer <token>`." },
    device: {
      ...text,
      description: "Send it with the next sign-in of this device. Left out if it is known.",
    },
  },
  { optional: ["token", "device"] },
);

/** The response that asks for the second factor. */
const secondStep: Part = closedObject(
  {
    next: only("secondFactor"),
    ticket: { ...text, description: "Send it together with one of the factors." },
    expiresAt: time,
    factors: listOf({ enum: ["totp", "passkey", "recoveryCode"] }, "What the user can prove."),
    passkey: { type: "object", description: "The options for `navigator.credentials.get`, as JSON." },
  },
  { optional: ["passkey"] },
);

/** The success of what always begins a session. */
export const onlySession: Readonly<Record<number, Success>> = {
  200: { description: "The new session.", may: ["Set-Cookie"], content: json(begun) },
};

const newSession: Readonly<Record<number, Success>> = {
  200: {
    description: "The new session, or the question for the second factor.",
    may: ["Set-Cookie"],
    content: json({ oneOf: [begun, secondStep] }),
  },
};

const ticketGiven: Readonly<Record<number, Success>> = {
  202: {
    description: "The ticket. A mail with a code is on its way, unless the address gets none.",
    content: json(
      closedObject({ ticket: { ...text, description: "Send it together with the code." }, expiresAt: time }),
    ),
  },
};

/** The endpoints. */
export const signInEndpoints: readonly UsersEndpoint[] = [
  endpointOf({
    path: "/_auth",
    method: "GET",
    id: "getSignIn",
    isForSetUp: true,
    summary: "Read how people sign in",
    description:
      "Returns how people can sign in and up. With the token of a session, it also returns the user.",
    successes: {
      200: {
        description: "The methods, and the user.",
        content: json(
          closedObject(
            {
              methods: texts,
              providers: listOf(
                closedObject({ name: text, label: { ...text, description: "What people see." } }),
                "Where people can sign in.",
              ),
              signUp: text,
              user,
              session: sessionSchema,
            },
            { optional: ["user", "session"] },
          ),
        ),
      },
    },
    work: async ({ users, asked }) => {
      const { methods, providers, signUp } = users.settings;
      const { session } = asked.caller.principal ?? {};
      const current = session && (await users.current(session.id));
      return jsonResult({
        methods,
        providers: providers.map(({ name, label }) => ({ name, label })),
        signUp: typeof signUp === "object" ? "domains" : signUp,
        ...(current && { user: shownUser(current.account), session: shownSession(users, current) }),
      });
    },
  }),
  endpointOf({
    path: "/_auth/sign-up",
    method: "POST",
    body: bodyOf(
      {
        email,
        password,
        profile: {
          schema: { type: "object", description: "The attributes of the profile." },
          isOptional: true,
          fault: ["type", "must be an object"],
        },
        invitation,
      },
      { ...byPassword, profile: { name: "Ada" } },
    ),
    id: "signUp",
    isForSetUp: true,
    summary: "Sign up",
    description:
      "Mails a code to the address. Without an invitation, the service can refuse every address, or all but those of some domains. The account exists when the code comes back in a sign-in. The response is the same for every address.",
    successes: ticketGiven,
    errors: [429],
    work: async ({ users, given, visitor }) => {
      const { email: address } = requireMembers(given, ["email"]);
      const { password: chosen, ...others } = given as Pick<
        SignUpAsked,
        "password" | "profile" | "invitation"
      >;
      return ticketOf(await users.signUp({ ...others, email: address, password: chosen }, visitor));
    },
  }),
  endpointOf({
    path: "/_auth/invitation",
    method: "POST",
    body: bodyOf({ invitation }, { invitation: "aB3…" }),
    id: "readInvitation",
    isForSetUp: true,
    summary: "Read what an invitation asks for",
    description:
      "The token in the link of an invitation is the proof. It stays usable. Without an open invitation, the response is 400.",
    successes: {
      200: {
        description: "What a sign-up with the invitation needs.",
        content: json(
          closedObject(
            {
              email: { ...text, description: "The invited address. Left out if any address can be used." },
              required: {
                ...texts,
                description: "The attributes that `profile` must have. Empty for a profile that exists.",
              },
              hasAccount: {
                type: "boolean",
                description:
                  "Whether the invitation gives another address to an account that exists. The account keeps its password unless the sign-up has another one.",
              },
            },
            { optional: ["email"] },
          ),
        ),
      },
    },
    work: async ({ users, given }) => {
      const { email: invited, ...others } = await users.invited(
        requireMembers(given, ["invitation"]).invitation,
      );
      return jsonResult({ ...(invited !== "" && { email: invited }), ...others });
    },
  }),
  requestOf("signIn", {
    path: "/_auth/code",
    id: "requestCode",
    summary: "Ask for a code to sign in",
    has: ({ methods }) => methods.includes("email"),
  }),
  requestOf("reset", {
    path: "/_auth/reset",
    id: "requestReset",
    summary: "Ask for a code to set a new password",
    has: ({ methods }) => methods.includes("password"),
  }),
  endpointOf({
    path: "/_auth/sign-in",
    method: "POST",
    body: bodyOf({ email, password, device, cookie, ...ticketMembers, passkey }, byPassword),
    kind: "signIn",
    id: "signIn",
    isForSetUp: true,
    summary: "Sign in",
    description:
      "Begins a session, by an address and a password, by a ticket and the code from the mail, or by a ticket and a passkey. If the user has a second factor, the response asks for it. The session of the caller until now ends.",
    successes: newSession,
    errors: [409, 429],
    work: async (sent) => {
      const { users, visitor, asked } = sent;
      const proof = withDevice(sent, proofOf(sent.given, ["email", "password"]) as Proof);
      return started(sent, await users.signIn(proof, visitor, asked.caller.principal?.session?.id));
    },
  }),
  ownEndpoint({
    path: "/_auth/confirm",
    method: "POST",
    body: bodyOf({ password, device, cookie, ...ticketMembers, passkey }, { password: byPassword.password }),
    kind: "confirmation",
    id: "confirmSession",
    isForSetUp: true,
    summary: "Prove again who you are",
    description:
      "Begins a new session in place of the one of the caller. For ten minutes, it can change the account. Send a password, a ticket and its code, or a ticket and a passkey. If the user has a second factor, the response asks for it.",
    successes: newSession,
    errors: [429],
    work: async (sent) => {
      const { users, visitor, current } = sent;
      const proof = withDevice(sent, proofOf(sent.given, ["password"]) as Confirmation);
      return started(sent, await users.confirm(current, proof, visitor));
    },
  }),
  endpointOf({
    path: "/_auth/password",
    method: "POST",
    has: ({ methods }) => methods.includes("password"),
    body: bodyOf({ password, cookie, ...ticketMembers }, { password: byPassword.password }),
    kind: "password",
    id: "setPassword",
    summary: "Set a password",
    description:
      "Sets a password, with a ticket and the code of a reset, or in a session that was confirmed in the last ten minutes. All sessions of the user end, and a new one begins. If another session sends the request, it ends too.",
    successes: newSession,
    errors: [429],
    work: async (sent) => {
      const { users, given, visitor, asked } = sent;
      const { password: chosen } = requireMembers(given, ["password"]);
      if (given.ticket === undefined && given.code === undefined) {
        const current = await requireCurrent(users, asked);
        return started(sent, await users.own.changePassword(current, chosen, visitor));
      }
      const proof = requireMembers(given, ["ticket", "code"]);
      const reset = { ...proof, password: chosen };
      return started(sent, await users.resetPassword(reset, visitor, asked.caller.principal?.session?.id));
    },
  }),
  ownEndpoint({
    path: "/_auth/email",
    method: "POST",
    kind: "email",
    body: bodyOf({ email, cookie, ...ticketMembers }, { email: "ada@example.net" }),
    id: "setEmail",
    summary: "Change your address",
    description:
      "With an address, it mails a code to it. The response is the same for every address. With the ticket and the code, the account gets the address: all sessions of the user end, and a new one begins. Both need a session that was confirmed in the last ten minutes.",
    successes: { ...onlySession, ...ticketGiven },
    errors: [429],
    work: async (sent) => {
      const { users, given, visitor, current } = sent;
      const proof = proofOf(given, ["email"]);
      if ("email" in proof) return ticketOf(await users.addresses.request(current, proof.email, visitor));
      return started(sent, await users.addresses.change(current, proof as TicketProof, visitor)); // no passkey is a member
    },
  }),
  ownEndpoint({
    path: "/_auth/sessions",
    method: "GET",
    id: "listOwnSessions",
    summary: "List your sessions",
    description: "Lists the sessions and the keys of the caller, the latest used first.",
    successes: {
      200: {
        description: "The sessions.",
        content: json(closedObject({ sessions: listOf(sessionWith({ current: truth })) })),
      },
    },
    work: async ({ users, current }) => {
      const all = await users.records.sessionsOf(current.account.id);
      return jsonResult({
        sessions: all.map(({ value }) => ({
          ...shownSession(users, { ...current, session: value }),
          current: value.id === current.session.id,
        })),
      });
    },
  }),
  ownEndpoint({
    path: "/_auth/sessions",
    method: "POST",
    kind: "programKey",
    body: newUserKey,
    id: "createOwnKey",
    summary: "Create a key for a program",
    description:
      "Creates a token with which a program acts as you: it has your roles at the time of each request. With scopes, it can only do what they name. It cannot change the account. It needs a session that was confirmed in the last ten minutes.",
    successes: {
      201: {
        description: "The key. Only this response contains its token.",
        content: json(closedObject({ session: sessionSchema, token: text })),
      },
    },
    errors: [409],
    work: async ({ users, given, visitor, current }) => {
      const { name, scopes, expiresAt } = given as { name: string; scopes?: string[]; expiresAt: string };
      const key = { name, scopes, expiresAt: timeOf(expiresAt) as number };
      const { session, account, token } = await users.own.addKey(current, key, visitor);
      return jsonResult({ session: shownSession(users, { session, account }), token }, { status: 201 });
    },
  }),
  ownEndpoint({
    path: "/_auth/sessions/{id}",
    method: "DELETE",
    names: { id: { description: "The id of the session." } },
    id: "endSession",
    summary: "End one of your sessions",
    description: "Its token stops working within a second.",
    successes: { 205: { description: "The session has ended." } },
    work: async ({ users, asked, visitor, current }) => {
      const { id } = asked.names as { id: string };
      if (id !== current.session.id) users.own.requireConfirmed(current.session);
      return (await users.own.end(current.account.id, id, visitor)) ? { kind: "deleted" } : notFound;
    },
  }),
  ownEndpoint({
    path: "/_auth/sign-out",
    method: "POST",
    body: {
      ...bodyOf(
        {
          everywhere: {
            schema: { ...truth, description: "Whether all sessions of the user end.", default: false },
            isOptional: true,
            fault: ["type", "must be true or false"],
          },
        },
        { everywhere: true },
      ),
      isOptional: true,
    },
    id: "signOut",
    isForSetUp: true,
    summary: "Sign out",
    description:
      "Ends the session of the caller, or all sessions of the user. Their tokens stop working within a second. To end all of them, it needs a session that was confirmed in the last ten minutes.",
    successes: {
      204: { description: "The session has ended.", must: ["Clear-Site-Data"], may: ["Set-Cookie"] },
    },
    work: async ({ users, given, visitor, current }) => {
      const which = given.everywhere === true ? "all" : current.session.id;
      if (which === "all") users.own.requireConfirmed(current.session);
      await users.own.end(current.account.id, which, visitor);
      const document = {
        status: 204,
        type: jsonType,
        body: "",
        headers: cleared,
        cookies: users.cookies.end(),
      };
      return { kind: "document", document };
    },
  }),
];

/** A browser forgets what it has stored of the responses to the user. */
const cleared = { "clear-site-data": '"cache"' };

function requestOf(
  kind: "signIn" | "reset",
  row: Pick<PeopleEndpoint, "path" | "id" | "summary"> & Required<Pick<PeopleEndpoint, "has">>,
): UsersEndpoint {
  return endpointOf({
    ...row,
    method: "POST",
    isForSetUp: true,
    body: bodyOf({ email, device }, { email: byPassword.email }),
    description: "Mails a code if the address has an account. The response is the same for every address.",
    successes: ticketGiven,
    errors: [429],
    work: async (sent) => {
      const asked = withDevice(sent, { email: requireMembers(sent.given, ["email"]).email });
      return ticketOf(await sent.users.requestCode(kind, asked, sent.visitor));
    },
  });
}

/** Throws UNAUTHENTICATED unless the caller has a session. */
async function requireCurrent(users: Users, { caller }: Asked): Promise<Current> {
  const current = caller.principal?.session && (await users.current(caller.principal.session.id));
  if (current !== undefined) return current;
  throw unauthenticated(
    "This request needs the token of a session. Sign in, and send it as Authorization: Bearer <token>.",
  );
}

function shownUser({ id, email: address, roles, claims }: Account): object {
  return { id, email: address, roles, claims };
}

/** A session as responses contain it. */
export function shownSession(
  users: Users,
  { session, account }: { session: Session; account: Account },
): object {
  const { id, createdAt, usedAt, network, agent, name, scopes } = session;
  return {
    id,
    createdAt: timeText(createdAt),
    usedAt: timeText(usedAt),
    expiresAt: timeText(users.endOf(session, account)),
    confirmedUntil: timeText(users.confirmedUntil(session)),
    mustAddFactor: users.secondFactors.isMissing(account),
    network,
    agent,
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes }),
  };
}

/** A time as responses contain it. */
export function timeText(at: number): string {
  return new Date(at).toISOString();
}

/** The question for the second factor. */
export function shownStep({ ticket: of, expiresAt, factors, passkey: options }: SecondStep): object {
  const asked = { next: "secondFactor", ticket: of, expiresAt: timeText(expiresAt), factors };
  return { ...asked, ...(options && { passkey: options }) };
}

/** The response that begins a session, or asks for the second factor. With `"cookie": true`, only cookies have the secrets. */
export function started({ users, given }: Sent, begun: Begun): Result {
  if ("factors" in begun) return jsonResult(shownStep(begun));
  users.noteSession(given);
  const { session, account, token, device: made } = begun;
  const shown = { session: shownSession(users, { session, account }), user: shownUser(account) };
  if (given.cookie === true)
    return jsonResult(shown, { cookies: users.cookies.ofSession({ token, device: made }) });
  return jsonResult({ ...shown, token, ...(made !== undefined && { device: made }) });
}

function ticketOf({ ticket, expiresAt }: GivenTicket): Result {
  return jsonResult({ ticket, expiresAt: timeText(expiresAt) }, { status: 202 });
}
