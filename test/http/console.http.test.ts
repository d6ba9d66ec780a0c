/** The console at `/` and its files, over real sockets. `npm ci` and `npm run build` build them. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { check, vary } from "./check.ts";
import { type Answer, type Service, startFor, startServiceForFile } from "./service.ts";

const browser = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

assert.ok(existsSync("dist/console/files.json"), "The console is not built. Run: npm run build");
const built = JSON.parse(readFileSync("dist/console/files.json", "utf8")) as string[];

const service = await startServiceForFile({ console: true });

/** The file of the build with this start and this end. */
function fileOf(start: string, end: string): string {
  return `/${built.find((name) => name.startsWith(`_console/${start}`) && name.endsWith(end))}`;
}

const script = fileOf("index-", ".js");
const font = fileOf("inter-latin-wght", ".woff2");

function metaIn({ text }: Answer, name: string): string | undefined {
  return new RegExp(`<meta name="holdfast-${name}" content="([^"]*)">`).exec(text)?.[1];
}

function policyWith(nonce: string | undefined): string {
  return `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

describe("the console at the root", () => {
  test("is a page for a browser, with a strict policy", async () => {
    const answer = await service.send({ path: "/", headers: browser });
    assert.equal(answer.status, 200);
    const expected = {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policyWith(metaIn(answer, "nonce")),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers[name], value);
    assert.ok(vary(answer).has("accept"));
    assert.equal(metaIn(answer, "prefix"), "/api/v1");
    assert.doesNotMatch(answer.text, /<style|<script(?![^>]* src=)|<[^>]* (?:style|on[a-z]+)=/i);
  });

  test("has another nonce in every response", async () => {
    const nonces = await Promise.all(
      Array.from({ length: 20 }, async () =>
        metaIn(await service.send({ path: "/", headers: browser }), "nonce"),
      ),
    );
    assert.equal(new Set(nonces).size, 20);
    for (const nonce of nonces) assert.match(String(nonce), /^[A-Za-z0-9+/]{24}$/);
  });

  test("loads only files of the service, by relative addresses", async () => {
    const { text } = await service.send({ path: "/", headers: browser });
    const loaded = [...text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]*)"/g)].map(
      ([, to]) => to ?? "",
    );
    const files = loaded.filter((to) => to !== "data:,");
    assert.ok(files.length >= 2);
    for (const file of files) {
      assert.match(file, /^\.\/_console\//);
      assert.equal((await service.send({ path: file.slice(1) })).status, 200, file);
    }
  });

  test("by HEAD has the headers of GET", async () => {
    const head = await service.send({ method: "HEAD", path: "/", headers: browser });
    assert.deepEqual([head.status, head.text], [200, ""]);
    assert.equal(head.headers["content-type"], "text/html; charset=utf-8");
  });

  test("is an empty 404 for other clients and methods, as without a console", async () => {
    for (const Accept of ["*/*", "application/json", "text/*"])
      check(await service.send({ path: "/", headers: { Accept } }), { status: 404 });
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "QUERY"])
      check(await service.send({ method, path: "/", headers: browser }), { status: 404 });
    check(await service.send({ path: "/?x=1", headers: browser }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  });

  for (const prefix of ["/shop/v2", ""])
    test(`carries the prefix "${prefix}"`, async (t) => {
      const other = await startFor(t, { console: true, prefix });
      assert.equal(metaIn(await other.send({ path: "/", headers: browser }), "prefix"), prefix);
      assert.equal((await other.send({ path: script })).status, 200);
    });
});

describe("a file of the console", () => {
  test("has its type, and can be cached for ever", async () => {
    const types = {
      js: "text/javascript; charset=utf-8",
      css: "text/css; charset=utf-8",
      woff2: "font/woff2",
    } as const;
    for (const name of built) {
      const type = types[name.split(".").at(-1) as keyof typeof types];
      const answer = await service.send({ path: `/${name}` });
      check(answer, {
        status: 200,
        headers: {
          "Content-Type": type,
          "Cache-Control": "public, max-age=31536000, immutable",
          "X-Content-Type-Options": "nosniff",
          "Content-Encoding": undefined,
        },
      });
      assert.deepEqual(answer.bytes, readFileSync(`dist/console/${name}`), name);
    }
  });

  for (const [accepted, coding] of [
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0.1, gzip", "gzip"],
    ["identity", undefined],
    ["zstd", undefined],
  ] as const)
    test(`is compressed for Accept-Encoding ${accepted}: ${coding}`, async () => {
      const plain = await service.send({ path: script });
      for (const method of ["GET", "HEAD"]) {
        const answer = await service.send({ method, path: script, headers: { "Accept-Encoding": accepted } });
        const bytes = readFileSync(`dist/console${script}${coding === undefined ? "" : `.${coding}`}`);
        assert.equal(answer.headers["content-encoding"], coding);
        assert.equal(answer.headers["content-length"], String(bytes.length));
        assert.equal(answer.headers.etag === plain.headers.etag, coding === undefined);
        assert.ok(vary(answer).has("accept-encoding"));
        assert.equal(answer.text, method === "HEAD" ? "" : plain.text);
      }
    });

  test("is not compressed if it is a font, or with compression: false", async (t) => {
    const other = await startFor(t, { console: true, compression: false });
    const headers = { "Accept-Encoding": "br, gzip" };
    for (const [on, path] of [
      [service, font],
      [other, script],
    ] as [Service, string][])
      for (const method of ["GET", "HEAD"])
        assert.equal((await on.send({ method, path, headers })).headers["content-encoding"], undefined);
  });

  for (const coding of [undefined, "br", "gzip"])
    test(`is a 304 for its own entity tag, with coding ${coding}`, async () => {
      const headers = coding === undefined ? {} : { "Accept-Encoding": coding };
      const { etag = "" } = (await service.send({ path: script, headers })).headers;
      const unmodified = await service.send({ path: script, headers: { ...headers, "If-None-Match": etag } });
      check(unmodified, {
        status: 304,
        headers: {
          ETag: etag,
          "Cache-Control": "public, max-age=31536000, immutable",
          "Content-Encoding": undefined,
        },
      });
      const other = await service.send({ path: script, headers: { ...headers, "If-None-Match": '"x"' } });
      assert.equal(other.status, 200);
      check(await service.send({ path: script, headers: { "If-Match": '"x"' } }), {
        status: 412,
        problem: "PRECONDITION_FAILED",
      });
    });

  test("has no other method, and no parameters", async () => {
    for (const method of ["POST", "PUT", "DELETE", "QUERY"])
      check(await service.send({ method, path: script }), { status: 405, problem: "METHOD_NOT_ALLOWED" });
    check(await service.send({ path: `${script}?x=1` }), { status: 400, problem: "INVALID_PARAMETER" });
  });

  for (const path of [
    "/_console",
    "/_console/",
    "/_console/none.js",
    "/_console/index.html",
    "/_console/files.json",
    `${script}.br`,
    `${script}/`,
    script.replace("_console/", "_console//"),
    script.replace("_console/", "_console/%2e%2e/_console/"),
    script.replace("_console/", "_console%2f"),
    "/_console/..%2ffiles.json",
    "/_console/%2e%2e%2findex.html",
    "/_console/..%2f..%2f..%2fpackage.json",
    "/_console/..%5cindex.html",
    "/_console/__proto__",
    "/_console/constructor.js",
    "/_console/../index.html",
    "/index.html",
    "/console/index.html",
  ])
    test(`does not exist at ${path}`, async () => {
      const text = await service.raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 404 /);
    });
});

test("with console: false, the root and the files are as before the console", async (t) => {
  const other = await startFor(t, { console: false });
  const page = await other.send({ path: "/", headers: browser });
  assert.equal(page.status, 200);
  assert.equal(metaIn(page, "prefix"), undefined);
  assert.match(page.text, /There are no collections yet\./);
  for (const method of ["GET", "HEAD", "POST", "OPTIONS"])
    check(await other.send({ method, path: script }), { status: 404 });
});
