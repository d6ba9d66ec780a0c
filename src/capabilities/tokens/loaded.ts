/** The code of tokens, as the core loads it. */
import type { Authenticator } from "../../access/authenticate.ts";
import type { Loaded, OpenCapability } from "../../capability.ts";
import type { JwtSettings } from "./settings.ts";

/** Tokens of one issuer; without `authenticator` if the configuration names none. */
export interface OpenTokens extends OpenCapability {
  readonly authenticator?: Authenticator;
}

export const loaded: Loaded<JwtSettings | undefined, OpenTokens> = {
  // Without an issuer, the code that checks tokens is not loaded.
  open: async ({ service: { now, elapsed, log } }, settings) => {
    if (settings === undefined) return {};
    const { Tokens } = await import("./tokens.ts");
    const checked = await Tokens.open({ settings, now, elapsed, warn: (text) => log.warn(text) });
    const authenticator: Authenticator = {
      takes: () => true,
      known: (token) => checked.known(token),
      principalOf: (token) => checked.principalOf(token),
      actsAsOthers: settings.actAsUsers === true,
    };
    return { authenticator };
  },
  files: {
    at: ["auth", "jwt", "jwks"],
    require: async (settings) => {
      if (settings === undefined || settings.jwks.kind === "url") return;
      const { Tokens } = await import("./tokens.ts");
      await Tokens.open({ settings, now: Date.now, elapsed: () => 0, warn: () => {} });
    },
  },
};
