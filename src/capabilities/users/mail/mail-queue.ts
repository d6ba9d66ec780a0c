/**
 * Mails that wait. A mail is queued in the commit that needs it, with its content encrypted, and is removed once it is sent. Any
 * instance on the store can send it: an attempt first claims the mail for a short time, so only one instance sends it. After a kill
 * between the sending and its record, the mail comes again with the same Message-ID.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../clock.ts";
import { type Collection, openCollection } from "../../../collection/collection.ts";
import { readIndexes } from "../../../collection/indexes.ts";
import { Problem } from "../../../errors.ts";
import { isOvertaken, put, type Records, remove, type Versioned } from "../../../records.ts";
import type { Change } from "../../../store/port/commit.ts";
import { isMailAddress } from "../mail-address.ts";
import { type MailFolder, mostKept } from "./local-mail.ts";
import { type MailSettings, type MailValues, requirePassword, type TemplateName } from "./mail-settings.ts";
import { renderMail } from "./mail-templates.ts";
import { type OutgoingMail, type SendMail, type SmtpResult, smtpSender } from "./smtp.ts";

/** The name of the internal collection with the mails that wait. */
export const mailName = "_mail";

/** The internal collection. The mails to a user are deleted with the profile in this collection. */
export function mailCollection(profiles: string): Collection {
  return {
    ...openCollection(mailName),
    indexes: readIndexes(["nextAt"], "indexes"),
    references: [{ path: ["user"], collection: profiles, onDelete: "cascade" }],
  };
}

/** A mail that somebody needs. */
export interface MailToSend {
  /**
   * `undefined`: nobody gets it. It takes the same work to queue as any other, so that no answer tells whether an address gets a
   * mail.
   */
  template: TemplateName | undefined;
  /** The address that is stored. */
  to: string;
  /** Without `minutes`, the mail says how long it is to `expiresAt` when it is sent. */
  values: MailValues;
  /** No attempt starts after this: Unix time in milliseconds. */
  expiresAt: number;
  /** The user whose deletion removes it. */
  user?: string;
}

/** A mail that a local service without `mail` keeps instead of sending it. */
export interface KeptMail {
  /** When it was queued: Unix time in milliseconds. */
  at: number;
  to: string;
  subject: string;
  text: string;
}

/** Encrypts and decrypts what the store keeps. */
export interface MailVault {
  seal(purpose: string, place: string, text: string): string;
  /** Throws an Error if that is not possible. */
  open(purpose: string, place: string, sealed: string): string;
}

/** What a mail queue depends on. */
export interface MailParts {
  /** The records with the collection `_mail` among them. */
  records: Records;
  vault: MailVault;
  settings: MailSettings | undefined;
  /** The title of the service. */
  title: string;
  /** Whether the service is for this machine only. */
  isLocal: boolean;
  clock: Clock;
  /** From 0 to 1. */
  random: () => number;
  newUuid: () => string;
  warn: (message: string) => void;
  /** Calls back after commits, of all instances. @default mails of other instances and threads are found within seconds */
  onCommit?: (listener: (collections: readonly string[]) => void) => () => void;
  /** Whether the store can be used. @default it always can */
  isReady?: () => boolean;
  /** Where a local service without a mail server writes its mails. @default it keeps them in memory only */
  folder?: MailFolder | undefined;
  /** Called with each mail that is kept instead of sent, and its file. @default nothing happens */
  onLocalMail?: (mail: KeptMail, file: string | undefined) => void;
}

/** What the store has of a mail. */
interface MailRecord {
  id: string;
  /** Unix times in milliseconds. */
  queuedAt: number;
  expiresAt: number;
  /** The next attempt; during an attempt, when another one may follow although its end is not known. */
  nextAt: number;
  attempts: number;
  user?: string;
  /** The rest of the mail, encrypted. */
  sealed: string;
}

type Content = Pick<MailToSend, "template" | "to" | "values">;

/** How an attempt ended; `undefined` if the service stopped before. */
type Outcome = SmtpResult | { kind: "nobody" } | undefined;

/** The most mails that wait. */
const mostWaiting = 10_000;

/** The most mails that an instance sends at the same time. */
const mostAtOnce = 5;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The time of an attempt that is due on every instance, also if their clocks do not agree. */
const atOnce = 0;

/** The longest attempt, and how long a mail is claimed for one. The difference is for clocks that do not agree. */
const attemptMs = 45_000;
const claimMs = 90_000;

/** The waits after failed attempts, in milliseconds. The last one repeats until the mail has expired or is a day old. */
const waits = [10_000, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs];
const longestMs = 24 * hourMs;

/** A wait is up to this part longer or shorter, so that failed mails do not come back all at once. */
const jitter = 0.2;

/** How often to look for mails of which no commit told, in milliseconds. */
const lookMs = 5_000;

/** Warnings come at most this often, in milliseconds. */
const quietMs = minuteMs;

/** The mails of one service. */
export class MailQueue {
  readonly #parts: MailParts;
  readonly #deliver: SendMail;
  readonly #kept: KeptMail[] = [];
  readonly #sending = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #loop: Promise<void> | undefined;
  #quietUntil = 0;
  #unsaid = 0;
  /** What this instance did since it started. `failed`: attempts that are repeated; `lost`: given up or expired. */
  readonly counts = { sent: 0, failed: 0, lost: 0 };

  /** Throws StartError if the password of the mail server is missing, or belongs to nobody. */
  constructor(parts: MailParts) {
    this.#parts = parts;
    if (parts.settings !== undefined) requirePassword(parts.settings);
    this.#deliver = parts.settings === undefined ? (mail) => this.#keep(mail) : smtpSender(parts.settings);
  }

  /** Whether mails reach somebody: the service has a mail server, or is local and keeps them. */
  get canSend(): boolean {
    return this.#parts.settings !== undefined || this.#parts.isLocal;
  }

  /**
   * The change that queues a mail, for the commit of what it is about. Throws UNAVAILABLE if the service sends no mail, or if
   * 10,000 wait. Calls at the same time can exceed that by their number.
   */
  async changeFor({ template, to, values, expiresAt, user }: MailToSend, now: number): Promise<Change> {
    if (!isMailAddress(to)) throw new Error("A mail needs one plain address.");
    const { records, vault, newUuid } = this.#parts;
    if (!this.canSend)
      throw new Problem("UNAVAILABLE", "The service cannot send mail, because it has no mail server.");
    if ((await records.count(mailName)) >= mostWaiting)
      throw new Problem("UNAVAILABLE", "Too many mails wait to be sent. Try again later.");
    const id = newUuid();
    const content: Content = { template, to, values };
    const record: MailRecord = {
      id,
      queuedAt: now,
      expiresAt,
      nextAt: atOnce,
      attempts: 0,
      ...(user !== undefined && { user }),
      sealed: vault.seal("mail", placeOf(id), JSON.stringify(content)),
    };
    return put(mailName, id, undefined, record);
  }

  /** Looks for mails to send now. Call this after a commit with a mail. */
  wake(): void {
    this.#wake.abort();
  }

  /** Starts to send. Only one thread of a service does. */
  start(): void {
    if (this.canSend) this.#loop ??= this.#run();
  }

  /** Ends all attempts. What was not sent is sent after the next start, or by another instance. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#loop;
    await Promise.all(this.#sending.values());
  }

  /** Resolves when no mail waits, or when the queue stops. */
  async sent(): Promise<void> {
    while ((await this.state()).waiting > 0 && !this.#stopping.signal.aborted) await delay(1);
  }

  /** The last mails that were kept instead of sent, the latest first. Only the thread that was started has them. */
  kept(): readonly KeptMail[] {
    return this.#kept.toReversed();
  }

  /** How many mails wait, and when the oldest of them was queued. All instances on a store find the same. */
  async state(): Promise<{ waiting: number; oldestAt: number | undefined }> {
    const { records } = this.#parts;
    const waiting = await records.count(mailName);
    // The ids are UUIDv7: the first one is the oldest.
    const oldest = await records.list<MailRecord>({ collection: mailName, limit: 1 });
    return { waiting, oldestAt: oldest.records[0]?.value.queuedAt };
  }

  async #run(): Promise<void> {
    const { clock, onCommit } = this.#parts;
    const leave = onCommit?.((names) => {
      if (names.includes(mailName)) this.wake();
    });
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      const next = await this.#startDue();
      if (this.#stopping.signal.aborted) break;
      await clock.until(next, this.#wake.signal);
    }
    leave?.();
  }

  /** Starts the mails that are due, as many as there is space for. Returns when to look again. The end of an attempt wakes too. */
  async #startDue(): Promise<number> {
    const { clock, records, isReady = () => true } = this.#parts;
    const now = clock.now();
    const later = now + lookMs;
    if (!isReady()) return later;
    try {
      const page = await records.list<MailRecord>({
        collection: mailName,
        sort: [{ path: ["nextAt"], descending: false }],
        limit: 2 * mostAtOnce,
      });
      for (const mail of page.records) {
        const { id, nextAt } = mail.value;
        if (this.#sending.has(id)) continue;
        if (nextAt > now) return Math.min(nextAt, later);
        if (this.#sending.size >= mostAtOnce) break;
        this.#start(mail);
      }
    } catch (error) {
      this.#warnOfStore(error);
    }
    return later;
  }

  #start(mail: Versioned<MailRecord>): void {
    const { id } = mail.value;
    const done = this.#send(mail)
      .catch((error: unknown) => {
        if (!isOvertaken(error)) this.#warnOfStore(error); // the mail comes again when its claim has expired
      })
      .finally(() => {
        this.#sending.delete(id);
        this.wake();
      });
    this.#sending.set(id, done);
  }

  /** Claims a mail, sends it and stores the outcome. Throws PRECONDITION_FAILED if another instance was faster, or if it was deleted. */
  async #send({ value: mail, version }: Versioned<MailRecord>): Promise<void> {
    const { clock, records } = this.#parts;
    const now = clock.now();
    if (now >= endOf(mail)) {
      await records.commit([remove(mailName, mail.id, version)], now);
      return this.#lose("a mail has expired before it could be sent");
    }
    const claimed = { ...mail, attempts: mail.attempts + 1, nextAt: now + claimMs };
    await records.commit([put(mailName, mail.id, version, claimed)], now);
    const outcome = await this.#attempt(mail);
    await this.#settle({ value: claimed, version: version + 1 }, outcome);
  }

  async #attempt(mail: MailRecord): Promise<Outcome> {
    const { vault, settings, title, clock } = this.#parts;
    let content: Content;
    try {
      content = JSON.parse(vault.open("mail", placeOf(mail.id), mail.sealed)) as Content;
    } catch (error) {
      return { kind: "refused", reason: (error as Error).message };
    }
    const { template, to, values } = content;
    if (template === undefined) return { kind: "nobody" };
    const minutes = String(Math.ceil((mail.expiresAt - clock.now()) / minuteMs));
    const rendered = renderMail(template, settings?.templates[template], { minutes, ...values, title });
    const outgoing = { ...rendered, id: mail.id, to, at: mail.queuedAt };
    const stopped = this.#stopping.signal;
    const result = await this.#deliver(outgoing, AbortSignal.any([stopped, AbortSignal.timeout(attemptMs)]));
    return result.kind === "failed" && stopped.aborted ? undefined : result;
  }

  /** Stores how an attempt ended. */
  async #settle({ value: mail, version }: Versioned<MailRecord>, outcome: Outcome): Promise<void> {
    const { clock, records } = this.#parts;
    const now = clock.now();
    const again = outcome === undefined ? atOnce : now + this.#waitAfter(mail.attempts);
    const isOver = outcome !== undefined && (outcome.kind !== "failed" || again >= endOf(mail));
    const change = isOver
      ? remove(mailName, mail.id, version)
      : put(mailName, mail.id, version, { ...mail, nextAt: again });
    await records.commit([change], now);
    if (outcome === undefined || outcome.kind === "nobody") return;
    if (outcome.kind === "sent") this.counts.sent++;
    else if (isOver) this.#lose(`a mail was not sent and is given up: ${outcome.reason}`);
    else {
      this.counts.failed++;
      this.#warn(`a mail was not sent, and will be tried again: ${outcome.reason}`);
    }
  }

  #waitAfter(attempts: number): number {
    const wait = waits[Math.min(attempts, waits.length) - 1] ?? 0;
    return Math.round(wait * (1 - jitter + 2 * jitter * this.#parts.random()));
  }

  async #keep(outgoing: OutgoingMail): Promise<SmtpResult> {
    const { folder, onLocalMail } = this.#parts;
    const { at, to, subject, text } = outgoing;
    const mail = { at, to, subject, text };
    let file: string | undefined;
    try {
      file = await folder?.write(outgoing);
    } catch (error) {
      return { kind: "failed", reason: `its file cannot be written: ${(error as Error).message}` };
    }
    this.#kept.push(mail);
    if (this.#kept.length > mostKept) this.#kept.shift();
    onLocalMail?.(mail, file);
    return { kind: "sent" };
  }

  #lose(message: string): void {
    this.counts.lost++;
    this.#warn(message);
  }

  /** The store reports its own problems. */
  #warnOfStore(error: unknown): void {
    if (!(error instanceof Problem)) this.#warn((error as Error).message);
  }

  #warn(message: string): void {
    const now = this.#parts.clock.now();
    if (now < this.#quietUntil) {
      this.#unsaid++;
      return;
    }
    const more = this.#unsaid === 0 ? "" : ` (${this.#unsaid} more since the last warning)`;
    this.#unsaid = 0;
    this.#quietUntil = now + quietMs;
    this.#parts.warn(`mail: ${message}${more}`);
  }
}

function placeOf(id: string): string {
  return `${mailName}/${id}`;
}

/** No attempt starts at or after this time. */
function endOf({ queuedAt, expiresAt }: MailRecord): number {
  return Math.min(expiresAt, queuedAt + longestMs);
}
