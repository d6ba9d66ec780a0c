/** Faults of metrics and traces. */
import type { Fault } from "../faults.ts";

export const observationFaults: readonly Fault[] = [
  {
    name: "metrics-for-all",
    what: "Callers who do not administer the service can read its metrics.",
    noticedBy: "test/http/metrics",
    test: "at /metrics, administrators read them, and for others the path does not exist",
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
    test: "what is refused before there is a request is counted too, and once",
    replacements: [['methods.has(method) ? method : "_OTHER"', "method"]],
  },
  {
    name: "names-make-series",
    what: "Each name of a collection that a client sends has series of its own.",
    noticedBy: "test/http/metrics",
    test: "requests are counted by the templates of the OpenAPI document",
    replacements: [["isKnown ? { collection: name, relation } : {}", "{ collection: name, relation }"]],
  },
  {
    name: "ranges-not-added",
    what: "A bucket of a histogram has only the values of its range.",
    noticedBy: "test/http/metrics",
    test: "a scrape has every metric of the table with its labels, and no others",
    replacements: [["count += each;", "count = each;"]],
  },
  {
    name: "lag-never-ends",
    what: "An event stream that has sent everything still counts as behind.",
    noticedBy: "test/http/metrics",
    test: "event streams are counted, and one that is up to date has no lag",
    replacements: [["if (next.isEnd) lags?.noteEnd(subscriber);", ""]],
  },
  {
    name: "listener-for-other-hosts",
    what: "A web page can read the metrics of this machine by DNS rebinding.",
    noticedBy: "test/http/metrics",
    test: "the listener answers GET and HEAD at /metrics, for loopback names",
    replacements: [["host !== undefined && isOwnHost(host)", "host !== undefined"]],
  },
  {
    name: "spans-with-values",
    what: "The span of a request has the values of its parameters, which can be secret.",
    noticedBy: "test/http/traces",
    test: "the span of a request has nothing secret, and names errors of the service only",
    replacements: [['"url.query": withoutValues(query)', '"url.query": withoutValues(query) && query']],
  },
  {
    name: "receivers-in-spans",
    what: "The span of a delivery has the whole URL of the receiver, which can contain a secret.",
    noticedBy: "test/http/traces",
    test: "the delivery of a webhook links to the request that made the change, and continues its own trace",
    replacements: [['"url.full": ', '"url.full": url ?? ']],
  },
  {
    name: "no-link",
    what: "The delivery of a webhook has no link to the request that made the change.",
    noticedBy: "test/http/traces",
    test: "one trace goes from the client through the service into the store",
    replacements: [["origins.note({ collection, sequence }, origin.spanContext());", ""]],
  },
  {
    name: "trace-starts-again",
    what: "The span of a request does not continue the trace of the client.",
    noticedBy: "test/http/traces",
    test: "the span of a request has nothing secret, and names errors of the service only",
    replacements: [["isInside ? around : propagation.extract(around, request.headers)", "around"]],
  },
  {
    name: "no-flush",
    what: "The last spans are lost when the service stops.",
    noticedBy: "test/traces/program",
    test: "the file of the guide makes traces, and the last spans are sent at the stop",
    replacements: [["async () => tracing?.flush(),", ""]],
  },
];
