/** The metrics of the people who sign in. */
import { Histogram } from "../../counters.ts";
import {
  ageSeconds,
  type Family,
  histogramSamples,
  labelled,
  type MetricsSource,
  plain,
  type Samples,
} from "../../observe/metrics-source.ts";
import type { UserMeter } from "./flows.ts";
import type { MailQueue } from "./mail/mail-queue.ts";
import type { PasswordHasher } from "./password-hash.ts";

/** Every metric, by name. */
export const families = {
  holdfast_sign_ins_total: {
    type: "counter",
    across: "sum",
    labels: ["method", "result"],
    help: "Sessions that began (done), wrong proofs (failed) and proofs that a limit refused (refused), by method",
  },
  holdfast_sessions: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "Sessions in the store, with those that have expired and were not removed yet",
  },
  holdfast_password_hash_seconds: {
    type: "histogram",
    across: "sum",
    labels: [],
    help: "The time of the hash of a password, in its own thread",
  },
  holdfast_password_waiting: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "Passwords that are being checked, or wait for it",
  },
  holdfast_password_unasked_total: {
    type: "counter",
    across: "sum",
    labels: [],
    help: "New passwords that were taken although the list of stolen passwords could not be asked",
  },
  holdfast_guess_limits_total: {
    type: "counter",
    across: "sum",
    labels: ["policy"],
    help: "Refusals by a limit of guesses or mails",
  },
  holdfast_mail: {
    type: "gauge",
    across: "first",
    labels: ["state"],
    help: "Mails by state: waiting in the store; and since the start sent, failed (tried again) or lost (given up)",
  },
  holdfast_mail_oldest_age_seconds: {
    type: "gauge",
    across: "first",
    labels: [],
    help: "The age of the oldest mail that waits; 0 without one",
  },
} as const satisfies Record<string, Family>;

/** A hash takes about 30 milliseconds. Its thread can wait for the processor. */
const hashSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** What people do. The labels have only names of the program. */
export class PeopleCounts implements UserMeter {
  readonly hashes = new Histogram(hashSeconds);
  readonly refusals = new Map<string, number>();
  /** By method, and then by result. */
  readonly signIns = new Map(
    ["password", "email"].map((method) => [method, { done: 0, failed: 0, refused: 0 }]),
  );

  onSignIn(method: string, result: "done" | "failed" | "refused"): void {
    const counts = this.signIns.get(method) ?? { done: 0, failed: 0, refused: 0 };
    counts[result]++;
    this.signIns.set(method, counts);
  }

  onRefused(policy: string): void {
    this.refusals.set(policy, (this.refusals.get(policy) ?? 0) + 1);
  }

  /** The new passwords that were taken although the list of stolen ones could not be asked. */
  unasked = 0;

  onUnasked(): void {
    this.unasked++;
  }

  onHash(seconds: number): void {
    this.hashes.observe(seconds);
  }
}

/** What the metrics need of people. */
interface MeteredPeople {
  counts: PeopleCounts;
  passwords: Pick<PasswordHasher, "waiting">;
  mail: Pick<MailQueue, "counts" | "state">;
  /** How many sessions the store has. */
  sessions: () => Promise<number>;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** What a monitor reads of people. */
export function metricsOf({ counts, passwords, mail, sessions, now }: MeteredPeople): MetricsSource {
  return {
    name: "users",
    families,
    counted: () => {
      const { signIns, hashes, refusals, unasked } = counts;
      return {
        holdfast_sign_ins_total: [...signIns].flatMap(([method, results]) =>
          labelled("result", results).map(({ labels, value }) => ({ labels: { method, ...labels }, value })),
        ),
        holdfast_password_hash_seconds: histogramSamples("holdfast_password_hash_seconds")({
          labels: {},
          histogram: hashes,
        }),
        holdfast_password_waiting: [plain(passwords.waiting)],
        holdfast_password_unasked_total: [plain(unasked)],
        holdfast_guess_limits_total: labelled("policy", Object.fromEntries(refusals)),
        holdfast_mail: labelled("state", mail.counts),
      };
    },
    stored: async () => {
      const { waiting, oldestAt } = await mail.state();
      const count = await sessions();
      return (): Samples => ({
        holdfast_sessions: [plain(count)],
        holdfast_mail: labelled("state", { waiting, ...mail.counts }),
        holdfast_mail_oldest_age_seconds: [plain(ageSeconds(oldestAt, now()))],
      });
    },
  };
}
