/** What administrators see of the functions of a configuration: the calls of all threads of this instance. */
import { type CodeMeter, labelsOf, type SeenFailure, type ThreadReport } from "../code-meter.ts";

/** The functions and the last failures, as administrators see them. */
export interface ShownCode {
  functions: ShownFunction[];
  failures: ShownFailure[];
}

/** One function. All computed attributes of a collection are one. */
export interface ShownFunction {
  kind: string;
  name: string;
  calls: number;
  failures: number;
  /** The time of all calls. */
  seconds: number;
}

/** A call that has failed. */
export interface ShownFailure {
  time: string;
  kind: string;
  name: string;
  reason: string;
  message: string;
}

/** The most failures that are shown. */
const mostFailures = 100;

/** Adds what all threads of a service have counted. For the main thread. */
export class Overview {
  readonly #places: readonly string[];
  readonly #own: CodeMeter;
  readonly #reports: ThreadReport[] = [];

  /** `places`: those of all functions in the configuration. */
  constructor(places: readonly string[], own: CodeMeter) {
    this.#places = [
      ...new Set(places.map((place) => place.replace(/^(collections\.[^.]+\.computed)\..*$/, "$1"))),
    ];
    this.#own = own;
  }

  /** Returns what takes the reports of one more thread. Each report replaces the one before. */
  join(): (report: ThreadReport) => void {
    const n = this.#reports.push({ called: {}, failures: [] }) - 1;
    return (report) => {
      this.#reports[n] = report;
    };
  }

  shown(): ShownCode {
    const reports = [this.#own.report(), ...this.#reports];
    const functions = this.#places.map((place) => {
      const all = reports.flatMap(({ called }) => called[place] ?? []);
      const sum = (member: "calls" | "failures" | "seconds") =>
        all.reduce((total, each) => total + each[member], 0);
      return {
        ...labelsOf(place),
        calls: sum("calls"),
        failures: sum("failures"),
        seconds: Math.round(sum("seconds") * 1e6) / 1e6,
      };
    });
    const failures = reports.flatMap((each) => each.failures).sort((a, b) => b.at - a.at);
    return { functions, failures: failures.slice(0, mostFailures).map(shownFailure) };
  }
}

function shownFailure({ at, place, reason, message }: SeenFailure): ShownFailure {
  return { time: new Date(at).toISOString(), ...labelsOf(place), reason, message };
}

/** How often another thread reports what has changed, in milliseconds. */
const reportMs = 1_000;

/** Reports to the main thread what this thread counts. Returns what ends it. */
export function startReports(meter: CodeMeter, send: (report: ThreadReport) => void): () => void {
  let sent = 0;
  const timer = setInterval(() => {
    if (meter.changes === sent) return;
    sent = meter.changes;
    send(meter.report());
  }, reportMs).unref();
  return () => clearInterval(timer);
}
