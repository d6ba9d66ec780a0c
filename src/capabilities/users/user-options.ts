/** Reads the option `auth.users`, and checks that the rest of the configuration fits it. */
import { isDeepStrictEqual } from "node:util";
import { type AdministratorRule, isAdministrator } from "../../access/roles.ts";
import { defaultRules } from "../../access/rules.ts";
import type { RestOfConfiguration } from "../../capability.ts";
import { attributeInfo } from "../../collection/attributes.ts";
import type { Collection } from "../../collection/collection.ts";
import { requireDeletable } from "../../collection/expiry.ts";
import { didYouMean, shortJson, suggest } from "../../collection/messages.ts";
import { timestampNames } from "../../collection/timestamps.ts";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import { type MemberReader, type MemberReaders, membersOf, simply } from "../../members.ts";
import type { Reader } from "../../option.ts";
import { durationOf, isSafeOrigin, roleNames, text, texts, truth, wholeNumber } from "../../readers.ts";
import { toDomain } from "./mail-address.ts";
import { type ProviderOptions, providers, requireProviders } from "./provider-options.ts";
import type {
  PeopleSettings,
  SecondFactor,
  SessionTimes,
  SignInMethod,
  SignUp,
  UserSettings,
} from "./user-settings.ts";

const at = "auth.users";

/** How long a session lives: times such as `30m`, `12h` or `14d`. */
interface SessionTimeOptions {
  /** Without a request. */
  idle?: string;
  /** In all. */
  absolute?: string;
}

/** People who sign in, and how. */
export interface UserOptions {
  /** The declared collection of their profiles, whose ids have the kind `uuid`. */
  collection: string;
  /** Read-only attributes of the profile that show the proven address and the roles, by name. @default none */
  mirror?: { readonly email?: string; readonly roles?: string };
  /**
   * Who can get an account without an invitation: nobody (`closed`), anyone, or who has an address of these domains. `invited` is
   * like `closed`, but says that the invited people can be strangers: every collection needs `access`. @default "closed"
   */
  signUp?:
    | "closed"
    | "invited"
    | "open"
    | { readonly domains: readonly string[]; readonly roles?: readonly string[] };
  /**
   * What a sign-in can prove: `password`, `email` (a code by mail), `passkey`, `providers`. @default ["password", "email"], and
   * "providers" if there are any
   */
  methods?: readonly SignInMethod[];
  /** Who must have a second factor: everybody (`required`), or users with some roles. `off`: nobody can have one. @default "optional" */
  secondFactor?: SecondFactor;
  /** @default 14d without a request, 90d in all; for administrators 1h and 24h */
  sessions?: SessionTimeOptions & { readonly administrators?: SessionTimeOptions };
  password?: {
    /** Texts that a password cannot be made of, such as the name of your company. @default none */
    readonly words?: readonly string[];
    /** Whether to ask Have I Been Pwned for known passwords. @default false */
    readonly breached?: boolean;
  };
  /** The roles that administrators can give over HTTP. @default those of `auth.keyRoles` */
  roles?: readonly string[];
  /** Origins of the same owner, whose pages can use the cookie. @default none */
  origins?: readonly string[];
  /**
   * Where people can sign in, by name: `{ google: { clientId }, work: { issuer, clientId, name: "Work" } }`. The secret of each is in
   * the environment variable `HOLDFAST_PROVIDER_<NAME>_SECRET`. @default none
   */
  providers?: Readonly<Record<string, ProviderOptions>>;
  /** How long the audit is kept, in days and in bytes: the oldest entries go first. @default 365 days, and 1000000000 bytes */
  audit?: { readonly keepDays?: number; readonly keepBytes?: number };
}

/** The checked settings. Throws StartError with the faults of all members. */
export const userSettings: Reader<UserSettings, UserOptions> = (value) => {
  const given = membersOf<UserSettings>(value, at, {
    collection,
    mirror,
    signUp,
    methods: simply(methods),
    secondFactor,
    sessions,
    password,
    roles: simply(roleNames),
    origins: simply(origins),
    providers,
    audit,
  });
  const { providers: named = [] } = given;
  const usual = named.length === 0 ? usualMethods : [...usualMethods, "providers"];
  return { ...defaults, methods: usual, ...given } as UserSettings;
};

const collection: MemberReader<string> = (value, place) => {
  if (value === undefined)
    throw new StartError(
      `${place} is missing. It names the declared collection of the profiles, such as "users".`,
    );
  return simply(text)(value, place);
};

const mirror: MemberReader<UserSettings["mirror"]> = (value, place) => {
  if (value === undefined) return undefined;
  const readers = { email: simply(text), roles: simply(text) };
  const given: UserSettings["mirror"] = membersOf(value, place, readers);
  if (given.email === undefined || given.email !== given.roles) return given;
  throw new StartError(`${place}: "${given.email}" cannot show both. Name two attributes.`);
};

const signUp: MemberReader<SignUp> = (value, place) => {
  if (value === undefined || value === "closed" || value === "invited" || value === "open") return value;
  const expected =
    '"closed", "invited", "open" or an object such as { domains: ["acme.example"], roles: ["member"] }';
  if (!isObject(value)) throw new StartError(`${place} must be ${expected}, not ${shortJson(value)}.`);
  const { domains, roles = [] } = membersOf<Exclude<SignUp, string>>(value, place, {
    domains: (declared, of) => {
      if (declared === undefined)
        throw new StartError(`${of} is missing. For every address, write signUp: "open".`);
      return simply(domainNames)(declared, of);
    },
    roles: simply(roleNames),
  });
  return { domains: domains ?? [], roles };
};

const domainNames: Reader<readonly string[]> = (value) => {
  const domains = texts(value).map(toDomain);
  const known = domains.filter((each) => each !== undefined);
  if (known.length > 0 && known.length === domains.length) return known;
  throw new Error('must be a list of domains such as ["acme.example"]');
};

const usualMethods: readonly SignInMethod[] = ["password", "email"];
const allMethods: readonly SignInMethod[] = [...usualMethods, "passkey", "providers"];

const methods: Reader<readonly SignInMethod[]> = (value) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const known = allMethods.filter((method) => list.includes(method));
  const canSignUp = list.some((method) => method !== "passkey");
  if (canSignUp && known.length === list.length) return known;
  throw new Error(
    'must be a list of "password", "email" and "providers", or of some of them. It can also have "passkey"',
  );
};

const secondFactor: MemberReader<SecondFactor> = (value, place) => {
  if (value === undefined || value === "off" || value === "optional" || value === "required") return value;
  if (!isObject(value))
    throw new StartError(
      `${place} must be "off", "optional", "required" or an object such as { roles: ["ops"] }, not ${shortJson(value)}.`,
    );
  const { roles = [] } = membersOf<Exclude<SecondFactor, string>>(value, place, {
    roles: (declared, of) => {
      if (declared !== undefined) return simply(roleNames)(declared, of);
      throw new StartError(`${of} is missing. For all users, write secondFactor: "required".`);
    },
  });
  return { roles };
};

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** The last use of a session is stored every five minutes, so a shorter time would end sessions that are in use. */
const shortestMs = 600_000;
const longestMs = 366 * dayMs;

const time: Reader<number> = (value) => {
  const ms = typeof value === "string" ? durationOf(value) : undefined;
  if (ms !== undefined && ms >= shortestMs && ms <= longestMs) return ms;
  throw new Error('must be a time from "10m" to "366d", such as "12h"');
};

type GivenTimes = Partial<SessionTimes>;

const times: MemberReaders<GivenTimes> = { idle: simply(time), absolute: simply(time) };

/** The times of administrators are never longer than those of all, unless they are given. */
const sessions: MemberReader<UserSettings["sessions"]> = (value = {}, place) => {
  const { administrators = {}, ...given } = membersOf<GivenTimes & { administrators: GivenTimes }>(
    value,
    place,
    { ...times, administrators: (declared = {}, of) => membersOf(declared, of, times) },
  );
  const ofAll = timesOf(given, { idle: 14 * dayMs, absolute: 90 * dayMs }, place);
  const shorter = { idle: Math.min(hourMs, ofAll.idle), absolute: Math.min(24 * hourMs, ofAll.absolute) };
  return { ...ofAll, administrators: timesOf(administrators, shorter, `${place}.administrators`) };
};

function timesOf(given: GivenTimes, usual: SessionTimes, place: string): SessionTimes {
  const { absolute = usual.absolute } = given;
  const { idle = Math.min(usual.idle, absolute) } = given;
  if (idle <= absolute) return { idle, absolute };
  throw new StartError(
    `${place}.idle has no effect, because a session ends after "absolute". Make it shorter.`,
  );
}

/** A shorter word would refuse too many passwords. */
const words: Reader<readonly string[]> = (value) => {
  const list = texts(value);
  if (list.length <= 1_000 && list.every((word) => word.length >= 3 && word.length <= 100)) return list;
  throw new Error("must be a list of at most 1000 texts, each of 3 to 100 characters");
};

const password: MemberReader<UserSettings["password"]> = (value = {}, place) => {
  const readers = { words: simply(words), breached: simply(truth) };
  return { words: [], breached: false, ...membersOf<UserSettings["password"]>(value, place, readers) };
};

const origins: Reader<readonly string[]> = (value) => {
  const list = texts(value);
  if (list.length <= 100 && list.every(isSafeOrigin)) return list;
  throw new Error(
    'must be a list of at most 100 origins such as "https://app.example.org" (in lower case, without a path; http only for this machine)',
  );
};

const keepDays = simply(wholeNumber(1, 36_500));
const keepBytes = simply(wholeNumber(1_000_000, 1e12));

const audit: MemberReader<UserSettings["audit"]> = (value = {}, place) => ({
  keepDays: 365,
  keepBytes: 1e9,
  ...membersOf<UserSettings["audit"]>(value, place, { keepDays, keepBytes }),
});

/** The values of missing members whose readers have none. `collection` must be given. */
const defaults = {
  mirror: {},
  signUp: "closed",
  secondFactor: "optional",
  roles: undefined,
  origins: [],
  providers: [],
} as const;

/** Throws StartError with everything in a configuration that the settings do not fit. */
export function requireUsable(users: PeopleSettings, rest: RestOfConfiguration): void {
  const { collections, rules, administrators, isLocal } = rest;
  const faults = new StartFaults();
  const own = ["auth", "users"];
  faults.read([...own, "collection"], () => requireProfiles(users.collection, collections));
  faults.read([], () => requireDeletable(collections, users.collection));
  const profiles = collections.get(users.collection);
  for (const member of ["email", "roles"] as const) {
    const name = users.mirror[member];
    if (name !== undefined && profiles !== undefined)
      faults.read([...own, "mirror", member], () => requireMirror(profiles, member, name));
  }
  if (!rest.hasUrl) {
    const local = rest.isEmbedded
      ? "remove hosts, and serve the application without https"
      : "a loopback host without trustProxy, hosts and tls";
    const advice = `Set publicUrl, such as https://shop.example, or ${local}.`;
    faults.add(
      own,
      `${at}: others can reach this service, so links in mails and cookies need its address. ${advice}`,
    );
  }
  const needsMail = users.methods.includes("password") || users.methods.includes("email");
  if (needsMail && !isLocal && users.mail === undefined)
    faults.add(
      own,
      `${at}: others can reach this service, and users can neither sign up nor reset a password without mail. Set mail, such as { from: "shop@shop.example", smtp: "smtps://user@mail.shop.example" }, or the methods to ["providers"].`,
    );
  faults.read([...own, "providers"], () => requireProviders(users, { isLocal }));
  if (users.signUp !== "closed") {
    faults.read([...own, "signUp", "roles"], () => requireModestRoles(users.signUp, administrators));
    for (const name of collections.keys())
      if (rules.get(name) === defaultRules)
        faults.add(
          ["collections", name],
          `collections.${name}: anyone who signs up could do everything here. Add "access", or set ${at}.signUp to "closed".`,
        );
    if (rest.openCollections)
      faults.add(
        ["openCollections"],
        `openCollections: anyone who signs up could do everything in collections that are not declared. Set it to false, or ${at}.signUp to "closed".`,
      );
  }
  faults.throwIfAny();
}

/** The id of an account is the id of its profile, and the subject of its caller. */
function requireProfiles(name: string, collections: RestOfConfiguration["collections"]): void {
  const place = `${at}.collection`;
  const profiles = collections.get(name);
  if (profiles === undefined)
    throw new StartError(
      `${place}: "${name}" is not a declared collection. ${suggest(name, [...collections.keys()])}`,
    );
  if (profiles.idKind === "uuid") return;
  throw new StartError(
    `${place}: the ids of "${name}" must be of the kind "uuid", because they are the subjects of callers. Declare id: "uuid" there.`,
  );
}

/** Keywords that refuse no value. */
const annotations = new Set(["title", "description", "examples", "deprecated", "readOnly", "$comment"]);

/** A mirrored attribute takes whatever the account has, and nobody else sets it. Throws StartError. */
function requireMirror(profiles: Collection, member: "email" | "roles", name: string): void {
  const attribute = `"${name}" of "${profiles.name}"`;
  const refuse = (what: string) => {
    throw new StartError(`${at}.mirror.${member}: ${what}`);
  };
  const info = attributeInfo(profiles, [name]);
  const isOwn = name === "id" || (profiles.timestamps && timestampNames.some((each) => each === name));
  if (isOwn) refuse(`the service sets ${attribute} itself. Choose another attribute.`);
  if (profiles.schema !== undefined && !info.isDeclared)
    refuse(`${attribute} is not an attribute of the schema.${didYouMean(name, info.alternatives ?? [])}`);
  if (info.isRequired === true)
    refuse(`the schema requires ${attribute}, but a profile without an account does not have it.`);
  const schema = member === "email" ? { type: "string" } : { type: "array", items: { type: "string" } };
  const isPlain = (info.fits?.schemas ?? []).every((each) => isObject(each) && refusesOnly(each, schema));
  if (!isPlain)
    refuse(`the schema must allow every value of ${attribute}. Declare it as ${JSON.stringify(schema)}.`);
  if (profiles.attributeRules.some((rule) => rule.name === name && rule.readOnly && !rule.writeOnly)) return;
  refuse(`clients could set ${attribute}. Declare it with "readOnly": true in the schema.`);
}

/** Whether the keywords of a schema, except annotations, are those of another one. */
function refusesOnly(schema: object, allowed: object): boolean {
  const given = Object.entries(schema).filter(([keyword]) => !annotations.has(keyword));
  return isDeepStrictEqual(Object.fromEntries(given), allowed);
}

function requireModestRoles(signUp: SignUp, administrators: readonly AdministratorRule[]): void {
  const roles = typeof signUp === "string" ? [] : signUp.roles;
  const caller = { subject: "", roles, claims: {}, scopes: undefined };
  if (!isAdministrator(administrators, caller)) return;
  throw new StartError(
    `${at}.signUp.roles: anyone who signs up would administer the service. Remove the role of administrators.`,
  );
}
