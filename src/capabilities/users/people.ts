/** Opens sign-in: what it needs of the store, the configuration and the main thread. */

import { isLive } from "../../access/api-key.ts";
import type { Core } from "../../capability.ts";
import type { Collection } from "../../collection/collection.ts";
import { completeProposal } from "../../collection/write-hooks.ts";
import { viewFor } from "../../http/caller/permission.ts";
import type { JoinedCommit, Participant } from "../../http/participant.ts";
import type { Callers, Data } from "../../http/service.ts";
import { decide, proposeNew } from "../../http/writes/decide.ts";
import { hooksForMany } from "../../http/writes/hooks.ts";
import { isInMemory } from "../../store/address.ts";
import type { Change } from "../../store/port/commit.ts";
import { Audit } from "./audit.ts";
import type { Profiles } from "./flows.ts";
import { GuessLimits } from "./guess-limits.ts";
import { HourlyWork } from "./hourly.ts";
import { MailFolder } from "./mail/local-mail.ts";
import { type KeptMail, MailQueue } from "./mail/mail-queue.ts";
import { usualMailsPerHour } from "./mail/mail-settings.ts";
import { metricsOf, PeopleCounts } from "./metrics.ts";
import { Mirror } from "./mirror.ts";
import type { OpenUsers } from "./open-users.ts";
import { createPasswordHasher, hashMethods, joinPasswordHasher } from "./password-hash.ts";
import { sweepSessions } from "./sessions.ts";
import { UserRecords } from "./user-records.ts";
import type { PeopleSettings, UserSettings } from "./user-settings.ts";
import { Users } from "./users.ts";

/** What a program or test can replace. */
export interface ReplacedParts {
  /** Called with each mail that a local service keeps instead of sending it. */
  onLocalMail?: (mail: KeptMail) => void;
}

/** Opens the people. Nothing works before `prepare`. */
export function openUsers(
  { service, store, address, vault, callers, isLocal, clock, showOnTerminal, isMetered, call }: Core,
  settings: PeopleSettings,
  replaced: ReplacedParts,
): OpenUsers {
  const { newUuid, now, elapsed, log, readOnly, hasStarted: isReady } = service;
  const { info, pagesBelow = "", prefix } = service.settings;
  const warn = (text: string) => log.warn(text);
  const meter = isMetered ? new PeopleCounts() : undefined;
  const records = new UserRecords(store, settings.collection);
  const passwords =
    call === undefined
      ? createPasswordHasher({ onHash: (seconds) => meter?.onHash(seconds), isHere: isInMemory(address) })
      : joinPasswordHasher(call);
  const hasFiles = !isInMemory(address);
  const folder = settings.keepsMails && !settings.logsMails && hasFiles ? new MailFolder(address) : undefined;
  const mail = new MailQueue({
    records,
    vault: { seal: (...of) => vault().seal(...of), open: (...of) => vault().open(...of) },
    settings: settings.mail,
    title: info.title,
    isLocal,
    clock,
    random: Math.random,
    newUuid,
    warn,
    onCommit: (listener) => store.onCommit(listener),
    isReady,
    folder,
    onLocalMail: (kept, file) => {
      if (file !== undefined) log.info(`mail: a mail is in ${file}`);
      else log.info(`mail to ${kept.to}: ${kept.subject}\n\n${kept.text.trim()}\n`);
      if (!settings.logsMails)
        showOnTerminal(`\n  mail to ${kept.to}: ${kept.subject}\n\n${indented(kept.text)}\n`);
      replaced.onLocalMail?.(kept);
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
    administrators: callers.administrators,
    grantable: settings.roles ?? callers.keyRoles,
    readOnly,
    title: info.title,
    publicUrl: () => service.publicUrl ?? "",
    pagesUrl: () => `${service.publicUrl ?? ""}${pagesBelow}`,
    isLocal,
    identity: () => service.tags.store(),
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
    mailsPerHour: settings.mail?.perHour ?? usualMailsPerHour,
    profiles: profilesOf(service, settings),
    mirror: new Mirror({ store, records }, settings, () => profileCollection(service, settings)),
    hasKey: async (subject) =>
      callers.takesKeys &&
      (await store.keys.all()).some((key) => key.subject === subject && isLive(key, now())),
    providerSecrets: settings.providerSecrets,
    prefix,
    warn,
    newUuid,
    now,
    elapsed,
  });
  const keptMails =
    call === undefined ? async () => mail.kept() : () => call("keptMails") as Promise<readonly KeptMail[]>;
  const participant: Participant = {
    isTaken: (id) => records.isOfAccount(id),
    // A restored profile comes back without what its account had, because the account is gone.
    revive: (text) => users.mirror.textWith(text, undefined),
    mirrored: users.mirror.mirrored,
    overEarlier: (changes) => users.mirror.overEarlier(changes),
  };
  return {
    people: { users, mail, passwords, ...(settings.keepsMails && { keptMails }) },
    openAuthenticator: async () => users.authenticator,
    participants: new Map([[settings.collection, participant]]),
    joinCommit: (commit) => withAccounts(users, commit, service),
    aboutKeys: {
      isOfUser: (subject) => records.isOfAccount(subject),
      note: (kind, prefix, { request, principal }) =>
        audit.record({ kind, item: prefix }, { ...users.visitor(request), actor: principal?.subject }),
    },
    metrics:
      meter && metricsOf({ counts: meter, passwords, mail, sessions: () => records.count("_sessions"), now }),
    methods: () => ({ ...hashMethods(passwords), keptMails: async () => mail.kept() }),
    inTests: {
      mail: async () => {
        await mail.sent();
        return mail.kept().toReversed();
      },
    },
    firstLink: async () => users.administration.inviteFirst(),
    ...(folder && !readOnly && { announced: { mail: `each mail is a file in ${folder.path}` } }),
    prepare: async () => {
      if (!readOnly) await records.prepare();
    },
    start: ({ works }) => {
      if (!works) return;
      mail.start();
      hourly.start();
    },
    stop: async () => {
      await mail.stop();
      await folder?.close();
      await hourly.stop();
      await passwords.close();
    },
  };
}

function indented(text: string): string {
  return text.trim().replaceAll(/^/gm, "    ");
}

/**
 * The changes, and what has to come with them if profiles of people are deleted: their accounts go in the same commit. Throws
 * LAST_ADMINISTRATOR, and CONFIRMATION_REQUIRED for the own profile.
 */
async function withAccounts(
  users: Users,
  { changes: planned, revives, principal, request }: JoinedCommit,
  { collections }: Data,
): Promise<readonly Change[]> {
  const changes = revives ? await users.mirror.overEarlier(planned) : planned;
  if (changes.every(({ next }) => next !== undefined)) return changes;
  const { subject: actor, session } = principal ?? {};
  const isOwn = ({ key, next }: Change) =>
    next === undefined && key.collection === users.settings.collection && key.id === actor;
  if (session !== undefined && changes.some(isOwn)) users.own.requireConfirmed(session);
  const source = { ...users.visitor(request), actor };
  const cascadesOf = (name: string) =>
    (collections().get(name)?.references ?? []).filter(({ onDelete }) => onDelete === "cascade");
  return [...changes, ...(await users.administration.changesForDeletes(changes, source, cascadesOf))];
}

function profileCollection({ collections }: Data, { collection: name }: UserSettings): Collection {
  const declared = collections().get(name);
  if (declared === undefined) throw new Error("The collection of the profiles is declared.");
  return declared;
}

/** Judges the profile of a sign-up as a create by the new user, who has no role yet. */
function profilesOf(service: Data & Callers, settings: UserSettings): Profiles {
  return {
    textOf: async (profile, id, at) => {
      const declared = profileCollection(service, settings);
      const principal = { subject: id, roles: [], claims: {}, scopes: undefined };
      const view = viewFor(service, declared, { principal });
      const hooks = hooksForMany(service, view, { id, caller: { principal, quota: undefined }, now: at });
      const created = { operation: "create", id, previous: undefined } as const;
      const proposed = proposeNew(view, { ...profile }, { at, subject: id });
      const next = decide(await completeProposal(proposed, created, hooks))(id);
      await hooks?.hooks.validate?.({ ...hooks.write, ...created }, next);
      return next;
    },
  };
}
