/** The pages outside the prefix, over real sockets: one at the root, and one for unknown paths. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { startServer } from "../../src/server.ts";
import { makeFolder } from "../folder.ts";
import { auth, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Answer, type Service, startFor, startService } from "./service.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const html = { Accept: browser };

/** Checks that the response is a page that can load and run nothing. Returns its HTML. */
function checkPage(answer: Answer, status: 200 | 404): string {
  const { headers, text } = answer;
  assert.equal(answer.status, status, text);
  assert.equal(headers["content-type"], "text/html; charset=utf-8");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.match(headers.vary ?? "", /\bAccept\b/);
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
  assert.equal(
    headers["content-security-policy"],
    `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  assert.doesNotMatch(
    text,
    /<script|<[^>]* style=|<[^>]* on[a-z]+=|javascript:|(?:src|href)="(?:https?:)?\/\//i,
  );
  return text;
}

/** The targets of a page's links, as a browser at `path` follows them. */
function targetsOf(page: string, path: string): string[] {
  return [...page.matchAll(/<a href="([^"]*)"/g)].map(
    ([, href = ""]) => new URL(href, `http://localhost${path}`).pathname,
  );
}

async function checkLinks(service: Service, page: string, path: string): Promise<string[]> {
  const targets = targetsOf(page, path);
  for (const target of targets)
    assert.equal((await service.send({ path: target, headers: html })).status, 200, target);
  return targets;
}

/** The line for a shell. */
function exampleIn(page: string): string {
  const [, code = ""] = /<pre><code>(.*?)<\/code><\/pre>/s.exec(page) ?? [];
  return code.replaceAll(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)));
}

describe("the root", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  test("has a page with links for a browser", async (t) => {
    const fresh = await startFor(t);
    const page = checkPage(await fresh.send({ path: "/", headers: html }), 200);
    assert.deepEqual(await checkLinks(fresh, page, "/"), ["/docs", "/api/v1", "/openapi.json"]);
    assert.match(
      page,
      /There are no collections yet\. The first resource that you create also creates its collection\./,
    );
    assert.equal(
      exampleIn(page),
      `curl -i http://127.0.0.1:${fresh.port}/api/v1/topics -H 'Content-Type: application/json' -d '{"title":"Hello"}'`,
    );
  });

  test("names the collections, and shows how to read the first", async () => {
    for (const name of ["users", "topics"]) await service.create(name);
    const page = checkPage(await service.send({ path: "/", headers: html }), 200);
    const targets = await checkLinks(service, page, "/");
    assert.deepEqual(targets.slice(3), ["/api/v1/topics", "/api/v1/users"]);
    assert.equal(exampleIn(page), `curl -i http://127.0.0.1:${service.port}/api/v1/topics`);
    assert.doesNotMatch(page, /more\./);
  });

  test("names a few of many collections, and how many others there are", async (t) => {
    const names = Array.from({ length: 30 }, (_, n) => `c${n + 10}`);
    const many = await startFor(t, { collections: Object.fromEntries(names.map((name) => [name, {}])) });
    const page = checkPage(await many.send({ path: "/", headers: html }), 200);
    const expected = names.slice(0, 24).map((name) => `/api/v1/${name}`);
    assert.deepEqual(targetsOf(page, "/").slice(3), expected);
    assert.match(page, /There are 6 more\./);
  });

  test("by HEAD has the fields of GET", async () => {
    for (const path of ["/", "/nowhere"]) {
      const got = await service.send({ path, headers: html });
      const head = await service.send({ method: "HEAD", path, headers: html });
      assert.deepEqual([head.status, head.text], [got.status, ""]);
      for (const [name, value] of Object.entries(got.headers))
        if (name !== "date" && name !== "x-request-id") assert.equal(head.headers[name], value, name);
    }
  });

  for (const accept of ["text/html", "TEXT/HTML;level=1", "application/json, text/html;q=0.1"])
    test(`has the page for Accept ${accept}`, async () => {
      checkPage(await service.send({ path: "/", headers: { Accept: accept } }), 200);
    });

  for (const accept of [
    undefined,
    "*/*",
    "text/*",
    "application/json",
    "text/html;q=0, */*",
    "xtext/html",
    "",
  ])
    test(`is an empty 404 for Accept ${accept}, like any unknown path`, async () => {
      const headers = accept === undefined ? {} : { Accept: accept };
      for (const path of ["/", "/?x=1", "/nowhere", "/api"])
        check(await service.send({ path, headers }), { status: 404, headers: { Allow: undefined } });
    });

  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "TRACE"])
    test(`is an empty 404 by ${method}`, async () => {
      for (const path of ["/", "/nowhere"])
        check(await service.send({ method, path, headers: html }), { status: 404 });
    });

  test("takes no parameters", async () => {
    check(await service.send({ path: "/?x=1", headers: html }), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name: "x" }],
    });
  });

  test("counts as a request in the rate limit", async (t) => {
    const limited = await startFor(t, { rate: { requests: 1, perSeconds: 600 } });
    checkPage(await limited.send({ path: "/", headers: html }), 200);
    check(await limited.send({ path: "/", headers: html }), { status: 429, problem: "QUOTA_EXCEEDED" });
  });

  test("does not answer for a host that is not the service's", async () => {
    const headers = { ...html, Host: "evil.example" };
    check(await service.send({ path: "/", headers }), { status: 421, problem: "MISDIRECTED" });
  });
});

describe("an unknown path outside the prefix", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const path of [
    ...[
      "/nowhere",
      "/topics",
      "/api",
      "/api/",
      "/api/v10",
      "/API/v1/topics",
      "/favicon.ico",
      "/a/b/c/",
      "//x",
    ],
    ...["/nowhere?x=1", "/problems/none", "/docs/none", "/livez/x", "//evil.example/x", "/a//b"],
  ])
    test(`${path} is a page with status 404 that links to the rest`, async () => {
      const page = checkPage(await service.send({ path, headers: html }), 404);
      const shown = path.split("?")[0] as string;
      assert.ok(page.includes(`Nothing exists at <code>${shown}</code>`), page);
      const targets = await checkLinks(service, page, path);
      assert.deepEqual(targets, ["/", "/docs", "/api/v1", "/openapi.json"]);
    });

  for (const path of ["/api/v1//", "/api/v1/a/b/c", "/api/v1/_x", "/api/v1/1", "/api/v1/topics/none"])
    test(`does not include ${path} below the prefix: that is an empty 404`, async () => {
      check(await service.send({ path, headers: html }), { status: 404 });
    });

  for (const path of ["/%zz", "/nowhere/%ff"])
    test(`${path} cannot be decoded`, async () => {
      check(await service.send({ path, headers: html }), { status: 400, problem: "INVALID_PARAMETER" });
    });

  const hostile = [
    "/<script>alert(1)</script>",
    `/"><img/src=x/onerror=alert(1)>`,
    "/'onmouseover='alert(1)",
    "/</code></p></main><h1>Owned",
    "/&lt;b&gt;",
    "/<!--",
    "/\\x",
    "/javascript:alert(1)",
  ];
  for (const path of hostile)
    test(`${path} is text on the page`, async () => {
      const text = await service.raw(
        Buffer.from(
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
          "latin1",
        ),
      );
      assert.match(text, /^HTTP\/1\.1 404 /);
      const shown = path.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
      assert.ok(text.includes(`<code>${shown}</code>`), text);
      assert.equal((text.match(/<script|<img|<b>|<!--|<h1>Owned|<code>'/g) ?? []).length, 0, text);
    });

  test("is cut short if it is long, and its links stay short", async () => {
    const path = `/${"a/".repeat(3_900)}`;
    const page = checkPage(await service.send({ path, headers: html }), 404);
    assert.ok(page.includes(`<code>${path.slice(0, 200)}…</code>`));
    assert.ok(page.length < 8_000, `${page.length} characters`);
    assert.deepEqual(targetsOf(page, path), ["/", "/docs", "/api/v1", "/openapi.json"]);
  });

  for (const target of ["http://localhost", "http://localhost/", "http://localhost/nowhere", "*"])
    test(`may be the request target ${target}`, async () => {
      const text = await service.raw(
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      );
      const isRoot = target === "http://localhost" || target === "http://localhost/";
      assert.match(text, isRoot ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 404 /);
    });
});

describe("the address of the page to try requests on", () => {
  test("may end with a slash", async (t) => {
    const service = await startFor(t);
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, text } = await service.send({ method, path: "/docs/", headers: html });
      assert.deepEqual([status, headers.location], [308, "../docs"]);
      assert.equal(text, method === "HEAD" ? "" : "The page is at /docs.\n");
    }
    check(await service.send({ path: "/docs/?x=1" }), { status: 400, problem: "INVALID_PARAMETER" });
    check(await service.send({ method: "POST", path: "/docs/" }), {
      status: 405,
      problem: "METHOD_NOT_ALLOWED",
    });
    assert.equal(new URL("../docs", `${service.origin}/docs/`).pathname, "/docs");
    const followed = await fetch(`${service.origin}/docs/`);
    assert.deepEqual([followed.status, new URL(followed.url).pathname], [200, "/docs"]);
  });

  test("is a 404 with docs: false, and no page links to it", async (t) => {
    const service = await startFor(t, { docs: false });
    const front = checkPage(await service.send({ path: "/", headers: html }), 200);
    assert.deepEqual(targetsOf(front, "/"), ["/api/v1"]);
    for (const path of ["/docs", "/docs/", "/openapi.json"]) {
      check(await service.send({ path }), { status: 404 });
      const page = checkPage(await service.send({ path, headers: html }), 404);
      assert.deepEqual(targetsOf(page, path), ["/", "/api/v1"]);
    }
    assert.doesNotMatch(front, /docs|openapi/i);
  });
});

describe("another prefix", () => {
  test("is what the pages show", async (t) => {
    const service = await startFor(t, { prefix: "/shop/v2" });
    await service.create("things");
    const front = checkPage(await service.send({ path: "/", headers: html }), 200);
    const targets = await checkLinks(service, front, "/");
    assert.deepEqual(targets, ["/docs", "/shop/v2", "/openapi.json", "/shop/v2/things"]);
    assert.equal(exampleIn(front), `curl -i http://127.0.0.1:${service.port}/shop/v2/things`);
    const page = checkPage(await service.send({ path: "/shop", headers: html }), 404);
    assert.ok(page.includes("<code>/shop/v2</code>"));
  });

  test("that is the root has the page for browsers and the list for others", async (t) => {
    const service = await startFor(t, { prefix: "" });
    await service.create("things");
    const front = checkPage(await service.send({ path: "/", headers: html }), 200);
    assert.deepEqual(await checkLinks(service, front, "/"), ["/docs", "/openapi.json", "/things"]);
    assert.equal(exampleIn(front), `curl -i http://127.0.0.1:${service.port}/things`);
    checkPage(await service.send({ path: "/", headers: { Accept: "text/html" } }), 200);
    for (const accept of ["*/*", "application/json", "text/html, application/json", "text/html;q=0.5, */*"])
      check(await service.send({ path: "/", headers: { Accept: accept } }), {
        status: 200,
        headers: { "Cache-Control": "no-store" },
        json: { collections: [{ name: "things", href: "/things" }] },
      });
    check(await service.send({ path: "/", headers: { Accept: "text/*" } }), { status: 406 });
    check(await service.send({ path: "/?x=1", headers: html }), { status: 400 });
    check(await service.send({ method: "OPTIONS", path: "/" }), {
      status: 204,
      headers: { Allow: "GET, HEAD, OPTIONS" },
    });
    for (const path of ["/a/b/c/d", "/_x", "/problems/none", "/docs/none", "//"])
      check(await service.send({ path, headers: html }), { status: 404 });
  });
});

describe("the information on the page", () => {
  test("starts with the title of the service, which is text", async (t) => {
    const named = await startFor(t, { info: { title: "Ann & Bob <shop>", version: "1" } });
    const front = checkPage(await named.send({ path: "/", headers: html }), 200);
    const shown = "Ann &#38; Bob &#60;shop&#62;";
    assert.ok(front.includes(`<title>${shown}</title>`), front);
    assert.ok(front.includes(`<h1>${shown}</h1>`), front);
    const absent = checkPage(await named.send({ path: "/nowhere", headers: html }), 404);
    assert.ok(absent.includes(`<title>Page not found - ${shown}</title>`), absent);
    assert.doesNotMatch(front + absent, /Holdfast/);
  });

  test("names each link after the page that it leads to", async (t) => {
    const front = checkPage(await (await startFor(t)).send({ path: "/", headers: html }), 200);
    const names = [...front.matchAll(/<strong>(.*?)<\/strong><span>(.*?)<\/span>/g)].map(
      ([, ...texts]) => texts,
    );
    assert.deepEqual(names, [
      ["API reference", "Read about every request, and send it."],
      ["Collections", "The list of collections, as JSON."],
      ["OpenAPI document", "The description of the interface, for tools."],
    ]);
  });

  const collections = {
    news: { access: { read: "public" } },
    salaries: { access: { read: { role: "hr" } } },
  } as const;

  test("of a service with auth is public", async (t) => {
    const service = await startFor(t, { auth, collections });
    const front = checkPage(await sendAs(service, "hans", { path: "/", headers: html }), 200);
    assert.match(front, /With a credential, you may see more\./);
    assert.equal(exampleIn(front), `curl -i http://127.0.0.1:${service.port}/api/v1/news`);
    assert.doesNotMatch(front, /salaries/);
  });

  test("of a service with auth and nothing public says how to send a credential", async (t) => {
    const { salaries } = collections;
    const service = await startFor(t, { auth, collections: { salaries } });
    const front = checkPage(await service.send({ path: "/", headers: html }), 200);
    assert.match(front, /No collection is public\./);
    assert.equal(
      exampleIn(front),
      `curl -i http://127.0.0.1:${service.port}/api/v1 -H 'Authorization: Bearer YOUR_KEY'`,
    );
    assert.doesNotMatch(front, /salaries/);
  });

  test("at the root prefix with auth depends on the caller, whose credential must be valid", async (t) => {
    const service = await startFor(t, { auth, collections, prefix: "" });
    const anybody = checkPage(await service.send({ path: "/", headers: html }), 200);
    assert.doesNotMatch(anybody, /salaries/);
    assert.match(checkPage(await sendAs(service, "hans", { path: "/", headers: html }), 200), /salaries/);
    check(await sendAs(service, "expired", { path: "/", headers: html }), {
      status: 401,
      problem: "INVALID_TOKEN",
    });
  });

  test("says https if the request came encrypted", async (t) => {
    const service = await startFor(t, { trustProxy: ["127.0.0.1"], collections: { news: {} } });
    const headers = { ...html, "X-Forwarded-Proto": "https" };
    const answer = await service.send({ path: "/", headers });
    assert.match(exampleIn(answer.text), /^curl -i https:\/\/127\.0\.0\.1:\d+\/api\/v1\/news$/);
  });

  for (const host of ["[::1]:8080", "localhost", "a-b.example.org:80"])
    test(`has the host ${host} in its command`, async (t) => {
      const service = await startFor(t, { auth, collections });
      const answer = await service.send({ path: "/", headers: { ...html, Host: host } });
      assert.equal(exampleIn(checkPage(answer, 200)), `curl -i http://${host}/api/v1/news`);
    });

  for (const host of ["$(id).example", "`id`", "a;id", 'a"><script>alert(1)</script>', "a'b", "a b", "é"])
    test(`has no host like ${host} anywhere`, async (t) => {
      const service = await startFor(t, { auth, collections });
      const text = await service.raw(
        Buffer.from(
          `GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
          "latin1",
        ),
      );
      assert.match(text, /^HTTP\/1\.1 400 /);
      assert.ok(!text.includes(host), text);
    });

  test("has the host of the request target, if that has one", async (t) => {
    const service = await startFor(t, { auth, collections });
    const text = await service.raw(
      "GET http://example.org/ HTTP/1.1\r\nHost: `id`\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
    );
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.equal(exampleIn(text), "curl -i http://example.org/api/v1/news");
  });

  test("of a read-only service does not suggest a write", async (t) => {
    const cwd = makeFolder({});
    const open = async (flags: Record<string, unknown>) =>
      startServer(await loadConfig({ flags: { port: "0", console: "false", ...flags }, env: {}, cwd }));
    await (await open({})).stop();
    const { origin, stop } = await open({ readOnly: true });
    t.after(stop);
    const front = await (await fetch(origin, { headers: html })).text();
    assert.match(front, /There are no collections yet\.<\/p>/);
    assert.equal(exampleIn(front), `curl -i ${origin}/api/v1`);
  });
});
