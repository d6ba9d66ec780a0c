/**
 * The requirements of OWASP ASVS 5.0 of which the page `docs/explanation/asvs.md` says how a service with users meets them, and which
 * it does not. A test compares the page with this table.
 */
import type { Config } from "../config.ts";

/** Those that every service with users meets. A local service does not meet those in `onlyEncrypted`. */
export const promised =
  "2.3.1 3.3.1 3.3.2 3.3.3 3.3.4 3.4.2 3.4.3 3.4.4 3.4.5 3.4.6 3.5.1 3.5.2 3.5.3 3.7.2 6.1.1 6.1.2 6.1.3 6.2.1 6.2.2 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.2.9 6.2.10 6.2.11 6.3.1 6.3.2 6.3.4 6.3.7 6.3.8 6.4.1 6.4.2 6.4.3 6.4.6 6.5.1 6.5.2 6.5.3 6.5.4 6.5.6 6.5.8 6.6.3 6.8.1 6.8.2 7.1.2 7.1.3 7.2.1 7.2.2 7.2.3 7.2.4 7.3.1 7.3.2 7.4.1 7.4.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2 7.6.1 7.6.2 8.2.1 8.2.2 8.2.3 8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 9.2.3 10.1.1 10.1.2 10.2.1 10.2.2 10.3.1 10.3.2 10.3.3 10.5.1 10.5.2 10.5.3 10.5.4 11.1.2 11.2.1 11.4.2 14.2.1 16.2.1 16.2.2 16.2.3 16.2.4 16.2.5 16.4.1 16.5.1 16.5.2 16.5.3".split(
    " ",
  );

/** A local service, which has no encryption, does not meet these. */
export const onlyEncrypted: readonly string[] = ["3.3.1", "3.3.3"];

/** A requirement that depends on the configuration. */
interface Configured {
  /** What it asks for. */
  asks: string;
  /** The option that meets it. */
  option: string;
  isMet(config: Config): boolean;
}

/** Those that some configurations meet. */
export const configured: Readonly<Record<string, Configured>> = {
  "2.4.1": {
    asks: "limits for every function",
    option: "limits.rate",
    isMet: ({ http }) => http.rate !== undefined,
  },
  "3.4.1": {
    asks: "HSTS with subdomains",
    option: "hsts: { includeSubDomains: true }",
    isMet: ({ http }) => http.hstsIncludesSubDomains,
  },
  "6.2.12": {
    asks: "no breached passwords",
    option: "auth.users.password.breached",
    isMet: ({ users }) => users?.password.breached === true,
  },
  "6.3.3": {
    asks: "a second factor for all users",
    option: 'auth.users.secondFactor: "required"',
    isMet: ({ users }) => users?.secondFactor === "required",
  },
  "9.2.2": {
    asks: "tokens of the right type",
    option: "auth.jwt.onlyAccessTokens: true",
    isMet: ({ tokens }) => tokens === undefined || tokens.onlyAccessTokens === true,
  },
};

/** Those that you meet, and what they ask for. */
export const yours: Readonly<Record<string, string>> = {
  "6.4.4": "proof of identity if a factor is lost",
};

/** Those that Holdfast does in another way on purpose, and what they ask for. */
export const deviations: Readonly<Record<string, string>> = {
  "6.2.3": "the present password for a new one",
  "6.5.5": "a code of an app for at most 30 seconds",
  "6.6.2": "a code only for its own request",
  "7.1.1": "session times of NIST, or a reason",
  "11.4.1": "no SHA-1",
  "11.5.1": "128 random bits in every secret",
};

/** Those that are not promised, and what they ask for. */
export const notPromised: Readonly<Record<string, string>> = {
  "6.3.5": "a notice of suspicious sign-ins",
  "11.1.1": "keys managed by a standard",
  "11.3.1, 11.3.2, 11.3.3": "only approved and authenticated encryption",
  "11.6.1": "only approved signatures",
  "14.3.1": "pages forget after a session",
  "14.3.2": "no-store for sensitive data",
  "14.3.3": "nothing sensitive in the storage of browsers",
  "16.3.1": "every sign-in is recorded",
  "16.3.2": "refused requests are recorded",
  "16.3.3": "attempts to bypass controls are recorded",
};

/** Those that are about something that Holdfast does not have. */
export const notApplicable: readonly string[] = "6.6.1 6.8.3 6.8.4 9.2.4 10.3.4 10.4 10.5.5 10.6 10.7".split(
  " ",
);

/** What a configuration with users meets, and what not, in lines. */
export function asvsLines(config: Config): string[] {
  const missing = config.isLocal ? onlyEncrypted : [];
  const all = (what: string, rows: Readonly<Record<string, string>>) =>
    Object.entries(rows).map(([numbers, asks]) => `${what}: ${numbers}, ${asks}`);
  return [
    `met: ${promised.filter((number) => !missing.includes(number)).join(", ")}`,
    ...Object.entries(configured).map(([number, { asks, option, isMet }]) =>
      isMet(config)
        ? `met by this configuration: ${number}, ${asks}`
        : `not met by this configuration: ${number}, ${asks} (${option})`,
    ),
    ...missing.map((number) => `not met by a local service: ${number}, cookies for encrypted connections`),
    ...all("met if you do it", yours),
    ...all("done in another way", deviations),
    ...all("not promised", notPromised),
    `not applicable: ${notApplicable.join(", ")}`,
  ];
}
