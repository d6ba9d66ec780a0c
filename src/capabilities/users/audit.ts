/**
 * The audit: what people and administrators did with accounts, and what was refused. An entry is written in the commit of what it
 * records. What has no commit of its own, such as a wrong password, is counted in one entry for each minute, so that nobody can
 * fill the store with it. No entry has a secret, or a text that a stranger has sent.
 */
import type { Clock } from "../../clock.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { readIndexes } from "../../collection/indexes.ts";
import { allOf, type Filter } from "../../query/filter.ts";
import { isIn, isOvertaken, put, Records, remove, type Versioned } from "../../records.ts";
import { createKeyedQueue } from "../../store/core/keyed-queue.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ServingStore } from "../../store/port/store.ts";

/** The internal collection of the entries. */
export const auditName = "_audit";

/** What an entry can record. The page `docs/reference/users.md` says what each kind means. */
export type AuditKind =
  | "signUp"
  | "signIn"
  | "confirmation"
  | "secondFactor"
  | "signOut"
  | "refusal"
  | "password"
  | "email"
  | "emailAsked"
  | "factorAdded"
  | "factorRemoved"
  | "recoveryCodes"
  | "identityLinked"
  | "identityRemoved"
  | "programKey"
  | "invitation"
  | "invitationWithdrawn"
  | "accountChanged"
  | "accountDeleted"
  | "accountReset"
  | "factorsReset"
  | "apiKeyCreated"
  | "apiKeyRotated"
  | "apiKeyRevoked";

/** What is recorded. */
export interface Recorded {
  kind: AuditKind;
  /** @default "done" */
  result?: "done" | "failed" | "refused" | undefined;
  /** The id of the account that the entry is about. */
  subject?: string | undefined;
  /** How it was proven, such as `password`. */
  method?: string | undefined;
  /** The limit that refused it. */
  policy?: string | undefined;
  /** The id of the invitation, session, key or factor that it is about. */
  item?: string | undefined;
  /** A checked address that it is about: of an invitation, or of an account. */
  email?: string | undefined;
  /** What a change of roles, claims or state replaced, and what it made. */
  before?: object | undefined;
  after?: object | undefined;
}

/** Where it comes from. A `Visitor` is one. */
export interface AuditSource {
  /** Who did it, if not the user: the subject of an administrator, or `command`. */
  actor?: string | undefined;
  shownNetwork?: string | undefined;
  agent?: string | undefined;
  /** The id of the request. */
  request?: string | undefined;
}

/** An entry in the store. Times are Unix times in milliseconds. */
export interface AuditEntry extends Omit<Recorded, "result">, Pick<AuditSource, "actor" | "request"> {
  id: string;
  at: number;
  result: NonNullable<Recorded["result"]>;
  network?: string | undefined;
  /** The start of the header `User-Agent`. */
  agent?: string | undefined;
  /** How often it happened in its minute, and when for the last time; only for what is counted. */
  count?: number | undefined;
  lastAt?: number | undefined;
  /** The length of the other members as JSON, for `keepBytes`. */
  bytes: number;
}

/** How long entries are kept. The oldest go first. */
export interface AuditSettings {
  readonly keepDays: number;
  readonly keepBytes: number;
}

/** What an audit depends on. */
export interface AuditParts {
  /** The records with the collection `_audit` among them. */
  records: Records;
  settings: AuditSettings;
  /** Makes a text of which nobody without the key can find out what it was made of. */
  mac: (text: string) => string;
  newUuid: () => string;
  clock: Pick<Clock, "now">;
}

/** What a list of entries can ask for. Times are Unix times in milliseconds: from `from` on, and before `to`. */
export interface AuditQuery {
  kind?: string | undefined;
  subject?: string | undefined;
  actor?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** Only entries after this one. */
  after?: Pick<AuditEntry, "at" | "id"> | undefined;
  limit: number;
}

/** The internal collection. */
export const auditCollection: Collection = {
  ...openCollection(auditName),
  indexes: readIndexes(
    [["-at"], ["kind", "-at"], ["subject", "-at"], ["actor", "-at"], ["email", "-at"]],
    "indexes",
  ),
};

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The entries that are removed in one commit. */
const atOnce = 500;

/** An entry is never longer, because claims and the header `User-Agent` have limits. */
const mostBytes = 16_384;

/** The most characters of `User-Agent` that are kept. */
const maxAgent = 200;

/** The audit of one service. */
export class Audit {
  readonly #parts: AuditParts;
  /** The counts that wait for their turn, by the id of the entry. */
  readonly #waiting = new Map<string, { count: number; written: Promise<void> }>();
  readonly #queue = createKeyedQueue();

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** The change that writes an entry, for the commit of what it records. */
  entry(recorded: Recorded, source: AuditSource): Change {
    const { newUuid, clock } = this.#parts;
    const entry = entryOf(newUuid(), clock.now(), { recorded, source });
    return put(auditName, entry.id, undefined, entry);
  }

  /** Writes an entry for what has no commit of the store's own, such as a new API key. */
  async record(recorded: Recorded, source: AuditSource): Promise<void> {
    const { records, clock } = this.#parts;
    await records.commit([this.entry(recorded, source)], clock.now());
  }

  /**
   * Counts something that has no commit of its own: all of a minute that is about the same has one entry. `about` is what it is
   * about, such as an address; the store gets only its MAC. Throws what `untilCommitted` throws.
   */
  async count(recorded: Recorded, source: AuditSource, about: string): Promise<void> {
    const { records, mac, clock } = this.#parts;
    const minute = clock.now() - (clock.now() % minuteMs);
    const { kind, method, result, policy } = recorded;
    const id = idOf(minute, mac(JSON.stringify([kind, method, result, policy, about])));
    // Those that come while others are written are written together.
    const joined = this.#waiting.get(id);
    if (joined !== undefined) {
      joined.count++;
      return joined.written;
    }
    const group = { count: 1, written: Promise.resolve() };
    this.#waiting.set(id, group);
    const leave = () => {
      if (this.#waiting.get(id) === group) this.#waiting.delete(id);
    };
    const write = () => {
      leave(); // what comes from now on is written next
      return records.untilCommitted(async () => {
        const now = clock.now();
        const found = await records.read<AuditEntry>(auditName, id);
        const entry = found?.value ?? { ...entryOf(id, now, { recorded, source }), count: 0 };
        const counted = { ...entry, count: (entry.count ?? 0) + group.count, lastAt: now };
        return { changes: [put(auditName, id, found?.version, counted)], result: undefined };
      }, clock.now);
    };
    // The queue can refuse the write before its turn.
    group.written = this.#queue.run(id, write).finally(leave);
    return group.written;
  }

  /** A page of entries, the latest first. */
  async list({ kind, subject, actor, from, to, after, limit }: AuditQuery): Promise<{
    entries: AuditEntry[];
    more: boolean;
  }> {
    const equal = Object.entries({ kind, subject, actor });
    const filters: Filter[] = equal.flatMap(([name, value]) =>
      value === undefined ? [] : [isIn(name, value)],
    );
    if (from !== undefined) filters.push({ kind: "gte", path: ["at"], values: [from] });
    if (to !== undefined) filters.push({ kind: "lt", path: ["at"], values: [to] });
    const { records, more } = await this.#parts.records.list<AuditEntry>({
      collection: auditName,
      filter: allOf(filters),
      sort: [{ path: ["at"], descending: true }],
      limit,
      ...(after && { after: [after.at, after.id] }),
    });
    return { entries: records.map(({ value }) => value), more };
  }

  /** Removes the entries that are too old, and the oldest of those that are too many, in bounded steps. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const { records, settings, clock } = this.#parts;
    let excess = (await this.#bytes()) - settings.keepBytes;
    while (signal?.aborted !== true) {
      const oldestAt = clock.now() - settings.keepDays * dayMs;
      // The ids have the order of the times.
      const page = await records.list<AuditEntry>({ collection: auditName, limit: atOnce });
      const removed = page.records.filter(({ value: { at, bytes } }) => {
        const isRemoved = at < oldestAt || excess > 0;
        if (isRemoved) excess -= bytes;
        return isRemoved;
      });
      await this.#remove(removed);
      if (removed.length < atOnce) return;
    }
  }

  async #remove(entries: readonly Versioned<AuditEntry>[]): Promise<void> {
    const { records, clock } = this.#parts;
    const changes = entries.map(({ value, version }) => remove(auditName, value.id, version));
    await records.commit(changes, clock.now()).catch((error: unknown) => {
      if (!isOvertaken(error)) throw error; // another instance removes them
    });
  }

  /** How long all entries are; 0 if they cannot be too long. */
  async #bytes(): Promise<number> {
    const { records, settings } = this.#parts;
    if ((await records.count(auditName)) * mostBytes <= settings.keepBytes) return 0;
    return records.sum(auditName, "bytes");
  }
}

function entryOf(
  id: string,
  at: number,
  { recorded, source }: { recorded: Recorded; source: AuditSource },
): AuditEntry {
  const { result = "done", ...others } = recorded;
  const { actor, shownNetwork: network, agent, request } = source;
  const entry = { at, ...others, result, actor, network, agent: agent?.slice(0, maxAgent), request };
  return { id, ...entry, bytes: Buffer.byteLength(JSON.stringify(entry)) };
}

/** An id that a minute and a MAC always have, in the order of time among the other ids: as a UUIDv7. */
function idOf(minute: number, mac: string): string {
  const time = minute.toString(16).padStart(12, "0");
  const rest = Buffer.from(mac, "base64url").toString("hex").padEnd(18, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}

/**
 * Removes the addresses, the networks and the browsers from what the audit keeps about a user. The other parts of the entries stay.
 * `email` is the address of the account, if it still has one. Returns how many entries have changed.
 */
export async function eraseFromAudit(
  store: ServingStore,
  { user, email, at }: { user: string; email: string | undefined; at: number },
): Promise<number> {
  const records = new Records(store, []);
  const changed = new Set<string>();
  const emails = new Set(email === undefined ? [] : [email]);
  const isPersonal = allOf([
    isAny(personal.map((name) => exists(name))),
    isAny(involved.map((name) => isIn(name, user))),
  ]);
  const eraseAll = async (filter: Filter) => {
    for (;;) {
      const query = { collection: auditName, filter, limit: atOnce };
      const page = await records.list<AuditEntry>(query);
      const changes = page.records.map(({ value: { email, network: _, agent: __, ...kept }, version }) => {
        if (email !== undefined && kept.subject === user) emails.add(email);
        changed.add(kept.id);
        return put(auditName, kept.id, version, kept);
      });
      await records.commit(changes, at);
      if (!page.more) return;
    }
  };
  await eraseAll(isPersonal);
  for (const each of emails) await eraseAll(isIn("email", each));
  return changed.size;
}

const personal = ["email", "network", "agent"];
const involved = ["subject", "actor"];

function exists(name: string): Filter {
  return { kind: "exists", path: [name], value: true };
}

function isAny(filters: readonly Filter[]): Filter {
  return { kind: "or", filters };
}
