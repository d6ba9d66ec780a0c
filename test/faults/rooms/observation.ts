/** Faults of metrics and traces. */
import type { Fault } from "../faults.ts";

export const observationFaults: readonly Fault[] = [
  {
    name: "metrics-for-all",
    what: "Callers who do not administer the service can read its metrics.",
    noticedBy: "test/http/metrics",
    replacements: [
      [
        'who: "administrators",\n    exists: ({ settings }) => settings.metrics,',
        'who: "everyone",\n    exists: ({ settings }) => settings.metrics,',
      ],
    ],
  },
  {
    name: "methods-make-series",
    what: "Each method that a client sends has series of its own.",
    noticedBy: "test/http/metrics",
    replacements: [['methods.has(method) ? method : "_OTHER"', "method"]],
  },
  {
    name: "names-make-series",
    what: "Each name of a collection that a client sends has series of its own.",
    noticedBy: "test/http/metrics",
    replacements: [["isKnown ? { collection: name, relation } : {}", "{ collection: name, relation }"]],
  },
  {
    name: "ranges-not-added",
    what: "A bucket of a histogram has only the values of its range.",
    noticedBy: "test/http/metrics",
    replacements: [["count += each;", "count = each;"]],
  },
  {
    name: "lag-never-ends",
    what: "An event stream that has sent everything still counts as behind.",
    noticedBy: "test/http/metrics",
    replacements: [["if (next.isEnd) lags?.noteEnd(subscriber);", ""]],
  },
  {
    name: "listener-for-other-hosts",
    what: "A web page can read the metrics of this machine by DNS rebinding.",
    noticedBy: "test/http/metrics",
    replacements: [["host !== undefined && isOwnHost(host)", "host !== undefined"]],
  },
  {
    name: "spans-with-values",
    what: "The span of a request has the values of its parameters, which can be secret.",
    noticedBy: "test/http/traces",
    replacements: [['"url.query": withoutValues(query)', '"url.query": withoutValues(query) && query']],
  },
  {
    name: "receivers-in-spans",
    what: "The span of a delivery has the whole URL of the receiver, which can contain a secret.",
    noticedBy: "test/http/traces",
    replacements: [['"url.full": ', '"url.full": url ?? ']],
  },
  {
    name: "no-link",
    what: "The delivery of a webhook has no link to the request that made the change.",
    noticedBy: "test/http/traces",
    replacements: [["origins.note({ collection, sequence }, origin.spanContext());", ""]],
  },
  {
    name: "trace-starts-again",
    what: "The span of a request does not continue the trace of the client.",
    noticedBy: "test/http/traces",
    replacements: [["isInside ? around : propagation.extract(around, request.headers)", "around"]],
  },
  {
    name: "no-flush",
    what: "The last spans are lost when the service stops.",
    noticedBy: "test/traces/program",
    replacements: [["await tracing?.flush();", ""]],
  },
];
