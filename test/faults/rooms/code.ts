/** Faults in what all kinds of code share: threads, spans, the overview. */
import type { Fault } from "../faults.ts";

export const codeFaults: readonly Fault[] = [
  {
    name: "code-pool-one-thread",
    what: "All calls go to the first of several threads of code.",
    noticedBy: "test/capabilities/code/code-threads",
    test: "with two threads, a call runs while another one keeps its thread busy",
    replacements: [
      ["(each.running < best.running ? each : best)", "(each.running < best.running ? best : best)"],
    ],
  },
  {
    name: "code-file-not-compared",
    what: "The file of code.file need not have the functions of the configuration.",
    noticedBy: "test/capabilities/code/code-file",
    test: "a file without one of the functions, or with an async hook, is a fault",
    replacements: [
      [
        "const missing = placesOf(declared).find((place) => !has(place));",
        "const missing = placesOf(declared).slice(0, 0).find((place) => !has(place));",
      ],
    ],
  },
  {
    name: "code-spans-without-bound",
    what: "A request can have any number of spans of hooks.",
    noticedBy: "test/capabilities/code/code-spans",
    test: "a request has at most 100 spans of hooks",
    replacements: [["if (count > maxOfRequest) return runner.call(place, input);", ""]],
  },
  {
    name: "code-overview-of-one-thread",
    what: "The overview has only the calls of the main thread.",
    noticedBy: "test/capabilities/code/overview",
    test: "the calls of all threads count",
    replacements: [
      ["const reports = [this.#own.report(), ...this.#reports];", "const reports = [this.#own.report()];"],
    ],
  },
  {
    name: "code-stops-after-routes",
    what: "Jobs and consumers begin to stop only when the routes have ended.",
    noticedBy: "test/capabilities/code/route-stop",
    test: "jobs and consumers begin to stop when routes do",
    replacements: [['core.stopping.addEventListener("abort", () => void stopWork().catch(() => {}));', ""]],
  },
  {
    name: "code-early-end-without-limit",
    what: "A run whose instance has lost the lease goes on until its usual time is over.",
    noticedBy: "test/capabilities/code/job-lease",
    test: "a run whose instance loses the lease is over when its call is, although its function goes on",
    replacements: [["else if (!this.#isAborted) this.#end(why);", "else this.#abortOnce(why);"]],
  },
  {
    name: "code-lease-as-if-kept",
    what: "An instance that stood still takes a run over from the next holder of the lease at once.",
    noticedBy: "test/capabilities/code/job-lease",
    test: "an instance that did not notice that another one had the lease leaves its run alone at first",
    replacements: [
      [
        "if (holder !== this.#holder) this.#heldSince = clock.now();",
        "if (this.#heldSince === 0) this.#heldSince = clock.now();",
      ],
    ],
  },
];
