/** Reads the text format of Prometheus strictly. Throws at the first line that does not follow it. */
import assert from "node:assert/strict";

/** One line with a value. */
export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** The metrics of one text. */
export interface Exposition {
  /** The type of each metric. */
  types: ReadonlyMap<string, string>;
  samples: readonly Sample[];
  /** The value of the only sample with this name and these labels. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
  /** All samples with this name. */
  all(name: string): readonly Sample[];
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** Reads a text. */
export function readExposition(text: string): Exposition {
  assert.ok(text.endsWith("\n"), "the text ends with a line feed");
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const each of text.split("\n")) {
    if (each === "") continue;
    const [, comment, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(each) ?? [];
    if (comment === "HELP") {
      assert.ok(!helped.has(name), `two HELP lines of ${name}`);
      helped.add(name);
    } else if (comment === "TYPE") {
      assert.ok(!types.has(name) && helped.has(name), `TYPE of ${name} comes once, after HELP`);
      assert.match(rest, /^(?:counter|gauge|histogram|summary)$/);
      types.set(name, rest);
    } else {
      const sample = readSample(each);
      assert.ok(familyOf(sample.name, types) !== undefined, `${each}: its metric has no TYPE before it`);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      assert.ok(!seen.has(key), `${each}: the series occurs twice`);
      seen.add(key);
      samples.push(sample);
    }
  }
  requireHistograms(types, samples);
  const all = (name: string) => samples.filter((each) => each.name === name);
  return {
    types,
    samples,
    all,
    value(name, labels = {}) {
      const found = all(name).filter((each) =>
        Object.entries(labels).every(([key, value]) => each.labels[key] === value),
      );
      assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)} has ${found.length} samples`);
      return found[0]?.value ?? Number.NaN;
    },
  };
}

function readSample(text: string): Sample {
  const [, name = "", inner = "", number = ""] = line.exec(text) ?? [];
  assert.notEqual(name, "", `not a sample: ${text}`);
  assert.match(number, /^(?:[+-]?Inf|Nan|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/, text);
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < inner.length) {
    const [, key = "", value = ""] = label.exec(inner) ?? [];
    assert.ok(key !== "" && !(key in labels), `not labels: ${text}`);
    labels[key] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return { name, labels, value: number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number) };
}

/** The metric that a sample belongs to. */
export function familyOf(name: string, types: ReadonlyMap<string, string>): string | undefined {
  if (types.has(name)) return name;
  const base = name.replace(/_(?:bucket|sum|count)$/, "");
  return ["histogram", "summary"].includes(types.get(base) ?? "") ? base : undefined;
}

/** Each histogram has ascending buckets, and the last one has its count. */
function requireHistograms(types: ReadonlyMap<string, string>, samples: readonly Sample[]): void {
  for (const [name, type] of types) {
    if (type !== "histogram") continue;
    const series = Map.groupBy(
      samples.filter((sample) => sample.name.startsWith(`${name}_`)),
      ({ labels: { le: _, ...others } }) => JSON.stringify(others),
    );
    for (const [labels, own] of series) {
      const buckets = own.filter((each) => each.name === `${name}_bucket`);
      const bounds = buckets.map((each) => Number(each.labels.le?.replace("+Inf", "Infinity")));
      assert.deepEqual(
        bounds,
        [...bounds].sort((a, b) => a - b),
        `${name} ${labels}`,
      );
      assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY, `${name} ${labels}`);
      const counts = buckets.map(({ value }) => value);
      assert.deepEqual(
        counts,
        [...counts].sort((a, b) => a - b),
        `${name} ${labels}`,
      );
      assert.equal(counts.at(-1), own.find((each) => each.name === `${name}_count`)?.value);
      assert.ok(own.some((each) => each.name === `${name}_sum`));
    }
  }
}
