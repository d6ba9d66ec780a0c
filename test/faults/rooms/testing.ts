/** Faults of the services for tests of a configuration. */
import type { Fault } from "../faults.ts";

const consume = "test/testing/consume";
const jobs = "test/testing/jobs";

export const testingFaults: readonly Fault[] = [
  {
    name: "test-begins-by-itself",
    what: "In a test, consumers and jobs begin by themselves.",
    noticedBy: consume,
    test: "a consumer runs only when the test says so, and then handles everything",
    replacements: [["if (isForTests) return;", ""]],
  },
  {
    name: "consume-once",
    what: "The changes that consumers make wait until the next time.",
    noticedBy: consume,
    test: "consumers handle what other consumers make, with their clients",
    replacements: [["hasBegun = (await this.#handleAll(each)) || hasBegun;", "await this.#handleAll(each);"]],
  },
  {
    name: "consume-retry-at-once",
    what: "A consumer in a test never rests while a failed delivery waits for its next attempt.",
    noticedBy: consume,
    test: "a consumer that fails twice succeeds at its third attempt, when the clock has come to it",
    replacements: [
      [
        "this.#attempts.isIdle && this.#journal.retries.nextAt > this.#parts.clock.now()",
        "this.#attempts.isIdle && this.#journal.retries.nextAt === Number.POSITIVE_INFINITY",
      ],
    ],
  },
  {
    name: "event-again-at-once",
    what: "A consumer that begins anew gets a change of the same millisecond again.",
    noticedBy: consume,
    test: "a consumer that begins anew in the middle gets no change again",
    replacements: [["if (at <= this.#startedAt", "if (at < this.#startedAt"]],
  },
  {
    name: "consume-silent-failure",
    what: "What fails in a consumer does not fail the test.",
    noticedBy: consume,
    test: "one consumer fails, and the others handle everything before the test learns of it",
    replacements: [["this.#failures?.push(failure);", ""]],
  },
  {
    name: "consume-after-stop",
    what: "A stop does not abort the signals of consumers.",
    noticedBy: consume,
    test: "a stop in the middle of a consumer ends it, and everything after it",
    replacements: [["AbortSignal.any([ending, leaseLost])", "AbortSignal.any([leaseLost])"]],
  },
  {
    name: "test-time-limit",
    what: "In a test, the time limit of a call counts only the time of the machine.",
    noticedBy: consume,
    test: "a consumer that hangs has failed after its time, for which a test need not wait",
    replacements: [["const at = this.elapsed() + ms;", "const at = this.elapsed() + ms + 1e9;"]],
  },
  {
    name: "job-unplanned",
    what: "In a test, the first time of a job passes without a run.",
    noticedBy: jobs,
    test: "a job has its client, and consumers handle what it writes only when the test says so",
    replacements: [["if (isForTests) await jobs?.plan();", ""]],
  },
  {
    name: "job-beside-waiting",
    what: "A run for a test continues one that waits until it is tried again.",
    noticedBy: jobs,
    test: "a run takes the place of one that waits until it is tried again",
    replacements: [
      [
        "(_, now) => ({ ...newRun(due ?? now), from: now })",
        "(run, now) => ({ ...(run ?? newRun(due ?? now)), from: now })",
      ],
    ],
  },
  {
    name: "job-silent-failure",
    what: "What fails in a job does not fail the test.",
    noticedBy: jobs,
    test: "a job that throws fails the test, and is tried again when the clock has come to it",
    replacements: [['result === "succeeded" ? [] : [`The job', 'result !== "interrupted" ? [] : [`The job']],
  },
  {
    name: "test-hook-time",
    what: "In a test, a hook can take as long as it likes.",
    noticedBy: "test/testing/code-time",
    test: "a hook that has used the processor for too long fails its write, and one that rested does not",
    replacements: [["if (taken() <= this.#hookMs) return output;", "if (taken() >= 0) return output;"]],
  },
  {
    name: "test-hook-wall-time",
    what: "In a test, a hook fails because the machine is busy.",
    noticedBy: "test/testing/code-time",
    test: "a hook that has used the processor for too long fails its write, and one that rested does not",
    replacements: [
      ["return Math.min((user + system) / 1_000, ", "return Math.max((user + system) / 1_000, "],
    ],
  },
  {
    name: "test-clock-asleep",
    what: "What waits for the clock of a test sleeps on when the clock is moved.",
    noticedBy: "test/testing/test-clock",
    test: "a clock that stands still wakes what waits when it is moved far enough",
    replacements: [["for (const look of this.#looks) look();", ""]],
  },
];
