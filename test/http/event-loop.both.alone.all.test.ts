/**
 * A safety bound, not a benchmark: content of 1 MiB in its hardest shapes must not hold up the event loop
 * for more than 100 ms. The machine may be busy with other things, so what counts is the processor time of the
 * thread between two turns (see `probe.ts`), and a shape fails only when each of several tries took too long.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { staysResponsive } from "./probe.ts";
import { jsonType, type Made, startServiceForFile } from "./service.ts";

const size = 1_048_576;

const items = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
const schema = { type: "object", properties: { items: { type: "array", items } } };
const service = await startServiceForFile({
  collections: { topics: {}, strict: { schema } },
  probe: { standstillMs: Number.POSITIVE_INFINITY }, // each shape is measured by itself, and may try again
});
await service.create("topics", { warm: true });

/** Repeats a text between two others until the whole is as long as content may be. */
function fill(before: string, piece: string, after: string, limit = size): string {
  return (
    before +
    piece.repeat(Math.floor((limit - before.length - after.length) / Buffer.byteLength(piece))) +
    after
  );
}

/** Objects with this many members each, so that no object has too many. */
function objects(member: (n: number) => string, perObject: number): string {
  const parts: string[] = [];
  let length = 10;
  for (let n = 0; length < size - 200; ) {
    const members: string[] = [];
    for (let m = 0; m < perObject; m++) members.push(member(n++));
    parts.push(`{${members.join(",")}}`);
    length += Buffer.byteLength(parts.at(-1) ?? "") + 1;
  }
  return `{"a":[${parts.slice(0, -1).join(",")}]}`;
}

const deep = `${"[".repeat(60)}${"]".repeat(60)},`;
const shapes: [what: string, body: string][] = [
  ["one long string", fill('{"a":"', "x", '"}')],
  ["one string of escapes", fill('{"a":"', "\\u00e9", '"}')],
  ["one string of escaped pairs", fill('{"a":"', "\\ud83d\\ude00", '"}')],
  ["one string of backslashes", fill('{"a":"', "\\\\", '"}')],
  ["one string of four-byte characters", fill('{"a":"', "😀", '"}')],
  ["one long name", fill('{"', "k", '":1}')],
  ["zeros", fill('{"a":[0', ",0", "]}")],
  ["empty strings", fill('{"a":[""', ',""', "]}")],
  ["empty arrays", fill('{"a":[[]', ",[]", "]}")],
  ["empty objects", fill('{"a":[{}', ",{}", "]}")],
  ["small objects", fill('{"a":[{"b":1}', ',{"b":1}', "]}")],
  ["arrays as deep as may be", fill('{"a":[', deep, "0]}")],
  ["long fractions", fill('{"a":[0', `,0.${"1234567890".repeat(40)}`, "]}")],
  ["one number of a million digits", fill('{"a":0.', "1", "}")],
  ["one integer of a million digits", fill('{"a":', "1", "}")],
  ["exponents", fill('{"a":[0', ",1e-300", "]}")],
  ["blanks", fill("{", " ", "}")],
  ["objects of 10,000 members", objects((n) => `"m${n}":0`, 9_999)],
  ["objects of integer-like names", objects((n) => `"${n * 7_919}":0`, 9_999)],
  ["objects of names that hash alike in length", objects((n) => `"\\u0061${n}":0`, 9_999)],
  ["too many members", fill('{"a":0', ',"\\u0062":0', "}")],
  ["an unclosed array, as deep as it goes", fill('{"a":', "[", "")],
  ["an unclosed object, as deep as it goes", fill("", '{"a":', "")],
  ["an unclosed string", fill('{"a":"', "x", "")],
  ["duplicates at the very end", fill('{"a":[0', ",0", '],"b":1,"b":2}')],
  ["a lone surrogate at the very end", fill('{"a":"', "x", '\\ud800"}')],
];

async function send(method: string, path: string, body: string | Uint8Array, type = jsonType): Promise<void> {
  const answer = await service.send({ method, path, headers: { "Content-Type": type }, body });
  assert.ok(
    [200, 201, 400, 409, 413].includes(answer.status),
    `${answer.status} ${answer.text.slice(0, 200)}`,
  );
}

describe("content of 1 MiB does not hold up the service", () => {
  for (const [what, body] of shapes) {
    const bytes = Buffer.from(body);
    assert.ok(bytes.length <= size, what);
    test(`as ${what} in a create`, () => staysResponsive(() => send("POST", "/api/v1/topics", bytes)));
    test(`as ${what} in a merge patch`, async () => {
      const { path } = await service.create("topics", {});
      await staysResponsive(() => send("PATCH", path, bytes, "application/merge-patch+json"));
    });
  }

  for (const [what, item] of [
    ["items that do not fit", '{"a":"x"}'],
    ["items without what is required", "{}"],
    ["items with what nobody declared", '{"a":1,"b":1}'],
    ["items of another type", "0"],
    ["items that fit", '{"a":1}'],
  ] as const)
    test(`as ${what} of a schema`, () => {
      const bytes = Buffer.from(fill(`{"items":[${item}`, `,${item}`, "]}"));
      return staysResponsive(() => send("POST", "/api/v1/strict", bytes));
    });
});

const jsonPatch = "application/json-patch+json";

/** This number of operations, or the most that fit into a body. */
function patchOf(operation: string, n = 1_000): Buffer {
  return Buffer.from(`[${Array.from({ length: n }, () => operation).join(",")}]`);
}

describe("a JSON Patch does not hold up the service", () => {
  let large: Made;
  let wide: Made;
  let long: Made;
  before(async () => {
    large = await service.create("topics", { big: "x".repeat(500_000), small: 1 });
    long = await service.create("topics", { list: Array.from({ length: 520_000 }, () => 0) });
    wide = await service.create("topics", {
      list: Array.from({ length: 250_000 }, () => 0),
      tree: nested(8, 4),
    });
  });

  function nested(depth: number, width: number): unknown {
    return depth === 0 ? 0 : Array.from({ length: width }, () => nested(depth - 1, width));
  }

  for (const [what, made, patch] of [
    [
      "that copies a long string a thousand times",
      () => large,
      patchOf('{"op":"copy","from":"/big","path":"/other"}'),
    ],
    [
      "that copies a long array a thousand times",
      () => wide,
      patchOf('{"op":"copy","from":"/list","path":"/other"}'),
    ],
    [
      "that copies a tree a thousand times",
      () => wide,
      patchOf('{"op":"copy","from":"/tree","path":"/other"}'),
    ],
    ["that adds in front of a long array", () => wide, patchOf('{"op":"add","path":"/list/0","value":0}')],
    ["that removes from the front of a long array", () => wide, patchOf('{"op":"remove","path":"/list/0"}')],
    [
      "that adds behind the first of a long array",
      () => long,
      patchOf('{"op":"add","path":"/list/1","value":0}', 900),
    ],
    [
      "that moves through a long array",
      () => long,
      patchOf('{"op":"move","from":"/list/0","path":"/list/1"}'),
    ],
    ["that replaces small things", () => large, patchOf('{"op":"replace","path":"/small","value":2}')],
    ["of too many operations", () => large, patchOf('{"op":"test","path":"/small","value":1}', 25_000)],
    [
      "of one path as long as content",
      () => large,
      Buffer.from(fill('[{"op":"add","path":"', "/a", '","value":1}]')),
    ],
    [
      "of one path of tildes as long as content",
      () => large,
      Buffer.from(fill('[{"op":"add","path":"/', "~1", '","value":1}]')),
    ],
    [
      "that tests a long string against itself",
      () => large,
      Buffer.from(`[{"op":"test","path":"/big","value":"${"x".repeat(500_000)}"}]`),
    ],
    [
      "that tests a copy against its source, again and again",
      () => wide,
      Buffer.from(
        `[{"op":"test","path":"/list","value":[${"0,".repeat(249_999)}0]},${patchOf('{"op":"copy","from":"/list","path":"/b"}', 100).subarray(1)}`,
      ),
    ],
  ] as const)
    test(what, () => staysResponsive(() => send("PATCH", made().path, patch, jsonPatch)));

  test("that doubles the resource twenty times is refused, and leaves it as it was", async () => {
    const { path, body } = await service.create("topics", { seed: "x".repeat(100) });
    const bombs = [
      Array.from({ length: 20 }, (_, n) => ({ op: "copy", from: "", path: `/m${n}` })),
      [
        { op: "add", path: "/list", value: ["x".repeat(100)] },
        ...Array.from({ length: 20 }, () => ({ op: "copy", from: "/list", path: "/list/-" })),
      ],
      Array.from({ length: 40 }, (_, n) => ({ op: "copy", from: n === 0 ? "/seed" : "", path: `/seed${n}` })),
    ];
    for (const bomb of bombs) {
      await staysResponsive(async () => {
        const headers = { "Content-Type": jsonPatch };
        const answer = await service.send({ method: "PATCH", path, headers, content: bomb });
        assert.ok(
          answer.status === 400 || answer.status === 413,
          `${answer.status} ${answer.text.slice(0, 200)}`,
        );
      });
      const after = await service.send({ path });
      assert.equal(after.headers.etag, '"1"');
      assert.deepEqual(after.json, body);
    }
  });
});

const updateType = "application/vnd.holdfast.update+json";

describe("an update does not hold up the service", () => {
  const numbers = (from: number) => `[${Array.from({ length: 140_000 }, (_, n) => from + n).join(",")}]`;
  const small = (from: number) =>
    `[${Array.from({ length: 54_000 }, (_, n) => `{"b":${from + n},"a":0}`).join(",")}]`;
  const tree = (name: string) => `[${`{"${name}":[[0,[0]],{"z":0,"y":[0]}]},`.repeat(30_000)}0]`;
  const shapes: [what: string, resource: string, update: string][] = [
    ["that adds many numbers", `{"a":${numbers(100_000)}}`, `{"a":{"$addUnique":${numbers(300_000)}}}`],
    ["that removes many numbers", `{"a":${numbers(100_000)}}`, `{"a":{"$remove":${numbers(100_001)}}}`],
    ["that appends many numbers", '{"a":[]}', `{"a":{"$append":${numbers(100_000)}}}`],
    ["that adds many objects", `{"a":${small(100_000)}}`, `{"a":{"$addUnique":${small(300_000)}}}`],
    ["that removes many objects", `{"a":${small(100_000)}}`, `{"a":{"$remove":${small(100_001)}}}`],
    ["that removes many trees", `{"a":${tree("x")}}`, `{"a":{"$remove":${tree("y")}}}`],
    [
      "of a thousand nested attributes",
      "{}",
      `{${Array.from({ length: 1_000 }, (_, n) => `"${"a.".repeat(60)}b${n}":{"$set":0}`).join(",")}}`,
    ],
    [
      "of a thousand attributes in a wide resource",
      `{"w":{${Array.from({ length: 9_000 }, (_, n) => `"m${n}":0`).join(",")}}}`,
      `{${Array.from({ length: 1_000 }, (_, n) => `"w.m${n}":{"$increment":1}`).join(",")}}`,
    ],
    ["of too many attributes", "{}", objects((n) => `"a${n}":{"$set":0}`, 9_999).slice(6, 180_000)],
    ["of one path as long as content", "{}", fill('{"a', ".a", '":{"$set":0}}')],
  ];
  for (const [what, resource, update] of shapes)
    test(what, async () => {
      assert.ok(update.length <= size && resource.length <= size, `${update.length} ${resource.length}`);
      const answer = await service.send({
        method: "POST",
        path: "/api/v1/topics",
        headers: { "Content-Type": jsonType },
        body: resource,
      });
      const path = String(answer.headers.location);
      await staysResponsive(() => send("PATCH", path, update, updateType));
    });
});

describe("a batch does not hold up the service", () => {
  const batchOf = (operation: (n: number) => object, n = 100) =>
    Buffer.from(JSON.stringify({ operations: Array.from({ length: n }, (_, index) => operation(index)) }));

  test("of creates as large as content may be together", () => {
    const items = Array.from({ length: 1_200 }, () => ({ a: 1 }));
    const batch = batchOf(() => ({ method: "POST", path: "/strict", body: { items } }));
    assert.ok(batch.length > 900_000 && batch.length <= size, String(batch.length));
    return staysResponsive(() => send("POST", "/api/v1/_batch", batch));
  });

  test("of small patches of a large resource", async () => {
    const tree = Array.from({ length: 40_000 }, (_, n) => ({ n }));
    const { id } = await service.create("topics", { tree });
    const minimal = { Prefer: "return=minimal" };
    const batch = batchOf(
      (n) => ({ method: "PATCH", path: `/topics/${id}`, headers: minimal, body: { n } }),
      30,
    );
    await staysResponsive(() => send("POST", "/api/v1/_batch", batch));
  });

  test("of many patches of a resource that is just not large", async () => {
    const { id } = await service.create("strict", { items: Array.from({ length: 8_000 }, () => ({ a: 1 })) });
    const body = [{ op: "replace", path: "/items/0/a", value: 2 }];
    const headers = { "Content-Type": jsonPatch, Prefer: "return=minimal" };
    const batch = batchOf(() => ({ method: "PATCH", path: `/strict/${id}`, headers, body }));
    await staysResponsive(() => send("POST", "/api/v1/_batch", batch));
  });

  test("that is refused in each of its places", () => {
    const batch = batchOf((n) => ({ method: "NONE", path: `/x${"y".repeat(9_000)}`, [`m${n}`]: 1 }));
    return staysResponsive(() => send("POST", "/api/v1/_batch", batch));
  });
});
