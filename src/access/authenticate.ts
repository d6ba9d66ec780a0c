/** Who asks: from the header section of a request to the principal of its credential. */
import type { IncomingHttpHeaders } from "node:http";
import type { Keys } from "../store/keys.ts";
import { bearerToken, requireTokenShape } from "./bearer.ts";
import { KeyRing } from "./key-ring.ts";
import { keyMark } from "./key-text.ts";
import type { Principal } from "./principal.ts";
import { invalidToken } from "./refusals.ts";
import type { AuthSettings } from "./settings.ts";

/**
 * The principal of a request's credential, `undefined` where it has none. Throws UNAUTHENTICATED for one that is
 * malformed, INVALID_TOKEN for one that does not hold, and UNAVAILABLE where that cannot be told now.
 */
export type Authenticate = (headers: IncomingHttpHeaders) => Principal | undefined | Promise<Principal>;

/** What authentication depends on. */
export interface AuthParts {
  settings: AuthSettings;
  keys: Keys;
  /** Unix time in milliseconds. */
  now: () => number;
  warn: (message: string) => void;
}

/** Opens the sources of credentials. Throws StartError where one cannot be. */
export async function openAuthenticate({ settings, keys, now, warn }: AuthParts): Promise<Authenticate> {
  const elapsed = () => performance.now();
  const ring = settings.keys ? new KeyRing({ keys, now, elapsed }) : undefined;
  const tokens =
    settings.jwt === undefined
      ? undefined
      : await (await import("./jwt/tokens.ts")).Tokens.open({ settings: settings.jwt, now, elapsed, warn });
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    if (token.startsWith(keyMark) && ring !== undefined) return ring.principalOf(token);
    const known = tokens?.known(token);
    if (known !== undefined) return known;
    requireTokenShape(token);
    if (token.startsWith(keyMark) || tokens === undefined) {
      throw invalidToken("The service does not accept this kind of credential.");
    }
    return tokens.principalOf(token);
  };
}

/** Throws StartError where a source of credentials cannot be read that must be there when a service starts. */
export async function requireSources({ jwt }: AuthSettings): Promise<void> {
  if (jwt === undefined || jwt.jwks.kind === "url") return;
  const { Tokens } = await import("./jwt/tokens.ts");
  await Tokens.open({ settings: jwt, now: Date.now, elapsed: () => 0, warn: () => {} });
}
