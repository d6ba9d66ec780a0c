/** The files for nginx and Caddy, with the real programs in front of the real service. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestOptions } from "node:http";
import { request as send } from "node:https";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { maxWaitSeconds } from "../../src/http/operations/feed-parameters.ts";
import { serve, untilDeaf } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { nodesOf, readPage } from "../pages/markdown.ts";
import { until } from "../until.ts";
import { knownProxies, startKnownProxy } from "./proxy.ts";

test("the reference of encryption shows the files of both proxies", () => {
  const shown = nodesOf(readPage("docs/reference/encryption.md"), "code").map(({ value }) => `${value}\n`);
  for (const { name, file } of knownProxies) assert.ok(shown.includes(readFileSync(file, "utf8")), name);
});

test("nginx waits longer than a page of events", () => {
  const [, seconds] =
    /proxy_read_timeout (\d+)s;/.exec(readFileSync("examples/deploy/nginx.conf", "utf8")) ?? [];
  assert.ok(Number(seconds) > maxWaitSeconds);
});

interface Answer {
  status: number | undefined;
  headers: IncomingMessage["headers"];
  text: string;
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

/** A client that connects to a proxy from an address of its own. */
function clientOf(port: number, localAddress = "127.0.0.2") {
  const options = {
    host: "127.0.0.1",
    port,
    localAddress,
    servername: "localhost",
    rejectUnauthorized: false,
  };
  const open = (method: string, path: string, more: RequestOptions = {}) => {
    const headers = { Host: "localhost", "Content-Type": "application/json", ...(more.headers as object) };
    return send({ ...options, agent: false, method, path: `/api/v1${path}`, headers });
  };
  return {
    open,
    async send(method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
      const text = body === undefined ? "" : JSON.stringify(body);
      const request = open(method, path, {
        headers: { "Content-Length": Buffer.byteLength(text), ...headers },
      });
      request.end(text);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return answerOf(response);
    },
  };
}

const configuration = {
  collections: { articles: {} },
  hosts: ["localhost"],
  trustProxy: ["127.0.0.1"],
  requireTls: true,
  limits: { body: "4mb", rate: { requests: 1_000, perSeconds: 3_600 } },
};

async function startBoth(t: TestContext, proxy: (typeof knownProxies)[number]) {
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(configuration) });
  const service = await serve(t, [], { cwd });
  const port = await startKnownProxy(t, proxy, Number(new URL(service.origin).port));
  return { service, port, client: clientOf(port) };
}

/** How many requests a client has left, as the response to one says. */
const remaining = ({ headers }: Answer) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]);

for (const proxy of knownProxies)
  describe(`behind ${proxy.name}`, { skip: proxy.why }, () => {
    test("a stream sends each event before the next one is made", async (t) => {
      const { client } = await startBoth(t, proxy);
      const request = client.open("GET", "/articles/_events?since=start", {
        headers: { Accept: "text/event-stream" },
      });
      request.end();
      const [stream] = (await once(request, "response")) as [IncomingMessage];
      let received = "";
      stream.setEncoding("utf8").on("data", (text: string) => (received += text));
      stream.on("error", () => {}); // the proxy ends before the stream
      for (let number = 0; number < 5; number++) {
        const { status } = await client.send("POST", "/articles", { name: `event ${number}` });
        assert.equal(status, 201);
        await until(`event ${number} arrives`, () => received.includes(`event ${number}`));
      }
      request.destroy();
    });

    test("a body is not kept back, and a large one arrives", async (t) => {
      const { client } = await startBoth(t, proxy);
      const unfinished = client.open("POST", "/unknown", { headers: { "Content-Length": 1_000_000 } });
      unfinished.on("error", () => {});
      unfinished.write("{");
      const [response] = (await once(unfinished, "response")) as [IncomingMessage];
      assert.equal(response.statusCode, 404, "the service answers before it has the body");
      unfinished.destroy();
      const created = await client.send("POST", "/articles", { text: "x".repeat(3_000_000) });
      assert.equal(created.status, 201);
      const stored = await client.send("GET", String(created.headers.location).replace("/api/v1", ""));
      assert.equal(JSON.parse(stored.text).text.length, 3_000_000);
      // Only its start: a proxy can close the connection while the client still sends, and then the client gets no response.
      const tooLarge = client.open("POST", "/articles", { headers: { "Content-Length": 4 * 2 ** 20 + 1 } });
      tooLarge.on("error", () => {});
      tooLarge.write("{");
      const [refusal] = (await once(tooLarge, "response")) as [IncomingMessage];
      assert.equal(refusal.statusCode, 413);
      const { code } = JSON.parse(await text(refusal));
      assert.equal(code, "CONTENT_TOO_LARGE", "the service refuses it, not the proxy");
      tooLarge.destroy();
    });

    test("all methods and long targets arrive", async (t) => {
      const { client } = await startBoth(t, proxy);
      const { headers } = await client.send("POST", "/articles", { name: "one" });
      const path = String(headers.location).replace("/api/v1", "");
      const patched = await client.send(
        "PATCH",
        path,
        { name: "two" },
        { "Content-Type": "application/merge-patch+json" },
      );
      assert.equal(JSON.parse(patched.text).name, "two");
      const query = await client.send("QUERY", "/articles", { filter: { name: "two" } });
      assert.equal(query.status, 200, query.text);
      const long = await client.send("GET", `/articles?name=${"x".repeat(7_000)}`);
      assert.equal(long.status, 200, long.text);
      assert.equal((await client.send("OPTIONS", path)).status, 204);
      assert.equal((await client.send("DELETE", path)).status, 205);
    });

    test("versions work: ETags are strong and the same, with 304 and 412", async (t) => {
      const { client, service } = await startBoth(t, proxy);
      const created = await client.send("POST", "/articles", { text: "x".repeat(5_000) });
      const path = String(created.headers.location).replace("/api/v1", "");
      const { id } = JSON.parse(created.text);
      const gzip = { "Accept-Encoding": "gzip" };
      const direct = await fetch(`${service.base}${path}`, {
        headers: { ...gzip, "X-Forwarded-Proto": "https" },
      });
      const through = await client.send("GET", path, undefined, gzip);
      assert.equal(through.headers.etag, direct.headers.get("etag"));
      assert.equal(through.headers.vary, direct.headers.get("vary"));
      assert.equal(through.headers["content-encoding"], "gzip");
      const plain = await client.send("GET", path);
      assert.equal(plain.headers["content-encoding"], undefined);
      assert.match(String(plain.headers.etag), /^"/);
      const etag = String(through.headers.etag);
      assert.equal(
        (await client.send("GET", path, undefined, { ...gzip, "If-None-Match": etag })).status,
        304,
      );
      assert.equal((await client.send("PUT", path, { id, text: "two" }, { "If-Match": etag })).status, 200);
      const late = await client.send("PUT", path, { id, text: "x".repeat(2_000_000) }, { "If-Match": etag });
      assert.equal(late.status, 412);
    });

    test("the rate limit counts the address of each client, whatever the client claims", async (t) => {
      const { client, port } = await startBoth(t, proxy);
      const other = clientOf(port, "127.0.0.3");
      assert.equal(remaining(await client.send("GET", "/articles")), 999);
      assert.equal(remaining(await other.send("GET", "/articles")), 999);
      for (const [index, claimed] of [
        "192.0.2.1",
        "127.0.0.3",
        "127.0.0.1",
        "192.0.2.1, 127.0.0.1",
      ].entries()) {
        const headers = { "X-Forwarded-For": claimed, Forwarded: `for=${claimed}` };
        assert.equal(
          remaining(await client.send("GET", "/articles", undefined, headers)),
          998 - index,
          claimed,
        );
      }
    });

    test("the service knows that the connection is encrypted, whatever the client claims", async (t) => {
      const { client, service } = await startBoth(t, proxy);
      assert.equal((await fetch(`${service.base}/articles`)).status, 403);
      const { status, headers } = await client.send("GET", "/articles", undefined, {
        "X-Forwarded-Proto": "http",
      });
      assert.equal(status, 200);
      assert.match(String(headers["strict-transport-security"]), /max-age/);
    });

    test("SIGTERM lets the service finish a request that has begun", async (t) => {
      const { client, service } = await startBoth(t, proxy);
      const stream = client.open("GET", "/articles/_events", { headers: { Accept: "text/event-stream" } });
      stream.end();
      const [events] = (await once(stream, "response")) as [IncomingMessage];
      const ended = answerOf(events);
      const begun = client.open("POST", "/articles", {
        headers: { Expect: "100-continue", "Content-Length": 9 },
      });
      begun.flushHeaders();
      await once(begun, "continue");
      begun.write('{"a":');
      let others = 0;
      await until("the request has reached the service", async () => {
        others++;
        return remaining(await client.send("GET", "/articles")) === 998 - others; // the stream and this request count too
      });
      service.process.kill("SIGTERM");
      await untilDeaf(service);
      begun.end("100}");
      const [response] = (await once(begun, "response")) as [IncomingMessage];
      assert.equal((await answerOf(response)).status, 201);
      assert.match((await ended).text, /^retry: \d+$/m);
      assert.equal((await service.ended).exitCode, 0);
      assert.equal((await client.send("GET", "/articles")).status, 502);
    });
  });
