/** The part of the ETag of a list that identifies the configuration. A changed configuration must change the ETag. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { startServer } from "../../src/server.ts";
import { makeFolder } from "../folder.ts";

const text = { type: "string" };
const original = {
  collections: { things: { schema: { type: "object", properties: { name: text } } }, others: {} },
};

/** The ETags of a list of one store under one configuration after the other. */
async function entityTags(configurations: readonly object[]): Promise<string[]> {
  const cwd = makeFolder();
  const tags: string[] = [];
  for (const configuration of configurations) {
    await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify({ drainDelayMs: 0, ...configuration }));
    const config = await loadConfig({ flags: { port: "0" }, env: {}, cwd });
    const { origin, stop } = await startServer(config);
    const answer = await fetch(`${origin}${config.http.prefix}/things`);
    tags.push(String(answer.headers.get("etag")));
    await stop();
  }
  return tags;
}

const withSchema = (schema: object) => ({ collections: { ...original.collections, things: { schema } } });

const changes: [what: string, changed: object][] = [
  ["a tighter attribute", withSchema({ type: "object", properties: { name: { ...text, maxLength: 9 } } })],
  ["one more attribute", withSchema({ type: "object", properties: { name: text, more: text } })],
  ["no schema any more", { collections: { things: {}, others: {} } }],
  ["other attributes to search", { collections: { ...original.collections, others: { search: ["name"] } } }],
  ["another largest page", { ...original, limits: { page: 10 } }],
  ["another prefix", { ...original, prefix: "/v2" }],
];

const others: [what: string, changed: object][] = [
  ["nothing", original],
  ["an index", { collections: { ...original.collections, others: { indexes: ["name"] } } }],
  ["the log", { ...original, log: "requests" }],
  ["time-outs", { ...original, limits: { requestTimeoutMs: 1_000 } }],
  ["the origins that may call", { ...original, cors: { origins: ["*"] } }],
];

describe("the ETag of a list", () => {
  for (const [what, changed] of changes) {
    test(`is another one after ${what}, and the same again when that is taken back`, async () => {
      const [before, after, again] = await entityTags([original, changed, original]);
      assert.match(String(before), /^W\/"[^"]+"$/);
      assert.notEqual(after, before);
      assert.equal(again, before);
    });
  }

  for (const [what, changed] of others) {
    test(`stays after a change of ${what}`, async () => {
      const [before, after] = await entityTags([original, changed]);
      assert.match(String(before), /^W\/"[^"]+"$/);
      assert.equal(after, before);
    });
  }
});
