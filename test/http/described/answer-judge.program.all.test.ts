/** The judge of responses: what it accepts, and what it must not accept. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { defineCollection } from "../../../src/collection/declaration.ts";
import { openApiDocument } from "../../../src/http/describe/document.ts";
import { makeFolder } from "../../folder.ts";
import { endpointTable } from "../endpoint-table.ts";
import { plainSettings } from "../plain-settings.ts";
import { type AnswerJudge, createAnswerJudge, type SeenAnswer } from "./answer-judge.ts";
import { namesIn, neverSeen } from "./seen-answers.ts";

const id = "0190f5a0-7c3e-7b1a-9c54-000000000001";

const read: SeenAnswer = {
  method: "GET",
  target: `/api/v1/topics/${id}?fields=title`,
  status: 200,
  headers: { "content-type": "application/json; charset=utf-8", etag: '"1"', "x-request-id": "1" },
  body: `{"id":"${id}","title":"One"}`,
};

let judge: AnswerJudge;

before(async () => {
  const topics = await defineCollection("topics", {
    schema: { type: "object", properties: { title: { type: "string" } } },
  });
  const described = {
    collections: () => new Map([["topics", topics]]),
    openCollections: false,
    settings: plainSettings,
    endpoints: endpointTable,
  };
  judge = createAnswerJudge(await openApiDocument(described, "3.2"), "/api/v1");
});

function verdict(change: Partial<SeenAnswer>) {
  return judge.judge({ ...read, ...change });
}

const gone = { status: 404, headers: { "x-request-id": "1", "content-length": "0" }, body: "" };

const page = {
  ...gone,
  headers: { ...gone.headers, "content-type": "text/html; charset=utf-8" },
  body: "<html>",
};

describe("the judge of answers", () => {
  test("knows what the document tells of, by the names that every service has", () => {
    assert.deepEqual(verdict({}), { name: "GET /{collection}/{id} 200", fault: undefined });
    assert.deepEqual(verdict(gone), { name: "GET /{collection}/{id} 404", fault: undefined });
    for (const target of ["/nowhere", "/problems/none"])
      assert.deepEqual(verdict({ ...page, target }), { name: "any request 404", fault: undefined });
    assert.deepEqual(verdict({ ...page, target: "/", status: 200 }), { name: "GET / 200", fault: undefined });
    assert.equal(verdict({ ...gone, target: "/", method: "POST" }).fault, undefined);
    for (const name of [
      "GET /{collection}/{id} 200",
      "POST /_batch 422",
      "GET the prefix 200",
      "any request 431",
    ])
      assert.ok(judge.documented.includes(name), name);
    assert.ok(!judge.documented.includes("GET /{collection}/{id} 201"));
  });

  const { etag: _, ...untagged } = read.headers;
  const { headers } = read;
  const faults: [change: Partial<SeenAnswer>, fault: RegExp][] = [
    [{ status: 201 }, /^the status 201 is not foreseen$/],
    [{ method: "DELETE", status: 204, body: "" }, /^the status 204 is not foreseen$/],
    [{ headers: untagged }, /^the field ETag is not there$/],
    [{ headers: { ...headers, "x-other": "1" } }, /^the field x-other is not foreseen$/],
    [{ headers: { ...headers, "content-type": "text/html" } }, /^the media type text\/html is not foreseen$/],
    [{ body: '{"title":"One"}' }, /required/],
    [{ body: `{"id":"${id}","title":1}` }, /\/title type/],
    [{ body: `{"id":"${id}","other":1}` }, /additionalProperties/],
    [{ ...gone, body: "gone" }, /is not foreseen$/],
    [{ ...gone, target: "/nowhere", body: "gone" }, /^a 404 has no content$/],
    [{ ...page, target: "/api/v1/nowhere" }, /^content \(text\/html; charset=utf-8\) is not foreseen|^a 404/],
    [{ ...page, target: "/nowhere", method: "POST" }, /^a 404 has no content$/],
    [{ ...page, target: "/nowhere", status: 200 }, /^the status 200 is not foreseen$/],
    [{ ...page, target: "/", status: 204 }, /^the status 204 is not foreseen$/],
    [{ target: "/nowhere" }, /^the status 200 is not foreseen$/],
    [{ method: "PURGE" }, /^the status 200 is not foreseen$/],
    [{ method: "PURGE", status: 405, headers: { ...headers, allow: "GET" } }, /^Allow is GET, and /],
    [{ method: "OPTIONS", status: 204, headers: { allow: "GET, OPTIONS" }, body: "" }, /^Allow is GET, /],
    [{ method: "", target: "", status: 400, headers: untagged, body: "{}" }, /required/],
  ];
  for (const [change, fault] of faults)
    test(`does not let pass ${JSON.stringify(change)}`, () => {
      assert.match(String(verdict(change).fault), fault);
    });
});

test("what was documented and never seen is found over all files that ran", () => {
  const folder = makeFolder();
  const leave = (file: string, names: object) => writeFileSync(join(folder, file), JSON.stringify(names));
  leave("1.json", { documented: ["a", "b", "c"], seen: ["a", "x"] });
  leave("2.json", { documented: ["b", "d"], seen: ["b"] });
  assert.deepEqual(neverSeen([namesIn(folder)]), ["c", "d"]);
});

test("a file whose service gives what its document does not foresee fails, with all of its tests passing", async () => {
  const args = ["--conditions=holdfast-source", "test/run.ts", "test/http/described/unforeseen.ts"];
  const ended = await promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
  assert.equal(ended.code, 1, ended.stdout);
  assert.match(ended.stdout, /GET \/openapi\.json 200: the status 200 is not foreseen/);
  assert.doesNotMatch(ended.stdout, /livez/);
});
