/** What the flows of sign-in share: what they depend on, what they give each other, and who asks. */
import type { AdministratorRule } from "../../access/roles.ts";
import type { Problem } from "../../errors.ts";
import type { Decided, Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ServingStore } from "../../store/port/store.ts";
import type { Audit, AuditKind, AuditSource } from "./audit.ts";
import type { GuessLimits } from "./guess-limits.ts";
import type { MailQueue } from "./mail/mail-queue.ts";
import type { Mirror } from "./mirror.ts";
import type { PasswordHasher } from "./password-hash.ts";
import type { Account, Session, UserRecords } from "./user-records.ts";
import type { SignInMethod, UserSettings } from "./user-settings.ts";

/** What the flows depend on. */
export interface UserParts {
  store: ServingStore;
  records: UserRecords;
  audit: Audit;
  settings: UserSettings;
  administrators: readonly AdministratorRule[];
  /** The roles that administrators can give over HTTP. */
  grantable: readonly string[];
  readOnly: boolean;
  /** The title of the service. */
  title: string;
  /** Where people find the service: an origin. */
  publicUrl: () => string;
  /** Where people find its pages: the origin, in an application with the prefix. */
  pagesUrl: () => string;
  /** Whether only this machine reaches the service, without https. */
  isLocal: boolean;
  /** Six characters that name the store. */
  identity: () => string;
  vault: {
    seal(purpose: string, place: string, text: string): string;
    open(purpose: string, place: string, sealed: string): string;
    mac(purpose: string, text: string): string;
  };
  hasher: PasswordHasher;
  limits: GuessLimits;
  mail: Pick<MailQueue, "changeFor" | "wake">;
  /** The most mails with codes of the service in an hour. */
  mailsPerHour: number;
  profiles: Profiles;
  mirror: Mirror;
  /** Whether a valid API key acts as a subject. */
  hasKey: (subject: string) => Promise<boolean>;
  /** The secrets of the providers, by name. */
  providerSecrets: Readonly<Record<string, string>>;
  /** The path of the collections, such as `/api/v1`. */
  prefix: string;
  /** Writes a line for the operator into the log. */
  warn: (message: string) => void;
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
  /** @default nothing is counted */
  meter?: UserMeter | undefined;
}

/** What the flows give each other, and what all of them depend on. */
export interface Flows extends UserParts {
  /** What begins a session of an account whose factors are proven. */
  beginProven(account: Versioned<Account>, beginning: Beginning): Promise<Decided<SignedIn>>;
  /** The change that tells a user by mail what has changed, with a link to a place on the page for signing in. @default account */
  notice(account: Account, text: string, place?: string): Promise<Change>;
  /** Decides and commits as `Records.untilCommitted`, and sends the mails of the commit. */
  untilCommitted<T>(decide: () => Promise<Decided<T | Problem>>): Promise<T>;
}

/** Counts what people do, for the metrics. */
export interface UserMeter {
  /** A session has begun, a proof was wrong, or a limit has refused one. */
  onSignIn(method: string, result: "done" | "failed" | "refused"): void;
  /** A limit of guesses has refused something. */
  onRefused(policy: string): void;
  /** The list of stolen passwords could not be asked about a new password. */
  onUnasked(): void;
  /** A password was hashed, in this time. */
  onHash(seconds: number): void;
}

/** Judges profiles as a create by a caller without roles. */
export interface Profiles {
  /** The text of a new profile. Throws VALIDATION_FAILED, and what the hooks of its collection throw. */
  textOf(profile: Readonly<Record<string, unknown>>, id: string, at: number): Promise<string>;
}

/** Who asks, as far as a stranger can be known. */
export interface Visitor extends AuditSource {
  /** The network that limits count. */
  network: string;
  /** The part of the network that lists of sessions show. */
  shownNetwork: string;
  agent: string | undefined;
  /** Is aborted when the client has gone. Passwords that still wait are then not checked. @default never */
  gone?: AbortSignal;
}

/** What a request says about who sends it. */
export interface VisitorRequest {
  readonly id: string;
  readonly client: { readonly ip?: string | undefined };
  readonly headers: { readonly "user-agent"?: string | undefined };
}

/** A proof by a password. Programs send the `device` that their first sign-in gave them. */
export interface PasswordProof {
  email: string;
  password: string;
  device?: string | undefined;
}

/** A session with its account. */
export interface Current {
  session: Session;
  account: Account;
  /** Where the request comes from, for the audit. */
  source?: AuditSource;
}

/** A session that has begun. */
export interface SignedIn {
  session: Session;
  /** When it ends if nothing uses it any more: Unix time in milliseconds. */
  expiresAt: number;
  account: Account;
  token: string;
  /** What this device shows at its next sign-in; `undefined` if it is known already. */
  device: string | undefined;
}

/** What a new session comes with. */
export interface Beginning {
  visitor: Visitor;
  /** What the audit records. @default signIn */
  kind?: AuditKind | undefined;
  /** How it was proven. */
  method: SignInMethod | "session" | "totp" | "recoveryCode";
  /** What the device has shown. */
  device?: string | undefined;
  /** The sessions that end with it: one by its id, or all of the user. @default none */
  ends?: string | "all" | undefined;
  /** What changes in the account. */
  set?: Partial<Account>;
  /** What else is written. */
  also?: readonly Change[];
}
