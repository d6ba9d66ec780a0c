/** Compressed answers: who gets them, that they hold the same bytes, and that conditions go on working. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { generator } from "../seed.ts";
import { check, vary } from "./check.ts";
import { type Answer, type Request, type Service, startFor, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const small = await service.create("topics", { title: "Small" });
const large = await service.create("topics", { title: "Large", text: "Grüße, 世界 and more. ".repeat(100) });
const random = generator();
for (let n = 0; n < 300; n++)
  await service.create("notes", { n, text: `No. ${n}, ${random()} ${"and so on ".repeat(5)}` });
await service.create("few", { a: 1 });

const browser = "gzip, deflate, br, zstd";

function get(path: string, headers: Request["headers"] = {}, on = service): Promise<Answer> {
  return on.send({ path, headers });
}

const codings = [
  ["br", "br"],
  ["gzip", "gzip"],
  ["gzip, deflate", "gzip"],
  [browser, "br"],
] as const;

/** Requests whose responses are longer than 1 kB. */
const paths: [path: string, headers: Record<string, string>][] = [
  ["/api/v1/notes?limit=10", {}],
  ["/api/v1/notes?limit=300", {}],
  ["/api/v1/notes?limit=300&envelope=true", {}],
  ["/api/v1/notes?limit=300&fields=text", {}],
  ["/api/v1/notes?limit=300", { Accept: "application/x-ndjson" }],
  ["/api/v1/notes?limit=300", { Accept: "text/csv" }],
  ["/openapi.json", {}],
  ["/openapi-3.2.json", {}],
  ["/", { Accept: "text/html" }],
  ["/nowhere", { Accept: "text/html" }],
  ["/docs/start.js", {}],
  ["/docs/standalone.js", {}],
];

describe("an answer above 1 kB is compressed as Accept-Encoding asks,", () => {
  for (const [path, headers] of paths)
    test(`${path} ${Object.values(headers)}`, async () => {
      const plain = await get(path, headers);
      assert.equal(plain.headers["content-encoding"], undefined);
      for (const [accepted, coding] of codings) {
        const answer = await get(path, { ...headers, "Accept-Encoding": accepted });
        assert.equal(answer.headers["content-encoding"], coding);
        assert.equal(answer.text, plain.text, "the same content");
        assert.ok(answer.bytes.length < plain.bytes.length / 2, `${answer.bytes.length} bytes`);
        assert.ok(vary(answer).has("accept-encoding"));
        assert.equal(answer.headers["content-type"], plain.headers["content-type"]);
        const isStreamed = headers.Accept === "text/csv";
        const length = isStreamed ? undefined : String(answer.bytes.length);
        assert.equal(answer.headers["content-length"], length);
      }
    });

  test("to QUERY too", async () => {
    const ask = (headers: Record<string, string>) =>
      service.send({ method: "QUERY", path: "/api/v1/notes", content: { limit: 300 }, headers });
    const plain = await ask({});
    const answer = await ask({ "Accept-Encoding": browser });
    check(answer, { status: 200, headers: { "Content-Encoding": "br", ETag: plain.headers.etag } });
    assert.equal(answer.text, plain.text);
  });

  test("also a problem", async () => {
    const names = Array.from({ length: 50 }, (_, n) => `_unknown${n}=1`).join("&");
    const answer = await get(`/api/v1/notes?${names}`, { "Accept-Encoding": browser });
    check(answer, { status: 400, headers: { "Content-Encoding": "br" }, problem: "INVALID_PARAMETER" });
  });

  test("by HEAD with the headers of GET, but for the length", async () => {
    for (const [path, headers] of [...paths, [large.path, {}] as const]) {
      const wanted = { ...headers, "Accept-Encoding": browser };
      const answer = await get(path, wanted);
      const head = await service.send({ method: "HEAD", path, headers: wanted });
      const told = ({ headers }: Answer) => {
        const {
          date: _,
          "x-request-id": __,
          "content-length": ___,
          "transfer-encoding": ____,
          ...rest
        } = headers;
        return rest;
      };
      assert.equal(head.headers["content-encoding"], "br");
      assert.deepEqual(told(head), told(answer));
      assert.equal(head.headers["content-length"], undefined);
      assert.equal(head.bytes.length, 0);
    }
  });
});

describe("Accept-Encoding", () => {
  const cases: [accepted: string, coding: string | undefined][] = [
    ["", undefined],
    ["identity", undefined],
    ["deflate", undefined],
    ["zstd, deflate", undefined],
    ["br;q=0, gzip;q=0", undefined],
    ["gzip;q=0", undefined],
    ["*;q=0", undefined],
    ["identity, gzip;q=0.5", undefined],
    ["gzip;q=wrong", undefined],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["br;q=0.5, gzip", "gzip"],
    ["br;q=0.5,gzip;q=0.5", "br"],
    ["gzip ; q=0.9 , br ; q=1", "br"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["*;q=0, gzip", "gzip"],
    ["gzip, identity;q=0", "gzip"],
    ["gzip, identity", "gzip"],
    ["gzip;q=0.001", "gzip"],
  ];
  for (const [accepted, coding] of cases)
    test(`${JSON.stringify(accepted)} gets ${coding ?? "no coding"}`, async () => {
      for (const path of ["/api/v1/notes?limit=10", large.path])
        check(await get(path, { "Accept-Encoding": accepted }), {
          status: 200,
          headers: { "Content-Encoding": coding },
        });
    });

  test("leaves an answer of up to 1,024 bytes as it is, unless it refuses that", async () => {
    const room = 1_024 - Buffer.byteLength(JSON.stringify({ id: small.id, text: "" }));
    const bare = await service.create("bounds", { text: "x".repeat(room) });
    const more = await service.create("bounds", { text: "x".repeat(room + 1) });
    const coding = async (path: string, headers: Record<string, string>) =>
      (await get(path, headers)).headers["content-encoding"];
    assert.equal(await coding(bare.path, { "Accept-Encoding": browser }), undefined);
    assert.equal(await coding(more.path, { "Accept-Encoding": browser }), "br");
    for (const refusing of ["gzip, identity;q=0", "gzip, *;q=0"])
      assert.equal(await coding(small.path, { "Accept-Encoding": refusing }), "gzip");
    assert.equal(await coding("/api/v1/few", { "Accept-Encoding": browser, Accept: "text/csv" }), undefined);
    // Nothing else is acceptable, and the client can better use this than nothing.
    assert.equal(await coding(large.path, { "Accept-Encoding": "identity;q=0" }), undefined);
  });

  test("does not change the answers to writes", async () => {
    const headers = { "Accept-Encoding": browser };
    const text = "long ".repeat(1_000);
    const path = "/api/v1/writes";
    const key = { "Idempotency-Key": "compressed" };
    const sent = { method: "POST", path, content: { text }, headers: { ...headers, ...key } };
    const created = await service.send(sent);
    const again = await service.send(sent);
    const at = String(created.headers.location);
    const patched = await service.send({ method: "PATCH", path: at, content: { n: 1 }, headers });
    const operations = {
      operations: [{ method: "PATCH", path: at.slice("/api/v1".length), body: { n: 2 } }],
    };
    const batch = await service.send({
      method: "POST",
      path: "/api/v1/_batch",
      content: operations,
      headers,
    });
    for (const answer of [created, again, patched, batch]) {
      assert.ok(answer.bytes.length > 5_000, answer.text);
      assert.equal(answer.headers["content-encoding"], undefined);
    }
    assert.equal(again.text, created.text);
  });

  test("is not looked at with compression: false", async (t) => {
    const plain = await startFor(t, { compression: false });
    const { path } = await plain.create("topics", { text: "x".repeat(5_000) });
    const answer = await get(path, { "Accept-Encoding": "br, identity;q=0" }, plain);
    check(answer, { status: 200, headers: { "Content-Encoding": undefined, ETag: '"1"' } });
    const saidBy = async (on: Service) =>
      (await get("/openapi.json", {}, on)).text.includes("`Accept-Encoding`");
    assert.deepEqual([await saidBy(plain), await saidBy(service)], [false, true]);
  });
});

describe("the ETag of a compressed resource", () => {
  const encodings: [accepted: string | undefined, etag: string][] = [
    [undefined, '"1"'],
    ["identity", '"1"'],
    ["gzip", '"1-gzip"'],
    ["br", '"1-br"'],
    [browser, '"1-br"'],
  ];
  const accepting = (accepted: string | undefined): Record<string, string> =>
    accepted === undefined ? {} : { "Accept-Encoding": accepted };

  for (const [accepted, etag] of encodings) {
    test(`is ${etag} for ${accepted}, and a 304 repeats it`, async () => {
      const headers = accepting(accepted);
      for (const method of ["GET", "HEAD"]) {
        check(await service.send({ method, path: large.path, headers }), {
          status: 200,
          headers: { ETag: etag },
        });
        for (const tag of [etag, `W/${etag}`, `"0", ${etag}`])
          check(
            await service.send({ method, path: large.path, headers: { ...headers, "If-None-Match": tag } }),
            {
              status: 304,
              headers: { ETag: etag, "Content-Encoding": undefined },
            },
          );
      }
    });

    test(`${etag} lets a client change what it read`, async () => {
      const { path, id } = await service.create("changes", { text: "x".repeat(5_000) });
      const read = async () => (await get(path, accepting(accepted))).headers.etag ?? "";
      const change = (method: string, tag: string, content?: unknown) =>
        service.send({ method, path, content, headers: { ...accepting(accepted), "If-Match": tag } });
      const first = await read();
      assert.equal(first, etag);
      check(await change("PATCH", first, { n: 1 }), { status: 200, headers: { ETag: '"2"' } });
      check(await change("PATCH", first, { n: 2 }), { status: 412, problem: "PRECONDITION_FAILED" });
      const second = await read();
      check(await change("PUT", `"7-br", ${second}`, { id, text: "x".repeat(5_000) }), { status: 200 });
      check(await change("DELETE", second), { status: 412, problem: "PRECONDITION_FAILED" });
      check(await change("DELETE", await read()), { status: 205 });
    });
  }

  test("is that of what the client has, in whichever coding it takes", async () => {
    const ask = (tag: string, accepted?: string) =>
      get(large.path, { "If-None-Match": tag, ...accepting(accepted) });
    const cases: [tag: string, accepted: string | undefined, etag: string | undefined][] = [
      ['"1"', browser, '"1"'],
      ['"1-gzip"', browser, '"1-gzip"'],
      ['"1-gzip", "1-br", "1"', browser, '"1-gzip"'],
      ['"1-br", "1-gzip"', "gzip", '"1-gzip"'],
      ['"1-br"', undefined, '"1-br"'],
      ["*", browser, '"1"'],
      ['"1-br"', "gzip", undefined],
      ['"1-br"', "identity", undefined],
      ['"1"', "gzip, identity;q=0", undefined],
      ['"1-zstd"', browser, undefined],
      ['"2-br"', browser, undefined],
      ['"11-br"', browser, undefined],
    ];
    for (const [tag, accepted, etag] of cases) {
      const answer = await ask(tag, accepted);
      check(answer, {
        status: etag === undefined ? 200 : 304,
        headers: etag === undefined ? {} : { ETag: etag },
      });
    }
  });

  test("may have a suffix that a proxy has added, also when the answer is small", async () => {
    for (const tag of ['"1-gzip"', 'W/"1-gzip"'])
      check(await get(small.path, { "If-None-Match": tag, "Accept-Encoding": "gzip" }), { status: 304 });
    const path = "/api/v1/notes?limit=1";
    const { headers } = await get(path);
    const tag = `${headers.etag?.slice(0, -1)}-gzip"`;
    check(await get(path, { "If-None-Match": tag, "Accept-Encoding": "gzip" }), {
      status: 304,
      headers: { ETag: tag },
    });
  });

  test("is the same for all codings of a list, since it is weak", async () => {
    const path = "/api/v1/notes?limit=300";
    const { etag } = (await get(path)).headers;
    assert.match(String(etag), /^W\//);
    for (const accepted of ["br", "gzip", "identity"]) {
      const headers = { "Accept-Encoding": accepted };
      check(await get(path, headers), { status: 200, headers: { ETag: etag } });
      check(await get(path, { ...headers, "If-None-Match": String(etag) }), {
        status: 304,
        headers: { ETag: etag, "Content-Encoding": undefined },
      });
    }
  });
});
