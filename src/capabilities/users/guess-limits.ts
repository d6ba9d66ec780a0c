/**
 * Limits of guesses: how often somebody can try a password or a code, or cause a mail. The counters are stored, so they hold for
 * all threads and instances and after a restart. Their ids are MACs, so the store does not show the addresses.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { readIndexes } from "../../collection/indexes.ts";
import { Problem } from "../../errors.ts";
import { isOvertaken, put, Records, remove } from "../../records.ts";
import { createKeyedQueue } from "../../store/core/keyed-queue.ts";
import type { ServingStore } from "../../store/port/store.ts";

/** What can happen how often to one subject. */
export interface GuessPolicy {
  /** The name that the client gets in `violated-policies`, and an operator in metrics. */
  readonly name: string;
  /** All of them must have something left. A window starts with the first take after the last one has ended. */
  readonly windows: readonly GuessWindow[];
  /** Whether the limit is that of the service, not of a caller: above it, the problem is UNAVAILABLE. @default false */
  readonly isOfService?: boolean;
}

/** The most takes in a time. */
export interface GuessWindow {
  readonly most: number;
  readonly ms: number;
  /** Above `most`, one more is allowed after this time without any, in milliseconds. @default none */
  readonly thenEveryMs?: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The policies of the service. Each is for subjects of one kind. */
export const guessPolicies = {
  /** Wrong passwords for an address, from devices that it never used. */
  passwordOfAddress: {
    name: "password-address",
    windows: [
      { most: 10, ms: hour },
      { most: 30, ms: day },
    ],
  },
  /** Wrong passwords from one known device. */
  passwordOfDevice: { name: "password-device", windows: [{ most: 10, ms: hour }] },
  /** Wrong passwords from a network. */
  passwordOfNetwork: { name: "password-network", windows: [{ most: 100, ms: hour }] },
  /** Tickets for a network. */
  ticketOfNetwork: { name: "ticket-network", windows: [{ most: 60, ms: hour }] },
  /** Wrong codes of the second factor of an account, from unknown devices. */
  secondFactor: {
    name: "second-factor",
    windows: [
      { most: 10, ms: hour },
      { most: 30, ms: day },
    ],
  },
  /** Wrong codes of the second factor from one known device. */
  secondFactorOfDevice: { name: "second-factor-device", windows: [{ most: 10, ms: hour }] },
  /** Mails about wrong codes of the second factor of an account. */
  secondFactorNotice: { name: "second-factor-notice", windows: [{ most: 1, ms: day }] },
  /** Wrong passkeys from a network. */
  passkeyOfNetwork: { name: "passkey-network", windows: [{ most: 100, ms: hour }] },
  /** Mails that a network causes. */
  mailOfNetwork: { name: "mail-network", windows: [{ most: 20, ms: hour }] },
  /** Mails to an address. */
  mailToAddress: { name: "mail-address", windows: [{ most: 5, ms: hour, thenEveryMs: 10 * minute }] },
} as const satisfies Record<string, GuessPolicy>;

/** The policy for all mails of the service together (`mail.perHour`). */
export function mailOfService(perHour: number): GuessPolicy {
  return { name: "mail-service", windows: [{ most: perHour, ms: hour }], isOfService: true };
}

/** One thing to count. The subject is who or what it counts for, such as an address. */
export interface Take {
  readonly policy: GuessPolicy;
  readonly subject: string;
}

/** Takes that were counted. */
export interface Taken {
  /** Takes them back, because nothing was guessed: the password was right. */
  giveBack(): Promise<void>;
}

/** How guesses are limited. */
export interface GuessLimitsParts {
  store: ServingStore;
  /** Makes a text of which nobody without the key can find out what it was made of, such as an HMAC. */
  mac: (text: string) => string;
  /** Called with the name of the policy at each refusal. @default does nothing */
  onRefused?: (policy: string) => void;
  /** The most counters in the store. Those that expire first go first. @default 100000 */
  mostCounters?: number;
}

/** The internal collection of the counters. */
export const guessesName = "_guesses";

/** A counter: what one subject has taken. Times are Unix times in milliseconds. */
interface Counter {
  id: string;
  windows: readonly { count: number; end: number }[];
  takenAt: number;
  expiresAt: number;
}

const guesses: Collection = {
  ...openCollection(guessesName),
  indexes: readIndexes([["expiresAt"]], "indexes"),
};

/** Old counters are removed each time this process has counted so often. */
const sweepEvery = 100;

/** The most counters that are removed in one commit. */
const atOnce = 500;

/** A commit that other threads and instances overtake is tried again, so often at most. */
const tries = 100;

/** Counts guesses in one store. */
export class GuessLimits {
  readonly #parts: Required<GuessLimitsParts>;
  readonly #records: Records;
  /** The takes of one subject wait for each other here, so that only other threads and instances can overtake them. */
  readonly #queue = createKeyedQueue();
  /** The takes since the start. */
  #counted = 0;

  constructor(parts: GuessLimitsParts) {
    this.#parts = { onRefused: () => {}, mostCounters: 100_000, ...parts };
    this.#records = new Records(parts.store, [guesses]);
  }

  /**
   * Counts all takes, or none of them if one is over its limit. Call it before the work that it limits. It costs the same for
   * every subject. Throws QUOTA_EXCEEDED, or UNAVAILABLE for a limit of the service, with the time to wait; and UNAVAILABLE if too
   * many others count the same at once. A take that is listed twice counts once.
   */
  async take(takes: readonly Take[], now: number): Promise<Taken> {
    const { mac } = this.#parts;
    const policies = new Map(takes.map(({ policy, subject }) => [mac(`${policy.name}\n${subject}`), policy]));
    const taken = await this.#change([...policies.keys()], now, (found) =>
      [...policies].map(([id, policy]) => {
        const next = count(policy, { id, before: found.get(id), now });
        if ("waitMs" in next) throw this.#refusal(policy, next.waitMs);
        return next;
      }),
    );
    if (this.#counted++ % sweepEvery === 0) await this.#sweep(now);
    return { giveBack: () => this.#giveBack(taken, now) };
  }

  async #giveBack(taken: readonly Counter[], now: number): Promise<void> {
    const ids = taken.map(({ id }) => id);
    await this.#change(ids, now, (found) =>
      taken.flatMap((each) => {
        const counter = found.get(each.id);
        return counter === undefined ? [] : [without(counter, each)];
      }),
    );
  }

  /** Writes what `change` makes of the counters with these ids. Calls it again if they have changed meanwhile. */
  #change(
    ids: readonly string[],
    now: number,
    change: (found: ReadonlyMap<string, Counter>) => readonly Counter[],
  ): Promise<readonly Counter[]> {
    const attempt = async () => {
      await this.#records.prepare();
      for (let n = 0; n < tries; n++) {
        const found = await Promise.all(ids.map((id) => this.#records.read<Counter>(guessesName, id)));
        const known = new Map(found.flatMap((each) => (each === undefined ? [] : [[each.value.id, each]])));
        const changed = change(new Map([...known].map(([id, { value }]) => [id, value])));
        const changes = changed.map((each) => put(guessesName, each.id, known.get(each.id)?.version, each));
        try {
          await this.#records.commit(changes, now);
          return changed;
        } catch (error) {
          if (!isOvertaken(error)) throw error;
          await sleep(Math.random() * Math.min(n, 10)); // so that two instances do not always meet
        }
      }
      throw new Problem("UNAVAILABLE", "Too many others try the same. Try again.");
    };
    // All callers wait for subjects in the same order, so that no two wait for each other.
    const inTurn = ids.toSorted().reduceRight((next, id) => () => this.#queue.run(id, next), attempt);
    return inTurn();
  }

  #refusal({ name, isOfService }: GuessPolicy, waitMs: number): Problem {
    this.#parts.onRefused(name);
    const seconds = Math.ceil(waitMs / 1_000);
    const detail = `Try again in ${seconds} seconds.`;
    const headers = { "retry-after": String(seconds) };
    return isOfService
      ? new Problem("UNAVAILABLE", `The service has reached a limit. ${detail}`, { headers })
      : new Problem("QUOTA_EXCEEDED", `Too many tries. ${detail}`, { headers, policy: name });
  }

  /** Removes counters that are over, and those that expire first if there are too many. */
  async #sweep(now: number): Promise<void> {
    const { store, mostCounters } = this.#parts;
    // Every thread and instance can count that often until its next sweep.
    const mostLeft = mostCounters - Math.min(mostCounters / 2, 20 * sweepEvery);
    const tooMany = (await store.count(guessesName)) - mostLeft;
    const { records } = await this.#records.list<Counter>({
      collection: guessesName,
      sort: [{ path: ["expiresAt"], descending: false }],
      limit: atOnce,
    });
    const outdated = records.filter(({ value }, n) => value.expiresAt <= now || n < tooMany);
    try {
      await this.#records.commit(
        outdated.map(({ value, version }) => remove(guessesName, value.id, version)),
        now,
      );
    } catch (error) {
      if (!isOvertaken(error)) throw error; // the next sweep removes them
    }
  }
}

/** The counter with one more take; or how long to wait, in milliseconds, if it is over its limit. */
function count(
  { windows }: GuessPolicy,
  { id, before, now }: { id: string; before: Counter | undefined; now: number },
): Counter | { waitMs: number } {
  const current = windows.map(({ ms }, n) => {
    const { count, end } = before?.windows[n] ?? { count: 0, end: 0 };
    // After a clock was set back, a window is no longer than usual.
    return end > now ? { count, end: Math.min(end, now + ms) } : { count: 0, end: now + ms };
  });
  const lastAt = Math.min(before?.takenAt ?? 0, now);
  const waits = windows.map(({ most, thenEveryMs = Number.POSITIVE_INFINITY }, n) => {
    const { count, end } = current[n] as (typeof current)[number];
    return count < most ? 0 : Math.min(end, lastAt + thenEveryMs) - now;
  });
  const waitMs = Math.max(...waits);
  if (waitMs > 0) return { waitMs };
  const taken = current.map(({ count, end }) => ({ count: count + 1, end }));
  return { id, windows: taken, takenAt: now, expiresAt: Math.max(...taken.map(({ end }) => end)) };
}

/** The counter without one take, in the windows in which it was counted. */
function without(counter: Counter, taken: Counter): Counter {
  const windows = counter.windows.map(({ count, end }, n) => ({
    count: end === taken.windows[n]?.end ? Math.max(0, count - 1) : count,
    end,
  }));
  return { ...counter, windows };
}
