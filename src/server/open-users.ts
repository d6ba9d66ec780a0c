/** Opens the people of a service: what their sign-in needs of the store, the configuration and the main thread. */

import { isLive } from "../access/api-key.ts";
import { systemClock } from "../clock.ts";
import type { Collection } from "../collection/collection.ts";
import type { Config } from "../config.ts";
import { viewFor } from "../http/caller/permission.ts";
import type { JoinCommit, JoinedCommit, Participant } from "../http/participant.ts";
import type { KeyAdministration, Service } from "../http/service.ts";
import { decide, proposeNew } from "../http/writes/decide.ts";
import type { MetricsSource } from "../observe/metrics-source.ts";
import type { Vault } from "../secrets.ts";
import type { Change } from "../store/port/commit.ts";
import type { Store } from "../store/port/store.ts";
import { Audit } from "../users/audit.ts";
import { GuessLimits } from "../users/guess-limits.ts";
import { HourlyWork } from "../users/hourly.ts";
import { MailFolder } from "../users/mail/local-mail.ts";
import { type KeptMail, MailQueue } from "../users/mail/mail-queue.ts";
import { usualMailsPerHour } from "../users/mail/mail-settings.ts";
import { Mirror } from "../users/mirror.ts";
import {
  createPasswordHasher,
  type HashMethods,
  hashMethods,
  joinPasswordHasher,
  type PasswordHasher,
} from "../users/password-hash.ts";
import { sweepSessions } from "../users/sessions.ts";
import { UserRecords } from "../users/user-records.ts";
import type { UserSettings } from "../users/user-settings.ts";
import { type Profiles, Users } from "../users/users.ts";
import { metricsOf, PeopleCounts } from "./people-metrics.ts";

/** What people need of a service that is being opened. */
export interface PeopleParts {
  store: Store;
  settings: UserSettings;
  /** The service, once it is complete. */
  service: () => Service;
  /** Encrypts for the store, once it is prepared. */
  vault: () => Vault;
  /** Six characters that name the store, once it is prepared. */
  identity: () => string;
  /** Calls the main thread; absent in the main thread. */
  call?:
    | ((method: keyof HashMethods | "keptMails", ...args: (string | undefined)[]) => Promise<unknown>)
    | undefined;
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
  warn: (message: string) => void;
  info: (message: string) => void;
  /** Called with each mail that a local service keeps instead of sending it. */
  onLocalMail?: ((mail: KeptMail) => void) | undefined;
  /** Whether a monitor can read what people do. */
  isMetered: boolean;
}

/** The people of a service. */
export interface People {
  users: Users;
  /** What takes part in the writes of their profiles. */
  participant: Participant;
  joinCommit: JoinCommit;
  /** What they add to the administration of API keys. */
  aboutKeys: Required<Pick<KeyAdministration, "isOfUser" | "note">>;
  metrics: MetricsSource | undefined;
  mail: MailQueue;
  /** The mails that the main thread has kept. Absent unless the service is local, without a mail server. */
  keptMails?: (() => Promise<readonly KeptMail[]>) | undefined;
  /** The folder of the mails of a local service without a mail server; `undefined` if its mails go elsewhere. */
  mailFolder?: string | undefined;
  /** Hashes passwords, for all threads. */
  passwords: PasswordHasher;
  /** What this thread does for the passwords of another one. */
  hashMethods: () => HashMethods;
  /** Creates the internal collections. Throws the errors of the store. */
  prepare(): Promise<void>;
  /** Starts to send mails, and to remove what is over. Only one thread of a service does. */
  start(): void;
  close(): Promise<void>;
}

/** Opens the people. Nothing works before `prepare`. */
export function openPeople(config: Config, parts: PeopleParts): People {
  const { store, settings, service, vault, newUuid, now, warn } = parts;
  const meter = parts.isMetered ? new PeopleCounts() : undefined;
  const { isLocal, readOnly } = config;
  const isReady = () => service().hasStarted();
  const clock = systemClock(now);
  const records = new UserRecords(store, settings.collection);
  const passwords =
    parts.call === undefined
      ? createPasswordHasher({ onHash: (seconds) => meter?.onHash(seconds) })
      : joinPasswordHasher(parts.call);
  const folder = config.http.keepsMails && !config.logsMails ? new MailFolder(config.store) : undefined;
  const mail = new MailQueue({
    records,
    vault: { seal: (...of) => vault().seal(...of), open: (...of) => vault().open(...of) },
    settings: config.mail,
    title: config.http.info.title,
    isLocal,
    clock,
    random: Math.random,
    newUuid,
    warn,
    onCommit: (listener) => store.onCommit(listener),
    isReady,
    folder,
    onLocalMail: (kept, file) => {
      if (file !== undefined) parts.info(`mail: a mail is in ${file}`);
      else parts.info(`mail to ${kept.to}: ${kept.subject}\n\n${kept.text.trim()}\n`);
      parts.onLocalMail?.(kept);
    },
  });
  const audit = new Audit({
    records,
    settings: settings.audit,
    mac: (text) => vault().mac("audit", text),
    newUuid,
    clock,
  });
  const hourly = new HourlyWork({
    clock,
    isReady,
    warn,
    works: {
      audit: (signal) => audit.sweep(signal),
      sessions: (signal) => sweepSessions({ records, settings, now }, signal),
    },
  });
  const users = new Users({
    store,
    records,
    audit,
    settings,
    administrators: config.auth?.administrators ?? [],
    grantable: settings.roles ?? config.keyRoles,
    readOnly,
    title: config.http.info.title,
    publicUrl: () => service().publicUrl ?? "",
    pagesUrl: () => `${service().publicUrl ?? ""}${config.http.pagesBelow ?? ""}`,
    isLocal,
    identity: parts.identity,
    vault: {
      seal: (...of) => vault().seal(...of),
      open: (...of) => vault().open(...of),
      mac: (...of) => vault().mac(...of),
    },
    hasher: passwords,
    limits: new GuessLimits({
      store,
      mac: (text) => vault().mac("guesses", text),
      onRefused: (policy) => meter?.onRefused(policy),
    }),
    meter,
    mail,
    mailsPerHour: config.mail?.perHour ?? usualMailsPerHour,
    profiles: profilesOf(service, settings),
    mirror: new Mirror({ store, records }, settings, () => profileCollection(service(), settings)),
    hasKey: async (subject) =>
      config.auth?.keys === true &&
      (await store.keys.all()).some((key) => key.subject === subject && isLive(key, now())),
    providerSecrets: config.providerSecrets,
    prefix: config.http.prefix,
    warn,
    newUuid,
    now,
    elapsed: parts.elapsed,
  });
  const { call } = parts;
  const keptMails =
    call === undefined ? async () => mail.kept() : () => call("keptMails") as Promise<readonly KeptMail[]>;
  return {
    users,
    participant: {
      isTaken: (id) => records.isOfAccount(id),
      // It comes back without what its account had, because that is gone.
      revive: (text) => users.mirror.textWith(text, undefined),
      mirrored: users.mirror.mirrored,
    },
    joinCommit: (commit) => withAccounts(users, commit, service()),
    aboutKeys: {
      isOfUser: (subject) => records.isOfAccount(subject),
      note: (kind, prefix, { request, principal }) =>
        audit.record({ kind, item: prefix }, { ...users.visitor(request), actor: principal?.subject }),
    },
    metrics:
      meter && metricsOf({ counts: meter, passwords, mail, sessions: () => records.count("_sessions"), now }),
    mail,
    ...(config.http.keepsMails && { keptMails, mailFolder: folder?.path }),
    passwords,
    hashMethods: () => hashMethods(passwords),
    prepare: async () => {
      if (!readOnly) await records.prepare();
    },
    start: () => {
      mail.start();
      hourly.start();
    },
    close: async () => {
      await mail.stop();
      await folder?.close();
      await hourly.stop();
      await passwords.close();
    },
  };
}

/**
 * The changes, and what has to come with them if profiles of people are deleted: their accounts go in the same commit. Throws
 * LAST_ADMINISTRATOR, and CONFIRMATION_REQUIRED for the own profile.
 */
async function withAccounts(
  users: Users,
  { changes: planned, revives, principal, request }: JoinedCommit,
  { collections }: Service,
): Promise<readonly Change[]> {
  const changes = revives ? await users.mirror.overEarlier(planned) : planned;
  if (changes.every(({ next }) => next !== undefined)) return changes;
  const { subject: actor, session } = principal ?? {};
  const isOwn = ({ key, next }: Change) =>
    next === undefined && key.collection === users.settings.collection && key.id === actor;
  if (session !== undefined && changes.some(isOwn)) users.own.requireConfirmed(session);
  const source = { ...users.visitor(request), actor };
  const cascadesOf = (name: string) =>
    (collections.get(name)?.references ?? []).filter(({ onDelete }) => onDelete === "cascade");
  return [...changes, ...(await users.administration.changesForDeletes(changes, source, cascadesOf))];
}

function profileCollection({ collections }: Service, { collection: name }: UserSettings): Collection {
  const declared = collections.get(name);
  if (declared === undefined) throw new Error("The collection of the profiles is declared.");
  return declared;
}

/** Judges profiles as a create by the new user, who has no role. */
function profilesOf(service: () => Service, settings: UserSettings): Profiles {
  return {
    textOf: (profile, id, at) => {
      const declared = profileCollection(service(), settings);
      const principal = { subject: id, roles: [], claims: {}, scopes: undefined };
      const view = viewFor(service(), declared, { principal });
      return decide(proposeNew(view, { ...profile }, { at, subject: id }))(id);
    },
  };
}
