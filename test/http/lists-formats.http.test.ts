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

describe("a list as CSV with a byte order mark and another delimiter", () => {
  const accept = { Accept: "text/csv" };
  const csvOf = async (query: string) => {
    const answer = await service.send({ path: `${list}?${query}`, headers: accept });
    check(answer, { status: 200, headers: { "Content-Type": csv } });
    return answer;
  };

  test("begins with the mark, and its cells are apart by the delimiter", async () => {
    const { text } = await csvOf("fields=n,title&bom=true&delimiter=%3B&limit=1");
    assert.equal(text, `\uFEFFid;n;title\r\n${topics[0]?.id};0;No. 0\r\n`);
    assert.equal((await csvOf("fields=n&delimiter=tab&limit=1")).text, `id\tn\r\n${topics[0]?.id}\t0\r\n`);
    assert.equal(
      (await csvOf("fields=n&delimiter=,&bom=false&limit=1")).text,
      `id,n\r\n${topics[0]?.id},0\r\n`,
    );
  });

  test("is the same as the answer to a QUERY, and links keep both parameters", async () => {
    const asked = { fields: ["n"], limit: 1, bom: true, delimiter: ";" };
    const answer = await service.send({ method: "QUERY", path: list, content: asked, headers: accept });
    assert.equal(answer.text, (await csvOf("fields=n&limit=1&bom=true&delimiter=%3B")).text);
    check(answer, { status: 200, headers: { Location: `${list}?fields=n&limit=1&bom=true&delimiter=%3B` } });
    const { next = "", monitor = "" } = links(answer);
    assert.match(next, /bom=true&delimiter=%3B/);
    assert.doesNotMatch(monitor, /bom|delimiter/);
    const second = await service.send({ path: next, headers: accept });
    assert.equal(second.text, `\uFEFFid;n\r\n${topics[1]?.id};1\r\n`);
  });

  test("can have figures, and deleted resources", async () => {
    assert.equal(
      (await csvOf("aggregate=count,max(n)&bom=true&delimiter=%3B")).text,
      "\uFEFFcount;max(n)\r\n3;2\r\n",
    );
    const { path, id } = await service.create("former", { n: 1 });
    await service.send({ method: "DELETE", path });
    const deleted = await service.send({
      path: "/api/v1/former/_deleted?fields=n&delimiter=%3B",
      headers: accept,
    });
    assert.equal(deleted.text, `id;n\r\n${id};1\r\n`);
  });

  for (const [query, name, detail] of [
    ["delimiter=:", "delimiter", '"delimiter" must be ",", ";", "|" or tab, not ":"'],
    ["delimiter=", "delimiter", '"delimiter" must be ",", ";", "|" or tab, not ""'],
    ["delimiter=%09", "delimiter", '"delimiter" must be ",", ";", "|" or tab, not "\\t"'],
    ["bom=1", "bom", '"bom" must be true or false, not "1"'],
    ["aggregate=count&delimiter=:", "delimiter", '"delimiter" must be ",", ";", "|" or tab, not ":"'],
  ] as const)
    test(`is refused with ${query}`, async () => {
      const answer = await service.send({ path: `${list}?${query}`, headers: accept });
      check(answer, {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "query", name, detail }],
      });
    });

  test("needs the format CSV", async () => {
    const detail = 'applies only to CSV. Send "Accept: text/csv"';
    for (const Accept of ["application/json", "application/x-ndjson"])
      for (const query of ["", "aggregate=count&"])
        check(await service.send({ path: `${list}?${query}bom=true&delimiter=;`, headers: { Accept } }), {
          status: 400,
          problem: "INVALID_PARAMETER",
          violations: ["bom", "delimiter"].map((name) => ({ name, detail: `"${name}" ${detail}` })),
        });
    // Pages that try requests send the defaults, too.
    check(await service.send({ path: `${list}?bom=false&delimiter=,` }), { status: 200 });
    check(await service.send({ method: "QUERY", path: list, content: { bom: true } }), {
      status: 400,
      violations: [{ in: "body", pointer: "#/bom", detail: `"bom" ${detail}` }],
    });
    const headers = { Accept: "text/csv, application/json;q=0.1" };
    const envelope = await service.send({ path: `${list}?envelope=true&bom=true`, headers });
    check(envelope, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match(envelope.text, /an envelope is JSON\. Leave out/);
  });

  test("is imported again unchanged", async () => {
    const texts = ["a;b", "a,b", "a\tb", 'say "hi"; or not', "two\nlines", "=1;2", ";", "ä", "5", "", "1,5"];
    for (const text of texts) await service.create("texts", { text, "a;b,c\td": text });
    const before = (await service.send({ path: "/api/v1/texts" })).json;
    for (const [copy, query, delimiter] of [
      ["texts-1", "bom=true&delimiter=%3B", "%3B"],
      ["texts-2", "bom=true&delimiter=tab", "tab"],
      ["texts-3", "bom=true", ","],
    ]) {
      const { text } = await service.send({ path: `/api/v1/texts?${query}`, headers: accept });
      const path = `/api/v1/${copy}/_import?delimiter=${delimiter}`;
      const headers = { "Content-Type": "text/csv" };
      check(await service.send({ method: "POST", path, body: text, headers }), { status: 200 });
      assert.deepEqual((await service.send({ path: `/api/v1/${copy}` })).json, before);
    }
  });
});
