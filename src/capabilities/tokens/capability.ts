/** Tokens: JSON Web Tokens of an issuer are credentials. */
import { resolve } from "node:path";
import { define } from "../../capability.ts";
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import { optional } from "../../option.ts";
import { jwtSettings, shownJwt } from "./jwt-option.ts";
import type { JwtSettings } from "./settings.ts";
import { standInKeys } from "./stand-in-keys.ts";

export const tokens = define({
  name: "tokens",
  options: {
    "auth.jwt": optional({
      about: "the issuer whose JSON Web Tokens to accept: `{ issuer, audience, jwks }` and more",
      show: (jwt, { cwd }) => jwt && shownJwt(withPath(jwt, cwd)),
      read: jwtSettings,
    }),
  },
  settings: (get, { cwd, has }): JwtSettings | undefined => {
    const jwt = get("auth.jwt");
    if (jwt?.actAsUsers === true && !has("auth.users")) {
      const text = "auth.jwt.actAsUsers: there are no users to act as. Remove it, or add auth.users.";
      throw new StartError([{ path: ["auth", "jwt", "actAsUsers"], text }]);
    }
    return jwt && withPath(jwt, cwd);
  },
  isCredential: (settings) => settings !== undefined,
  // Keys at a URL or in a file would have to be read. No token fits the ones in their place.
  forTests: (content) => {
    if (!isObject(content.auth) || !isObject(content.auth.jwt)) return content;
    const { jwt } = content.auth;
    if (typeof jwt.jwks !== "string") return content;
    return { ...content, auth: { ...content.auth, jwt: { ...jwt, jwks: standInKeys } } };
  },
  load: async () => (await import("./loaded.ts")).loaded,
});

function withPath(jwt: JwtSettings, cwd: string): JwtSettings {
  if (jwt.jwks.kind !== "file") return jwt;
  return { ...jwt, jwks: { kind: "file", path: resolve(cwd, jwt.jwks.path) } };
}
