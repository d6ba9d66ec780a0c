/** The endpoints of second factors and passkeys: people prove them at a sign-in, and manage their own. */

import type { Member } from "../../../http/endpoint/body.ts";
import {
  closedObject,
  count,
  json,
  listOf,
  type Part,
  text,
  texts,
  truth,
} from "../../../http/openapi/described.ts";
import { jsonResult, notFound } from "../../../http/operations/result.ts";
import type { Service } from "../../../http/service.ts";
import { inBody, Violations } from "../../../query/violations.ts";
import type { UsersEndpoint } from "../open-users.ts";
import type { PasskeyResponse } from "../passkeys.ts";
import type { AddedFactor, SecondProof } from "../second-factor.ts";
import type { GivenTicket } from "../tickets.ts";
import type { Passkey, Totp } from "../user-records.ts";
import type { UserSettings } from "../user-settings.ts";
import {
  bodyOf,
  cookie,
  device,
  endpointOf,
  onlySession,
  ownEndpoint,
  passkey,
  requireMembers,
  started,
  textMember,
  ticket,
  time,
  timeText,
  withDevice,
} from "./sign-in.ts";

function hasPasskeys({ methods }: UserSettings): boolean {
  return methods.includes("passkey");
}

function hasSecondFactor({ secondFactor }: UserSettings): boolean {
  return secondFactor !== "off";
}

function hasFactors(settings: UserSettings): boolean {
  return hasPasskeys(settings) || hasSecondFactor(settings);
}

/** The factors that users of a service can set up. */
function kindsOf(settings: UserSettings): string[] {
  return [...(hasSecondFactor(settings) ? ["totp"] : []), ...(hasPasskeys(settings) ? ["passkey"] : [])];
}

const totp = textMember("The six digits that the authenticator app shows.", 20);

const kind: Member<Service> = {
  schema: { enum: ["totp", "passkey"], description: "The factor to begin with." },
  isOptional: true,
  fault: ["enum", "must be the kind of a factor"],
};

const options: Part = { type: "object", description: "The options for `navigator.credentials`, as JSON." };

const factor = closedObject(
  {
    id: text,
    kind: { enum: ["totp", "passkey"] },
    name: { ...text, description: "What the user calls it." },
    createdAt: time,
    usedAt: { ...time, description: "The last sign-in with it." },
  },
  { optional: ["name"] },
);

const recoveryCodes: Part = {
  ...texts,
  description: "Each replaces the second factor once. No other response has them.",
};

const toFinish = {
  ticket: { ...text, description: "Send it to finish." },
  expiresAt: time,
};

/** The endpoints. */
export const factorEndpoints: readonly UsersEndpoint[] = [
  endpointOf({
    path: "/_auth/passkey",
    method: "POST",
    has: hasPasskeys,
    isForSetUp: true,
    body: { ...bodyOf({}, {}), isOptional: true },
    id: "requestPasskey",
    summary: "Begin to sign in with a passkey",
    description:
      "Returns a ticket, and the options for the browser. The response is the same for everyone: it names no passkey. Send the ticket with what the browser returns, as a sign-in or a confirmation.",
    successes: {
      200: {
        description: "The ticket, which works for 5 minutes, and the options.",
        content: json(closedObject({ ...toFinish, options })),
      },
    },
    work: async ({ users }) => {
      const { options: made, ...given } = await users.passkeys.offer();
      return jsonResult({ ...shownTicket(given), options: made });
    },
  }),
  endpointOf({
    path: "/_auth/second-factor",
    method: "POST",
    kind: "secondFactor",
    has: hasSecondFactor,
    isForSetUp: true,
    body: bodyOf(
      {
        ticket,
        totp,
        recoveryCode: textMember("One of the recovery codes.", 100),
        passkey,
        device,
        cookie,
      },
      { ticket: "…", totp: "123456" },
    ),
    id: "proveSecondFactor",
    summary: "Prove the second factor",
    description:
      "Begins the session of a sign-in that asked for the second factor. Send the ticket with a code of the app, a recovery code, or a passkey that has signed the options of the ticket.",
    successes: onlySession,
    errors: [429],
    work: async (sent) => {
      const { given } = sent;
      requireMembers(given, ["ticket"]);
      requireOne(given, ["totp", "recoveryCode", "passkey"]);
      const proof = withDevice(sent, given as unknown as SecondProof);
      return started(sent, await sent.users.secondFactors.prove(proof, sent.visitor));
    },
  }),
  ownEndpoint({
    path: "/_auth/factors",
    method: "GET",
    has: hasFactors,
    isForSetUp: true,
    id: "listFactors",
    summary: "List your factors",
    description: "Lists the authenticator app and the passkeys of the caller, and counts the recovery codes.",
    errors: [403],
    successes: {
      200: {
        description: "The factors.",
        content: json(
          closedObject({
            factors: listOf(factor),
            recoveryCodes: { ...count, description: "The recovery codes that are left." },
            kinds: { ...texts, description: "The factors that the service has." },
            asked: { ...texts, description: "What a sign-in asks for after a password or a code by mail." },
            required: { ...truth, description: "Whether the service requires a second factor of the user." },
          }),
        ),
      },
    },
    work: ({ users: { settings, secondFactors }, current: { account } }) => {
      const { totp: app, passkeys = [], recoveryCodes: left = [] } = account;
      const all = [...(app === undefined ? [] : [app]), ...passkeys];
      return jsonResult({
        factors: all.map(shownFactor),
        recoveryCodes: left.length,
        kinds: kindsOf(settings),
        asked: secondFactors.factorsOf(account),
        required: secondFactors.isRequired(account),
      });
    },
  }),
  ownEndpoint({
    path: "/_auth/factors",
    method: "POST",
    kind: "factorAdded",
    has: hasFactors,
    isForSetUp: true,
    body: bodyOf(
      { kind, ticket, totp, passkey, name: textMember("What the user calls the factor.", 100) },
      { kind: "totp" },
    ),
    id: "addFactor",
    summary: "Set up a factor",
    description:
      "Sets up an authenticator app or a passkey in two requests, in a session that was confirmed in the last ten minutes. The first one has the `kind`. The second one has the `ticket`, and the code that the app shows or what the browser has returned. A new app replaces the one before, and ends all other sessions.",
    successes: {
      200: {
        description:
          "The ticket for the second request; then the factor, and the first recovery codes of the user.",
        content: json({
          oneOf: [
            closedObject({
              ...toFinish,
              secret: { ...text, description: "What to type into an authenticator app, in base32." },
              uri: { ...text, description: "The same for a QR code." },
            }),
            closedObject({ ...toFinish, options }),
            closedObject({ factor, recoveryCodes }, { optional: ["recoveryCodes"] }),
          ],
        }),
      },
    },
    errors: [409],
    work: async ({ users: { secondFactors, settings }, given, current }) => {
      const wanted = requireOne(given, ["kind", "totp", "passkey"]);
      const name = given.name as string | undefined;
      if (wanted === "kind") {
        requireKind(settings, given.kind as string);
        if (given.kind === "totp") {
          const { secret, uri, ...ticketGiven } = await secondFactors.beginTotp(current);
          return jsonResult({ ...shownTicket(ticketGiven), secret, uri });
        }
        const { options: made, ...ticketGiven } = await secondFactors.beginPasskey(current);
        return jsonResult({ ...shownTicket(ticketGiven), options: made });
      }
      const { ticket: sent } = requireMembers(given, ["ticket"]);
      requireKind(settings, wanted);
      const added =
        wanted === "totp"
          ? await secondFactors.addTotp(current, { ticket: sent, totp: given.totp as string, name })
          : await secondFactors.addPasskey(current, {
              ticket: sent,
              passkey: given.passkey as PasskeyResponse,
              name,
            });
      return jsonResult(shownAdded(added));
    },
  }),
  ownEndpoint({
    path: "/_auth/factors/{id}",
    method: "DELETE",
    kind: "factorRemoved",
    has: hasFactors,
    names: { id: { description: "The id of the factor." } },
    id: "removeFactor",
    summary: "Remove one of your factors",
    description:
      "Removes an authenticator app or a passkey, in a session that was confirmed in the last ten minutes. All other sessions end.",
    successes: { 205: { description: "The factor is removed." } },
    errors: [409],
    work: async ({ users, asked, current }) =>
      (await users.secondFactors.remove(current, asked.names.id as string)) ? { kind: "deleted" } : notFound,
  }),
  ownEndpoint({
    path: "/_auth/recovery-codes",
    method: "POST",
    kind: "recoveryCodes",
    has: hasSecondFactor,
    body: { ...bodyOf({}, {}), isOptional: true },
    id: "renewRecoveryCodes",
    summary: "Make new recovery codes",
    description:
      "Makes ten recovery codes in place of those before, in a session that was confirmed in the last ten minutes. Each replaces the second factor once.",
    successes: {
      200: { description: "The codes.", content: json(closedObject({ recoveryCodes })) },
    },
    errors: [409],
    work: async ({ users, current }) =>
      jsonResult({ recoveryCodes: await users.secondFactors.renewRecoveryCodes(current) }),
  }),
];

/** The one of these members that a body has. Throws INVALID_PARAMETER for none and for several. */
function requireOne<Name extends string>(
  given: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Name {
  const [first, second] = names.filter((name) => given[name] !== undefined);
  if (first !== undefined && second === undefined) return first;
  const violations = new Violations();
  if (first === undefined)
    violations.add(inBody(names[0] as Name), "required", `is missing. Send one of ${names.join(", ")}`);
  else violations.add(inBody(second as Name), "excess", `cannot be together with "${first}"`);
  throw violations.problem();
}

/** Throws INVALID_PARAMETER for a factor that the service does not have. */
function requireKind(settings: UserSettings, wanted: string): void {
  const kinds = kindsOf(settings);
  if (kinds.includes(wanted)) return;
  const violations = new Violations();
  violations.add(
    inBody("kind"),
    "enum",
    `must be one of ${kinds.join(", ")}: the service has no other factors`,
  );
  throw violations.problem();
}

function shownTicket({ ticket: given, expiresAt }: GivenTicket): object {
  return { ticket: given, expiresAt: timeText(expiresAt) };
}

function shownFactor({ id, kind: of, name, createdAt, usedAt }: Totp | Passkey): object {
  const times = { createdAt: timeText(createdAt), usedAt: timeText(usedAt) };
  return { id, kind: of, ...(name !== undefined && { name }), ...times };
}

function shownAdded({ factor: added, recoveryCodes: codes }: AddedFactor): object {
  return { factor: shownFactor(added), ...(codes && { recoveryCodes: codes }) };
}
