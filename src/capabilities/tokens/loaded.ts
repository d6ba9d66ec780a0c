/** The code of tokens, as the core loads it. */
import type { Authenticator } from "../../access/authenticate.ts";
import type { Core, Loaded, OpenCapability } from "../../capability.ts";
import type { JwtSettings } from "./settings.ts";

/** Tokens of the configured issuer. */
export type OpenTokens = Required<Pick<OpenCapability, "openAuthenticator">>;

export const loaded: Loaded<JwtSettings | undefined, OpenTokens> = {
  open: ({ service }, settings) => ({
    openAuthenticator: async () => settings && openTokens(service, settings),
  }),
  needs: [
    {
      at: ["auth", "jwt", "jwks"],
      require: async (settings) => {
        if (settings === undefined || settings.jwks.kind === "url") return;
        const { Tokens } = await import("./tokens.ts");
        await Tokens.open({ settings, now: Date.now, elapsed: () => 0, warn: () => {} });
      },
    },
  ],
};

/** Without an issuer, the code that checks tokens is not loaded. */
async function openTokens(
  { now, elapsed, log }: Core["service"],
  settings: JwtSettings,
): Promise<Authenticator> {
  const { Tokens } = await import("./tokens.ts");
  const tokens = await Tokens.open({ settings, now, elapsed, warn: (text) => log.warn(text) });
  return {
    takes: () => true,
    known: (token) => tokens.known(token),
    principalOf: (token) => tokens.principalOf(token),
    actsAsOthers: settings.actAsUsers === true,
  };
}
