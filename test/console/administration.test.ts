/** The pure parts of the pages for administrators. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { figuresOf, readMetrics, sparkPath, sumOf } from "../../console/src/administration/metrics-text.ts";
import {
  expiryOf,
  FormError,
  formOf,
  inputOf,
  isThisHour,
  keysInOrder,
  optionsThatMatch,
  patchOfForm,
  readHeaders,
  shownValue,
  stateOf,
} from "../../console/src/administration/values.ts";
import { bytesText, shortId } from "../../console/src/parts/formats.ts";

const name = "holdfast_http_request_duration_seconds";
const text = (fast: number, slow: number, failed: number) => `# HELP x y
${name}_bucket{le="0.01",method="GET",route="/a",status="200"} ${fast}
${name}_bucket{le="0.1",method="GET",route="/a",status="200"} ${fast + slow}
${name}_bucket{le="+Inf",method="GET",route="/a",status="200"} ${fast + slow}
${name}_count{method="GET",route="/a",status="200"} ${fast + slow}
${name}_count{method="GET",route="/a",status="503"} ${failed}
${name}_count{method="GET",route="/metrics",status="200"} 900
holdfast_webhook_deliveries{state="dead"} 3
holdfast_webhook_deliveries{state="waiting"} 4
nodejs_eventloop_lag_mean_seconds NaN
odd{a="x\\"y\\\\n,}"} 1e3
not a line of metrics
`;

describe("metrics", () => {
  test("series are read with their labels", () => {
    const metrics = readMetrics(text(1, 0, 0));
    assert.deepEqual(metrics.get("odd"), [{ labels: { a: 'x"y\\n,}' }, value: 1_000 }]);
    assert.equal(sumOf(metrics, "holdfast_webhook_deliveries"), 7);
    assert.equal(sumOf(metrics, "missing"), undefined);
  });

  test("rates are those since the sample before, without the requests of the page itself", () => {
    const before = { time: 0, metrics: readMetrics(text(10, 0, 1)) };
    const now = { time: 5_000, metrics: readMetrics(text(28, 2, 6)) };
    const figures = figuresOf(now, before);
    assert.equal(figures.requests, 5);
    assert.equal(figures.errors, 1);
    assert.equal(figures.refused, 0);
    assert.equal(figures.slow, 100, "2 of 20 took longer than 10 ms");
    assert.equal(figures.dead, 3);
    assert.equal(figures.waiting, 4);
    assert.equal(figures.log, undefined);
    assert.equal(figures.loop, undefined);
    assert.equal(figuresOf(now, undefined).requests, undefined);
    assert.equal(figuresOf(before, { ...now, time: -5 }).requests, undefined, "after a restart");
  });

  test("bytes are in powers of 1,000", () => {
    assert.deepEqual([0, 999, 1_000, 5_260_000, 183_000_000_000].map(bytesText), [
      "0 B",
      "999 B",
      "1 kB",
      "5.3 MB",
      "183 GB",
    ]);
  });

  test("a spark line ends at the right edge, and has gaps", () => {
    const path = sparkPath([1, undefined, 2, 4], { width: 30, height: 10, most: 4 });
    assert.equal(path, "M0.0 7.0M20.0 5.0L30.0 1.0");
    assert.equal(sparkPath([0, 0], { width: 10, height: 10, most: 2 }), "M0.0 9.0L10.0 9.0");
    assert.equal(sparkPath([], { width: 10, height: 10, most: 2 }), "");
  });
});

describe("the configuration", () => {
  const options = [
    { name: "store", value: "postgres://db/main", source: "environment", from: "HOLDFAST_STORE" },
    { name: "auth.keys", value: true, source: "file" },
    { name: "tls", value: null, source: "default" },
  ] as const;
  const found = (words: string, onlySet = false) =>
    optionsThatMatch(options, { text: words, onlySet }).map((option) => option.name);

  test("a search finds names, values and sources", () => {
    assert.deepEqual(found(""), ["store", "auth.keys", "tls"]);
    assert.deepEqual(found("POSTGRES main"), ["store"]);
    assert.deepEqual(found("holdfast_"), ["store"]);
    assert.deepEqual(found("true"), ["auth.keys"]);
    assert.deepEqual(found("null"), []);
    assert.deepEqual(found("", true), ["store", "auth.keys"]);
  });

  test("a long value is JSON on several lines", () => {
    assert.equal(shownValue(""), '""');
    assert.equal(shownValue(["a"]), '["a"]');
    assert.match(shownValue(Array.from({ length: 30 }, () => "abc")), /^\[\n {2}"abc",\n/);
  });
});

describe("API keys", () => {
  test("valid keys come first, the newest of each first", () => {
    const key = (prefix: string, valid: boolean, createdAt: string) =>
      ({ prefix, valid, createdAt }) as Parameters<typeof keysInOrder>[0][number];
    const keys = [key("a", false, "2026-03"), key("b", true, "2026-01"), key("c", true, "2026-02")];
    assert.deepEqual(
      keysInOrder(keys).map(({ prefix }) => prefix),
      ["c", "b", "a"],
    );
  });

  test("the state of a key", () => {
    assert.equal(stateOf({ valid: true, revokedAt: null }), "valid");
    assert.equal(stateOf({ valid: false, revokedAt: null }), "expired");
    assert.equal(stateOf({ valid: false, revokedAt: "2026-01-01T00:00:00Z" }), "revoked");
  });

  test("an expiry on a date includes the date", () => {
    assert.equal(expiryOf("never", "", 0), null);
    assert.equal(expiryOf("30", "", 0), "1970-01-31T00:00:00.000Z");
    assert.equal(expiryOf("date", "2031-01-31", 0), "2031-02-01T00:00:00.000Z");
    assert.equal(expiryOf("date", "", 0), "", "the service says what is wrong");
  });

  test("the last use is known to the hour", () => {
    assert.equal(isThisHour("1970-01-01T00:00:00Z", 3_599_999), true);
    assert.equal(isThisHour("1970-01-01T00:00:00Z", 3_600_000), false);
  });
});

describe("webhooks", () => {
  const given = { url: "https://a.example", collections: ["topics"], filter: { status: "published" } };

  test("an unchanged form keeps the webhook", () => {
    assert.deepEqual(patchOfForm(formOf(given)), {
      url: "https://a.example",
      collections: ["topics"],
      types: ["created", "updated", "deleted"],
      filter: { status: "published" },
      fields: null,
      roles: [],
      description: null,
    });
  });

  test("a new webhook has only what was given", () => {
    assert.deepEqual(Object.keys(inputOf(formOf(given))), ["url", "collections", "types", "filter", "roles"]);
  });

  test("a filter must be a JSON object", () => {
    for (const filter of ["[]", "null", "1", "{"])
      assert.throws(() => inputOf({ ...formOf(given), filter }), FormError);
  });

  test("headers are one a line", () => {
    assert.equal(readHeaders(" \n "), undefined);
    assert.deepEqual(readHeaders("A: b:c\r\n\nX-Y:  z "), { A: "b:c", "X-Y": "z" });
    for (const line of ["A", ": b", "A:"]) assert.throws(() => readHeaders(line), FormError);
  });

  test("a long id is short", () => {
    assert.equal(shortId("etyVIO43iySqPUKpEPhOlHA", 6, 4), "etyVIO…OlHA");
    assert.equal(shortId("1"), "1");
  });
});
