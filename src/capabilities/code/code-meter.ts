/** Counts the calls of functions, for the metrics. */
import { Histogram } from "../../counters.ts";
import { type Family, histogramSamples, type MetricsSource } from "../../observe/metrics-source.ts";
import type { CodeOutcome, CodeRunner } from "./calls/code-runner.ts";
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
  #restarts = 0;

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
        this.#note(place, begun, output.kind === "failed" ? output.reason : undefined);
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

  #note(place: string, begun: number, failure: string | undefined): void {
    const called = this.#called.get(place) ?? newCalled(place);
    this.#called.set(place, called);
    called.histogram.observe((performance.now() - begun) / 1_000);
    if (failure !== undefined) called.failures.set(failure, (called.failures.get(failure) ?? 0) + 1);
  }
}

/** Why a call has failed. What a function or the service refuses to a caller is no failure of the function. */
function failureIn(outcome: CodeOutcome): string | undefined {
  if (outcome.kind === "done" || outcome.refusal !== undefined || outcome.passedOn !== undefined)
    return undefined;
  return outcome.reason;
}

function newCalled(place: string): Called {
  return { labels: labelsOf(place), histogram: new Histogram(seconds), failures: new Map() };
}

/**
 * `routes.checkout.run` is the route `checkout`, `collections.orders.after.mail.run` the consumer `orders/mail`, and
 * `collections.orders.hooks.before` the hook `before` of `orders`.
 */
function labelsOf(place: string): Called["labels"] {
  const [first = "", name = "", member = "", inMember = ""] = place.split(".");
  if (first !== "collections") return { kind: first.replace(/s$/, ""), name };
  if (member === "after") return { kind: "consumer", name: `${name}/${inMember}` };
  return { kind: member === "hooks" ? inMember : member, name };
}
