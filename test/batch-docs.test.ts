/** The reference of batches: its examples are run in order against a service. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { type Service, startService } from "./http/service.ts";

const reference = readFileSync("docs/reference/batch.md", "utf8");
const blocks = [...reference.matchAll(/^```http\n(.*?)\n\n(.*?)^```$/gms)].map(
  ([, first = "", json = ""]): [string, string] => [first, json],
);
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The ids of the service by those of the reference. */
const ids = new Map<string, string>();

function withIds(text: string): string {
  return text.replace(uuid, (id) => ids.get(id) ?? id);
}

/** Pairs the ids in two texts in which they stand in the same order. */
function learnIds(shown: string, real: string): void {
  const theirs = real.match(uuid) ?? [];
  for (const [index, id] of (shown.match(uuid) ?? []).entries()) {
    if (!ids.has(id)) ids.set(id, theirs[index] ?? "");
  }
}

/** The text with the members of each object in the order of their names, so that ids can be compared in order. */
function ordered(text: string): string {
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

describe("the reference of batches", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  test("has examples, each with its answer", () => {
    assert.ok(blocks.length >= 8 && blocks.length % 2 === 0, `${blocks.length} blocks`);
  });

  for (let n = 0; n < blocks.length; n += 2) {
    const [line, json] = blocks[n] as [string, string];
    const [status, shown] = blocks[n + 1] as [string, string];
    test(`says rightly what comes of example ${n / 2 + 1}`, async () => {
      const [method = "", path = ""] = line.split(" ");
      const answer = await service.send({ method, path, content: JSON.parse(withIds(json)) });
      assert.equal(answer.status, Number(status), answer.text);
      if (answer.status === 200) learnIds(ordered(shown), ordered(answer.text));
      const expected = JSON.parse(withIds(shown)) as Record<string, unknown>;
      const given = answer.json as Record<string, unknown>;
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(given[name], value, name);
    });
  }

  test("tells every member and header of an operation", () => {
    const listed = [...reference.matchAll(/^\| `([a-z]+)` \| /gm)].map(([, name]) => name);
    assert.deepEqual(listed, ["method", "path", "headers", "body", "as"]);
  });
});
