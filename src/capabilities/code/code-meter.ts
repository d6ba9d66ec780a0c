/** Counts the calls of functions, for the metrics and for administrators. */
import { Histogram } from "../../counters.ts";
import { type Family, histogramSamples, type MetricsSource } from "../../observe/metrics-source.ts";
import type { CodeOutcome, CodeRunner } from "./calls/code-runner.ts";
import type { Failure } from "./failure.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";

/** Every metric of code, by name. */
export const codeFamilies = {
  holdfast_code_seconds: {
    type: "histogram",
    across: "sum",
    labels: ["kind", "name"],
    help: "The time of a call of a function, by kind (before, validate, computed, route, consumer or job) and name",
  },
  holdfast_code_failures_total: {
    type: "counter",
    across: "sum",
    labels: ["kind", "name", "reason"],
    help: "Calls of functions that failed, by kind, name and reason: throw, promise, result, time, memory, exit or load",
  },
  holdfast_code_restarts_total: {
    type: "counter",
    across: "sum",
    labels: [],
    help: "Workers of code that ended before their time",
  },
} as const satisfies Record<string, Family>;

/** A call of a route takes at most a minute, and one of a job an hour. */
const seconds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];

/** What one thread has counted. */
export interface ThreadReport {
  /** By the place of the function in the configuration. */
  readonly called: Readonly<Record<string, { calls: number; failures: number; seconds: number }>>;
  /** The last ones, the latest last. */
  readonly failures: readonly SeenFailure[];
}

/** A call that has failed. `at`: Unix time in milliseconds. */
export interface SeenFailure {
  readonly at: number;
  readonly place: string;
  readonly reason: string;
  readonly message: string;
}

/** The most failures that are kept, and the longest message of one, in characters. */
const kept = { failures: 100, length: 2_000 };

interface Called {
  readonly labels: { readonly kind: string; readonly name: string };
  readonly histogram: Histogram;
  /** The number of failures, by reason. */
  readonly failures: Map<string, number>;
}

/** Counts what the functions of one thread of the service do. */
export class CodeMeter implements MetricsSource {
  readonly name = "code";
  readonly families = codeFamilies;
  readonly #called = new Map<string, Called>();
  readonly #failures: SeenFailure[] = [];
  #restarts = 0;
  /** Rises with every call. */
  changes = 0;

  /** The runner, whose calls are counted. */
  metered(runner: CodeRunner): CodeRunner {
    return {
      run: async (call) => {
        const begun = performance.now();
        const outcome = await runner.run(call);
        this.#note(call.place, begun, failureIn(outcome));
        return outcome;
      },
      stop: () => runner.stop(),
    };
  }

  /** The runner of hooks, whose calls are counted. */
  meteredHooks(runner: HookRunner): HookRunner {
    return {
      call: async (place, input) => {
        const begun = performance.now();
        const output = await runner.call(place, input);
        this.#note(place, begun, output.kind === "failed" ? output : undefined);
        return output;
      },
      ready: () => runner.ready(),
      isFailing: () => runner.isFailing(),
      stop: () => runner.stop(),
    };
  }

  /** Counts a worker that has ended before its time. */
  noteRestart(): void {
    this.#restarts++;
  }

  counted() {
    const called = [...this.#called.values()];
    return {
      holdfast_code_seconds: called.flatMap(histogramSamples("holdfast_code_seconds")),
      holdfast_code_failures_total: called.flatMap(({ labels, failures }) =>
        Array.from(failures, ([reason, value]) => ({ labels: { ...labels, reason }, value })),
      ),
      holdfast_code_restarts_total: [{ labels: {}, value: this.#restarts }],
    };
  }

  report(): ThreadReport {
    const called = [...this.#called].map(([place, { histogram, failures }]) => {
      const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);
      const counts = {
        calls: sum(histogram.counts),
        failures: sum(failures.values()),
        seconds: histogram.sum,
      };
      return [place, counts] as const;
    });
    return { called: Object.fromEntries(called), failures: [...this.#failures] };
  }

  #note(place: string, begun: number, failure: Omit<Failure, "refusal"> | undefined): void {
    const called = this.#called.get(place) ?? newCalled(place);
    this.#called.set(place, called);
    called.histogram.observe((performance.now() - begun) / 1_000);
    this.changes++;
    if (failure !== undefined) this.noteFailure(place, failure);
  }

  /** Counts a failure of a call that was counted as a success, such as a result that cannot be a response. */
  noteFailure(place: string, { reason, message }: Pick<Failure, "reason" | "message">): void {
    const called = this.#called.get(place) ?? newCalled(place);
    this.#called.set(place, called);
    this.changes++;
    called.failures.set(reason, (called.failures.get(reason) ?? 0) + 1);
    this.#failures.push({ at: Date.now(), place, reason, message: message.slice(0, kept.length) });
    if (this.#failures.length > kept.failures) this.#failures.shift();
  }
}

/** Why a call has failed. What a function or the service refuses to a caller is no failure of the function. */
function failureIn(outcome: CodeOutcome): Failure | undefined {
  if (outcome.kind === "done" || outcome.refusal !== undefined || outcome.passedOn !== undefined)
    return undefined;
  return outcome;
}

function newCalled(place: string): Called {
  return { labels: labelsOf(place), histogram: new Histogram(seconds), failures: new Map() };
}

/**
 * The kind and the name of the function at a place. `routes.checkout.run` is the route `checkout`, `collections.orders.after.mail.run` the consumer `orders/mail`, and
 * `collections.orders.hooks.before` the hook `before` of `orders`.
 */
export function labelsOf(place: string): Called["labels"] {
  const [first = "", name = "", member = "", inMember = ""] = place.split(".");
  if (first !== "collections") return { kind: first.replace(/s$/, ""), name };
  if (member === "after") return { kind: "consumer", name: `${name}/${inMember}` };
  return { kind: member === "hooks" ? inMember : member, name };
}
