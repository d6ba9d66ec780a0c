/** What this room itself counts: the durations of requests. */
import { Histogram } from "../counters.ts";
import { methodName } from "../http/protocol/message.ts";
import type { RequestMeter } from "../http/service.ts";
import type { Labelled } from "./metrics-source.ts";

/** From a read that is in memory to a request that waits for its turn as long as `limits.handlerTimeoutMs` allows. */
const requestSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The most combinations of method, route and status. A service with few hundred collections has fewer. Further ones are counted
 * with the route `other`.
 */
const maxCombinations = 5_000;

/** The labels of requests for paths that do not exist, and of requests that were refused before their path was known. */
const unknownRoute = "unknown";
const otherRoute = "other";

/** The durations of requests. On the path of a request, it looks up one histogram, and makes no object. */
export class RequestDurations implements RequestMeter {
  readonly #byRoute = new Map<string, Map<string, Map<number, Histogram>>>();
  readonly #all: Labelled[] = [];
  #counts: Parameters<RequestMeter["watch"]>[0] | undefined;

  note(
    { method }: { method: string },
    { template = unknownRoute, status }: { template?: string; status: number },
    seconds: number,
  ): void {
    const known = methodName(method);
    const histogram =
      this.#byRoute.get(template)?.get(known)?.get(status) ?? this.#add(template, known, status);
    histogram.observe(seconds);
  }

  watch(counts: Parameters<RequestMeter["watch"]>[0]): void {
    this.#counts = counts;
  }

  /** The requests in progress in all threads, and the memory that they hold. */
  get inProgress(): { requests: number; held: number } {
    return { requests: this.#counts?.requests.all ?? 0, held: this.#counts?.held.all ?? 0 };
  }

  /** All durations. */
  get all(): readonly Labelled[] {
    return this.#all;
  }

  #add(route: string, method: string, status: number): Histogram {
    if (this.#all.length >= maxCombinations && route !== otherRoute) {
      const other = this.#byRoute.get(otherRoute)?.get(method)?.get(status);
      return other ?? this.#add(otherRoute, method, status);
    }
    const byMethod = this.#byRoute.get(route) ?? new Map<string, Map<number, Histogram>>();
    const byStatus = byMethod.get(method) ?? new Map<number, Histogram>();
    const histogram = new Histogram(requestSeconds);
    this.#byRoute.set(route, byMethod.set(method, byStatus.set(status, histogram)));
    this.#all.push({ labels: { method, route, status: String(status) }, histogram });
    return histogram;
  }
}
