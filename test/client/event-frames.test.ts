/** How the typed client reads server-sent events: the HTML standard, section 9.2.6. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Frame, FrameReader } from "../../client/src/event-frames.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => new FrameReader().read(bytesOf(text));

const cases: readonly { name: string; text: string; frames: Frame[] }[] = [
  { name: "data", text: "data: a\n\n", frames: [{ id: "", data: "a" }] },
  { name: "several lines", text: "data: a\ndata\ndata:b\n\n", frames: [{ id: "", data: "a\n\nb" }] },
  { name: "one space is removed", text: "data:  a:b \n\n", frames: [{ id: "", data: " a:b " }] },
  { name: "an id alone", text: "id: 7\n\n", frames: [{ id: "7", data: undefined }] },
  {
    name: "an id stays until the next one",
    text: "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
    frames: [
      { id: "7", data: "a" },
      { id: "7", data: "b" },
      { id: "", data: "c" },
    ],
  },
  { name: "an id with NUL does not count", text: "id: a\0\ndata: a\n\n", frames: [{ id: "", data: "a" }] },
  {
    name: "all line ends",
    text: "data: a\r\rdata: b\r\n\r\ndata: c\n\n",
    frames: ["a", "b", "c"].map((data) => ({ id: "", data })),
  },
  { name: "a byte order mark", text: "\ufeffdata: a\n\n", frames: [{ id: "", data: "a" }] },
  {
    name: "comments and unknown fields",
    text: ":data: a\nevnt: b\ndata: c\n\n",
    frames: [{ id: "", data: "c" }],
  },
  { name: "an incomplete frame", text: "id: 7\ndata: a\n", frames: [] },
];

for (const { name, text, frames } of cases)
  test(`a stream is read: ${name}`, () => assert.deepEqual(read(text), frames));

test("the time to wait before the next connection is read, if it is a number", () => {
  const reader = new FrameReader();
  reader.read(bytesOf("retry: 3s\n"));
  assert.equal(reader.retryMs, undefined);
  reader.read(bytesOf("retry: 3000\n"));
  assert.equal(reader.retryMs, 3_000);
});

const lines = fc.array(
  fc.constantFrom("data: ä😀", "data", "id: 1", "id: 2", ": comment", "retry: 5", "", "", "other: x"),
);
const ends = fc.constantFrom("\n", "\r", "\r\n");

test("the parts in which a stream arrives make no difference", () => {
  const check = (lines: readonly string[], ends: readonly string[], sizes: readonly number[]): void => {
    const bytes = bytesOf(lines.map((line, n) => line + (ends[n] ?? "\n")).join(""));
    const reader = new FrameReader();
    const found: Frame[] = [];
    let at = 0;
    for (const size of [...sizes, bytes.length]) {
      found.push(...reader.read(bytes.subarray(at, at + size)));
      at += size;
    }
    assert.deepEqual(found, new FrameReader().read(bytes));
  };
  const sizes = fc.array(fc.nat(7), { maxLength: 50 });
  fc.assert(fc.property(lines, fc.array(ends), sizes, check), { numRuns: 2_000 });
});
