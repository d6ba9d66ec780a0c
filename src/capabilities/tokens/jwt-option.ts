/** Reads the option `auth.jwt`. */

import { shortJson, withKnownMembers } from "../../collection/messages.ts";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import type { Reader } from "../../option.ts";
import { isSafeUrl, text, texts, truth } from "../../readers.ts";
import { type Algorithm, allAlgorithms, holdsSecrets, readKeySet } from "./key-set.ts";
import type { JwksPlace, JwtSettings } from "./settings.ts";

const at = "auth.jwt";

const known = [
  "issuer",
  "audience",
  "jwks",
  "algorithms",
  "onlyAccessTokens",
  "subjectClaim",
  "rolesClaim",
  "tenantClaim",
  "scopeClaim",
  "actAsUsers",
];

/** An issuer whose JSON Web Tokens the service accepts, and the claims that it reads. */
export interface JwtOptions {
  /** The required value of `iss`. */
  issuer: string;
  /** The required value of `aud`: one of these, if there are several. */
  audience: string | readonly string[];
  /** The issuer's public keys: an https URL (http on this machine), a file, or a JSON Web Key Set itself. */
  jwks: string | { readonly keys: readonly object[] };
  /** The accepted signature algorithms. @default all of these */
  algorithms?: readonly Algorithm[];
  /** Whether to accept only tokens of the type `at+jwt` (RFC 9068). @default false */
  onlyAccessTokens?: boolean;
  /** The claim with the subject. @default "sub" */
  subjectClaim?: string;
  /** The claim with the roles: a list, or a text with spaces between the roles. @default "roles" */
  rolesClaim?: string;
  /** The claim that rules refer to as `$claims.tenant`. @default "tenant" */
  tenantClaim?: string;
  /** The claim with the scopes, which limit every token. @default "scope", if it has scopes of this service */
  scopeClaim?: string;
  /** Whether a token whose subject is the id of an account acts as that user. Only with `auth.users`. @default false */
  actAsUsers?: boolean;
}

/** The checked settings. Throws StartError with the faults of all members. */
export const jwtSettings: Reader<JwtSettings, JwtOptions> = (value) => {
  if (!isObject(value)) throw new StartError(`${at} must be an object with issuer, audience and jwks.`); // the value can be a token
  const faults = new StartFaults();
  const refuse = (name: string) => `${at}.${name} is not an option.`;
  const given = withKnownMembers(value, { names: known, refuse }, faults);
  const member = <Value>(name: string, read: (value: unknown) => Value) =>
    faults.read([name], () => readMember(name, given[name], read));
  const required = <Value>(name: string, read: (value: unknown) => Value) => {
    const value = member(name, read);
    return faults.read([name], () => requireMember(name, value()));
  };
  const algorithms = member("algorithms", algorithmNames);
  const members = {
    issuer: required("issuer", text),
    audience: required("audience", audience),
    jwks: required("jwks", (place) => jwksPlace(place, () => algorithms() ?? allAlgorithms)),
    onlyAccessTokens: member("onlyAccessTokens", truth),
    subject: member("subjectClaim", text),
    roles: member("rolesClaim", text),
    tenant: member("tenantClaim", text),
    scope: member("scopeClaim", text),
    actAsUsers: member("actAsUsers", truth),
  };
  faults.throwIfAny();
  return {
    issuer: members.issuer(),
    audience: members.audience(),
    jwks: members.jwks(),
    algorithms: algorithms() ?? allAlgorithms,
    onlyAccessTokens: members.onlyAccessTokens() ?? false,
    ...(members.actAsUsers() === true && { actAsUsers: true }),
    claims: {
      subject: members.subject() ?? "sub",
      roles: members.roles() ?? "roles",
      tenant: members.tenant(),
      scope: members.scope(),
    },
  };
};

/** The settings with the place of the key set only. The parameters of a URL can be secret, and the keys are long. */
export function shownJwt({ jwks, ...settings }: JwtSettings): object {
  return { ...settings, jwks: shownKeySet(jwks) };
}

function shownKeySet(jwks: JwksPlace): object {
  if (jwks.kind === "inline") return { kind: "inline" };
  if (jwks.kind === "file") return jwks;
  const { origin, pathname } = new URL(jwks.url);
  return { kind: "url", url: `${origin}${pathname}` };
}

function readMember<Value>(name: string, value: unknown, read: (value: unknown) => Value): Value | undefined {
  if (value === undefined) return undefined;
  try {
    return read(value);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const not = name === "jwks" ? "" : `, not ${shortJson(value)}`; // a key set or a URL can contain secrets
    throw new StartError(`${at}.${name} ${(error as Error).message}${not}.`);
  }
}

function requireMember<Value>(name: string, value: Value | undefined): Value {
  if (value !== undefined) return value;
  const why = {
    issuer: "the service would accept tokens of any issuer",
    audience: "the service would accept tokens meant for other services",
    jwks: "the service could not verify any token",
  }[name];
  throw new StartError(`${at}.${name} is missing. Without it, ${why}.`);
}

const audience = (value: unknown): readonly string[] => {
  const list = typeof value === "string" ? [text(value)] : texts(value);
  if (list.length > 0) return list;
  throw new Error("must be a non-empty string or a list of non-empty strings");
};

const algorithmNames = (value: unknown): readonly Algorithm[] => {
  const list = texts(value);
  if (list.length > 0 && list.every((name) => (allAlgorithms as readonly string[]).includes(name))) {
    return list as readonly Algorithm[];
  }
  throw new Error(
    `must be a list of some of ${allAlgorithms.join(", ")} (HMAC is not supported, because its secret could create tokens too)`,
  );
};

const jwksPlace = (value: unknown, algorithms: () => readonly Algorithm[]): JwksPlace => {
  if (typeof value === "object") {
    if (holdsSecrets(value))
      throw new StartError(`${at}.jwks contains a secret key. Keep only the public keys.`);
    const accepted = algorithms();
    try {
      readKeySet(value, accepted);
    } catch (error) {
      throw new StartError(`${at}.jwks: ${(error as Error).message}.`);
    }
    return { kind: "inline", jwks: value };
  }
  const place = text(value);
  return /^(?:[a-z][a-z0-9+.-]+:|\/\/)/i.test(place)
    ? { kind: "url", url: safeUrl(place) }
    : { kind: "file", path: place };
};

/** Throws for a URL without encryption, because anyone on the network could replace the keys. */
function safeUrl(place: string): string {
  const fault = new Error("must be an https URL (http only for this machine), a file or a key set");
  if (!URL.canParse(place)) throw fault;
  const url = new URL(place);
  if (url.username !== "" || url.password !== "") {
    throw new StartError(`${at}.jwks must be a URL without a user name and a password.`); // the message does not show them
  }
  if (!isSafeUrl(url)) throw fault;
  return place;
}
