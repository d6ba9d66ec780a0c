import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, links } from "./check.ts";
import { jsonType, type Made, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const topics: Made[] = [];
for (let n = 0; n < 3; n++) topics.push(await service.create("topics", { n, title: `No. ${n}` }));

const list = "/api/v1/topics";
const ndjson = "application/x-ndjson; charset=utf-8";
const csv = "text/csv; charset=utf-8; header=present";

describe("Accept chooses the format of a list:", () => {
  const cases: [accept: string, type: string][] = [
    ["application/x-ndjson", ndjson],
    ["text/csv", csv],
    ["TEXT/CSV; charset=utf-8", csv],
    ["text/*", csv],
    ["text/csv, application/json;q=0.9", csv],
    ["application/json;q=0.5, application/x-ndjson;q=0.6, text/csv;q=0.1", ndjson],
    ["application/x-ndjson;q=0.5, text/csv", csv],
    ["application/x-ndjson, text/csv", ndjson],
    ["text/csv, application/json", jsonType],
    ["application/json, text/plain, */*", jsonType],
    ["text/html, */*;q=0.8", jsonType],
    ["*/*", jsonType],
    ["application/*", jsonType],
    ["text/csv;q=0, application/json;q=0.1", jsonType],
    ["text/csv;q=wrong, application/json;q=0.1", jsonType],
  ];
  for (const [accept, type] of cases)
    test(`${accept} is ${type}`, async () => {
      for (const method of ["GET", "HEAD"])
        check(await service.send({ method, path: list, headers: { Accept: accept } }), {
          status: 200,
          headers: { "Content-Type": type, Vary: /^Accept,/, "X-Total-Count": "3" },
        });
    });

  for (const accept of ["text/html", "text/csv;q=0", "application/x-ndjson;q=0, text/html", "text/*;q=0"])
    test(`${accept} is a 406`, async () => {
      check(await service.send({ path: list, headers: { Accept: accept } }), {
        status: 406,
        problem: "NOT_ACCEPTABLE",
      });
    });

  test("a resource is JSON alone", async () => {
    for (const Accept of ["text/csv", "application/x-ndjson"])
      check(await service.send({ path: topics[0]?.path ?? "", headers: { Accept } }), {
        status: 406,
        problem: "NOT_ACCEPTABLE",
      });
  });

  test("an envelope is JSON alone", async () => {
    const path = `${list}?envelope=true`;
    check(await service.send({ path, headers: { Accept: "text/csv" } }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ path, headers: { Accept: "text/csv, application/json;q=0.1" } }), {
      status: 200,
      headers: { "Content-Type": jsonType },
    });
    const content = { filter: { n: 1 } };
    const Accept = "text/csv";
    check(await service.send({ method: "QUERY", path: list, content, headers: { Accept } }), {
      status: 200,
      headers: { "Content-Type": csv },
    });
  });
});

describe("a list as", () => {
  test("NDJSON is a line for each resource, and links lead on", async () => {
    const path = `${list}?limit=2&fields=n`;
    const answer = await service.send({ path, headers: { Accept: "application/x-ndjson" } });
    check(answer, { status: 200, headers: { "Content-Range": "topics 0-1/3" } });
    const lines = topics.slice(0, 2).map(({ id }, n) => `{"id":"${id}","n":${n}}\n`);
    assert.equal(answer.text, lines.join(""));
    assert.match(links(answer).next ?? "", /cursor=/);
  });

  test("CSV has a head and a line for each resource", async () => {
    const headers = { Accept: "text/csv" };
    const answer = await service.send({ path: `${list}?fields=title,n&n:gt=0`, headers });
    const lines = topics.slice(1).map(({ id }, n) => `${id},No. ${n + 1},${n + 1}\r\n`);
    assert.equal(answer.text, `id,title,n\r\n${lines.join("")}`);
  });

  test("each format has an ETag of its own", async () => {
    const accepts = ["application/json", "text/csv", "application/x-ndjson"];
    const etags: string[] = [];
    for (const Accept of accepts) {
      const { headers } = await service.send({ path: list, headers: { Accept } });
      etags.push(headers.etag ?? "");
      const again = { Accept, "If-None-Match": headers.etag ?? "" };
      check(await service.send({ path: list, headers: again }), { status: 304 });
    }
    assert.equal(new Set(etags).size, accepts.length);
  });
});
