/** Random JSON values, as requests and patches have them. `test/http/json-values` sends some of them to a service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyJsonPatch } from "../../src/json/json-patch.ts";
import { applyMergePatch } from "../../src/json/merge-patch.ts";
import { parseJson } from "../../src/json/parse.ts";
import { defaultJsonLimits as limits } from "../../src/json/values.ts";
import { jsonAttributes } from "./any-value.ts";

const patchLimits = { maxOperations: 10, maxBytes: 1_000_000, json: limits };

test("any JSON value is read as it is, and its members keep their order", () => {
  fc.assert(
    fc.property(jsonAttributes, (value) => {
      const text = JSON.stringify(value);
      const read = parseJson(Buffer.from(text), limits);
      assert.deepStrictEqual(read, JSON.parse(text));
      assert.equal(JSON.stringify(read), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 300 },
  );
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("a patch can add any JSON value, test it, copy it and remove it", () => {
  fc.assert(
    fc.property(jsonAttributes, jsonAttributes, (document, value) => {
      const sent = JSON.parse(JSON.stringify(document)) as object;
      const added = JSON.parse(JSON.stringify(value)) as object;
      const operations = [
        { op: "add", path: "/patched", value: added },
        { op: "copy", from: "/patched", path: "/copied" },
        { op: "test", path: "/copied", value: added },
        { op: "remove", path: "/copied" },
      ];
      const patched = applyJsonPatch(sent, operations, patchLimits) as { patched: unknown };
      assert.deepStrictEqual(patched.patched, added);
      const { patched: _, ...rest } = patched;
      const { patched: __, copied: ___, ...before } = sent as Record<string, unknown>;
      assert.deepStrictEqual(rest, before);
    }),
    { numRuns: 300 },
  );
});

test("a merge patch with any JSON value sets its members, and null removes them", () => {
  fc.assert(
    fc.property(jsonAttributes, jsonAttributes, (document, value) => {
      const sent = JSON.parse(JSON.stringify(document)) as object;
      const list = [JSON.parse(JSON.stringify(value))];
      const patched = applyMergePatch(sent, { patched: list }, limits) as { patched: unknown };
      assert.deepStrictEqual(patched.patched, list);
      const removed = applyMergePatch(patched, { patched: null }, limits);
      const { patched: _, ...before } = sent as Record<string, unknown>;
      assert.deepStrictEqual(removed, before);
    }),
    { numRuns: 300 },
  );
});
