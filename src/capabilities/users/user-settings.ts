/** What a configuration says about users (`auth.users`). */
import type { AuditSettings } from "./audit.ts";
import type { MailSettings } from "./mail/mail-settings.ts";

/**
 * How somebody can get an account. Administrators can always invite people. `invited` says that these can be strangers, so every
 * collection needs rules. With `domains`, only addresses of these domains can sign up without an invitation.
 */
export type SignUp =
  | "closed"
  | "invited"
  | "open"
  | {
      readonly domains: readonly string[];
      /** The roles of a new account. */
      readonly roles: readonly string[];
    };

/** What a sign-in can prove: a password, a code that was sent to the address, a passkey, or an identity at a provider. */
export type SignInMethod = "password" | "email" | "passkey" | "providers";

/** A service where people have signed in already, such as Google. */
export interface Provider {
  /** Its name in paths. */
  readonly name: string;
  /** What people see. */
  readonly label: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Whether an address that it calls verified counts as proven. */
  readonly trustEmail: boolean;
  /** The addresses of a provider with GitHub's own protocol. @default it speaks OpenID Connect */
  readonly github?: { readonly authorize: string; readonly token: string; readonly api: string };
}

/** Who must have a second factor: nobody, everybody, or users with one of these roles. `off`: nobody can have one. */
export type SecondFactor = "off" | "optional" | "required" | { readonly roles: readonly string[] };

/** How long a session lives, in milliseconds. */
export interface SessionTimes {
  /** Without a request. */
  readonly idle: number;
  /** In all. */
  readonly absolute: number;
}

/** The checked option `auth.users`. */
export interface UserSettings {
  /** The declared collection of the profiles. */
  readonly collection: string;
  /** The attributes of the profile that show the proven address and the roles. @default none */
  readonly mirror: Readonly<Partial<Record<"email" | "roles", string>>>;
  /** @default "closed" */
  readonly signUp: SignUp;
  /** @default password and email, and providers if there are any */
  readonly methods: readonly SignInMethod[];
  /** @default "optional" */
  readonly secondFactor: SecondFactor;
  /** The times of sessions, and those of sessions of administrators. */
  readonly sessions: SessionTimes & { readonly administrators: SessionTimes };
  readonly password: {
    /** Texts that a password cannot be made of, in addition to those that the service knows. @default none */
    readonly words: readonly string[];
    /** Whether the service asks a list of known passwords on the network (Have I Been Pwned). @default false */
    readonly breached: boolean;
  };
  /** The roles that administrators can give to accounts over HTTP. @default those of `auth.keyRoles` */
  readonly roles: readonly string[] | undefined;
  /** The origins of other sites of the same owner, whose pages can use the cookie and can be returned to. @default none */
  readonly origins: readonly string[];
  /** @default none */
  readonly providers: readonly Provider[];
  /** How long the audit keeps its entries. @default 365 days, and 1 GB */
  readonly audit: AuditSettings;
}

/** Everything that a configuration says about people who sign in: `auth.users`, mail, and the secrets for both. */
export interface PeopleSettings extends UserSettings {
  /** How the service sends mail; `undefined` without a mail server. */
  readonly mail: MailSettings | undefined;
  /** Whether the service is local, and keeps its mails because it has no mail server. */
  readonly keepsMails: boolean;
  /** Whether the mails that it keeps go to its log. Otherwise each one is a file. */
  readonly logsMails: boolean;
  /** The secrets of the providers, by name. */
  readonly providerSecrets: Readonly<Record<string, string>>;
}

/** The most bytes of the claims of an account, as JSON. */
export const maxClaimBytes = 2_048;

/** The longest life of a key of a user, in milliseconds. */
export const maxKeyMs = 366 * 24 * 3_600_000;
