/** Counts the calls of functions that may wait, for the metrics. */
import { Histogram } from "../../../counters.ts";
import { type Family, histogramSamples, type MetricsSource } from "../../../observe/metrics-source.ts";
import type { CodeOutcome, CodeRunner } from "./code-runner.ts";

/** Every metric of code, by name. */
export const codeFamilies = {
  holdfast_code_seconds: {
    type: "histogram",
    across: "sum",
    labels: ["kind", "name"],
    help: "The time of a call of a function, by kind (such as route) and name",
  },
  holdfast_code_failures_total: {
    type: "counter",
    across: "sum",
    labels: ["kind", "name", "reason"],
    help: "Calls of functions that failed, by kind, name and reason: throw, result, time, memory, exit or load",
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
        this.#note(call.place, (performance.now() - begun) / 1_000, outcome);
        return outcome;
      },
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

  /** What a function refuses is no failure of it. */
  #note(place: string, took: number, outcome: CodeOutcome): void {
    const called = this.#called.get(place) ?? newCalled(place);
    this.#called.set(place, called);
    called.histogram.observe(took);
    if (outcome.kind === "done" || outcome.refusal !== undefined) return;
    called.failures.set(outcome.reason, (called.failures.get(outcome.reason) ?? 0) + 1);
  }
}

/** `routes.checkout.run` is the route `checkout`, and `collections.orders.after.mail.run` the consumer `orders/mail`. */
function newCalled(place: string): Called {
  const [first = "", ...others] = place.split(".");
  const isConsumer = first === "collections";
  const [name = "", , inCollection = ""] = others;
  const labels = isConsumer
    ? { kind: "consumer", name: `${name}/${inCollection}` }
    : { kind: first.replace(/s$/, ""), name };
  return { labels, histogram: new Histogram(seconds), failures: new Map() };
}
