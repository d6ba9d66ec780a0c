/** The open capability, and the types of its endpoints. */
import type { EndpointOf, OpenCapability } from "../../capability.ts";
import type { KeptMail, MailQueue } from "./mail/mail-queue.ts";
import type { PasswordHasher } from "./password-hash.ts";
import type { PeopleSettings } from "./user-settings.ts";
import type { Users } from "./users.ts";

/** The people of a service. */
export interface People {
  users: Users;
  mail: MailQueue;
  /** Hashes passwords, for all threads. */
  passwords: PasswordHasher;
  /** The mails that the main thread has kept. Absent unless the service is local, without a mail server. */
  keptMails?: (() => Promise<readonly KeptMail[]>) | undefined;
}

/** The open capability. */
export interface OpenUsers extends OpenCapability {
  /** `undefined` without `auth.users`. */
  people?: People;
}

/** A row of the table of endpoints. */
export type UsersEndpoint = EndpointOf<OpenUsers, PeopleSettings | undefined>;
