/** JSON values through the interface and the store: examples of what `test/json/any-value.test.ts` tests of many. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { jsonAttributes as attributes } from "../json/any-value.ts";
import { jsonType, type Service, startService } from "./service.ts";

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

const path = "/api/v1/values";
const headers = { "Content-Type": jsonType };

async function create(body: string): Promise<{ id: string; attributes: unknown; text: string }> {
  const answer = await service.send({ method: "POST", path, headers, body });
  assert.equal(answer.status, 201, answer.text);
  const { id, ...rest } = answer.json as { id: string };
  return { id, attributes: rest, text: answer.text };
}

describe("any JSON value", () => {
  test("comes back equal from create, read, list, replace and patch", async () => {
    await fc.assert(
      fc.asyncProperty(attributes, attributes, async (first, second) => {
        const sent = JSON.stringify(first);
        const created = await create(sent);
        assert.deepStrictEqual(created.attributes, JSON.parse(sent));
        const at = `${path}/${created.id}`;
        assert.equal((await service.send({ path: at })).text, created.text);

        const next = JSON.stringify(second);
        const body = next === "{}" ? `{"id":"${created.id}"}` : `{"id":"${created.id}",${next.slice(1)}`;
        const replaced = await service.send({ method: "PUT", path: at, headers, body });
        assert.equal(replaced.status, 200, replaced.text);
        const { id, ...rest } = replaced.json as { id: string };
        assert.equal(id, created.id);
        assert.deepStrictEqual(rest, JSON.parse(next));

        const patch = `[{"op":"add","path":"/patched","value":${sent}},{"op":"test","path":"/patched","value":${sent}}]`;
        const patched = await service.send({
          method: "PATCH",
          path: at,
          headers: { "Content-Type": "application/json-patch+json" },
          body: patch,
        });
        assert.equal(patched.status, 200, patched.text);
        assert.deepStrictEqual((patched.json as { patched: unknown }).patched, JSON.parse(sent));
      }),
      { numRuns: 20 },
    );
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  test("sent twice is no change", async () => {
    await fc.assert(
      fc.asyncProperty(attributes, async (sent) => {
        const created = await create(JSON.stringify(sent));
        const put = { method: "PUT", path: `${path}/${created.id}`, headers };
        const again = await service.send({ ...put, body: created.text });
        assert.equal(again.status, 200);
        assert.equal(again.headers.etag, '"1"');
        assert.equal(again.text, created.text);
      }),
      { numRuns: 20 },
    );
  });

  test("keeps the order of its members, integer-like names first", async () => {
    const created = await create('{"b":1,"10":2,"a":3,"2":4,"__proto__":5,"":6}');
    assert.deepEqual(Object.keys(created.attributes as object), ["2", "10", "b", "a", "__proto__", ""]);
  });
});

describe("any bytes", () => {
  test("as content are kept or refused, and never fail the service", async () => {
    const seeds = [
      '{"a":1}',
      '{"a":[1,{"b":"\\u00e9"}],"c":null}',
      '{"a":"😀","b":1e10}',
      '{"id":"x","n":-0.5}',
    ];
    const mutation = fc.tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(mutation, async ([seed, edits]) => {
        const bytes = Buffer.from(seed);
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
        const answer = await service.send({ method: "POST", path, headers, body: bytes });
        assert.ok(answer.status === 201 || answer.status === 400, `${answer.status} ${answer.text}`);
        if (answer.status === 400) return;
        const { id, ...kept } = answer.json as { id: string };
        // Minus zero is kept as zero.
        const withoutMinusZero = (_: string, value: unknown) => (value === 0 ? 0 : value);
        const { id: _, ...sent } = JSON.parse(bytes.toString("utf8"), withoutMinusZero) as { id?: unknown };
        assert.match(id, /^[0-9a-f-]{36}$/);
        assert.deepEqual(kept, sent);
      }),
      { numRuns: 50 },
    );
  });
});
