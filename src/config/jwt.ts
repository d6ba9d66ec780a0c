/** Reads and checks `auth.jwt`. */
import { type Algorithm, allAlgorithms } from "../access/jwt/algorithms.ts";
import { holdsSecrets, readKeySet } from "../access/jwt/key-set.ts";
import type { JwksPlace, JwtSettings } from "../access/settings.ts";
import { didYouMean } from "../collection/nearest.ts";
import { shown } from "../collection/shown.ts";
import { StartError } from "../errors.ts";
import { isLoopback } from "../http/hosts.ts";
import { text, texts, truth } from "./readers.ts";

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
];

/** Whose tokens are taken. Throws StartError with the place of what is wrong. */
export function jwtSettings(value: unknown): JwtSettings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new StartError(`${at} must be an object with issuer, audience and jwks.`); // it may be a token
  }
  const given = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const instead = didYouMean(name, known).trimStart() || `Known are ${known.join(", ")}.`;
    throw new StartError(`${at}.${name} is not an option. ${instead}`);
  }
  const get = getterOf(given);
  const algorithms = get("algorithms", algorithmNames) ?? allAlgorithms;
  return {
    issuer: required("issuer", get("issuer", text)),
    audience: required("audience", get("audience", audience)),
    jwks: required(
      "jwks",
      get("jwks", (place) => jwksPlace(place, algorithms)),
    ),
    algorithms,
    onlyAccessTokens: get("onlyAccessTokens", truth) ?? false,
    claims: {
      subject: get("subjectClaim", text) ?? "sub",
      roles: get("rolesClaim", text) ?? "roles",
      tenant: get("tenantClaim", text),
      scope: get("scopeClaim", text),
    },
  };
}

function getterOf(given: Readonly<Record<string, unknown>>) {
  return <Value>(name: string, read: (value: unknown) => Value): Value | undefined => {
    const value = given[name];
    if (value === undefined) return undefined;
    try {
      return read(value);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const said = name === "jwks" ? "" : `, and is ${shown(value)}`; // keys and addresses may hold secrets
      throw new StartError(`${at}.${name} ${(error as Error).message}${said}.`);
    }
  };
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value !== undefined) return value;
  const why = {
    issuer: "tokens of anybody would be taken",
    audience: "tokens that are meant for other services would be taken",
    jwks: "no token could be checked",
  }[name];
  throw new StartError(`${at}.${name} is missing: without it ${why}.`);
}

const audience = (value: unknown): readonly string[] => {
  const list = typeof value === "string" ? [text(value)] : texts(value);
  if (list.length > 0) return list;
  throw new Error("must be a text or a list of texts");
};

const algorithmNames = (value: unknown): readonly Algorithm[] => {
  const list = texts(value);
  if (list.length > 0 && list.every((name) => (allAlgorithms as readonly string[]).includes(name))) {
    return list as readonly Algorithm[];
  }
  throw new Error(
    `must be a list of some of ${allAlgorithms.join(", ")} (HMAC would need a secret that could make tokens too)`,
  );
};

const jwksPlace = (value: unknown, algorithms: readonly Algorithm[]): JwksPlace => {
  if (typeof value === "object") {
    if (holdsSecrets(value)) throw new StartError(`${at}.jwks holds a secret: leave only the public keys.`);
    try {
      readKeySet(value, algorithms);
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

/** Keys that come over a network in the clear could be anybody's. */
function safeUrl(place: string): string {
  const fault = new Error("must be an https URL (http on this machine), a file or a key set");
  if (!URL.canParse(place)) throw fault;
  const { protocol, hostname, username, password } = new URL(place);
  if (username !== "" || password !== "") {
    throw new StartError(`${at}.jwks must be a URL without a name and a password.`); // which are not shown
  }
  const isSafe =
    protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")));
  if (!isSafe) throw fault;
  return place;
}
