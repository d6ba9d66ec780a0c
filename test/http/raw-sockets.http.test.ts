import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { until } from "../until.ts";
import { parseAnswers } from "./connection.ts";
import { type Made, startService, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const victim = await service.create("topics", { title: "Untouched" });

const post = "POST /api/v1/smuggled HTTP/1.1\r\n";
const host = "Host: localhost\r\n";
const json = "Content-Type: application/json\r\n";

/** A request that must never be read out of another one's content. */
function hidden({ path }: Made): string {
  return `DELETE ${path} HTTP/1.1\r\n${host}\r\n`;
}

async function checkThere({ path }: Made): Promise<void> {
  const answer = await service.send({ path });
  assert.equal(answer.status, 200, "the hidden request was carried out");
}

/** Sends bytes. Returns everything that arrives until the service closes, or until it has responded to several other writes. */
async function exchange(bytes: string): Promise<string> {
  const connection = await service.connect();
  connection.write(bytes);
  const closed = connection.untilClosed().catch(() => {});
  await Promise.race([closed, othersWrite()]);
  connection.close();
  return connection.received;
}

/** Writes of others: what came before them is carried out and answered before them. */
async function othersWrite(): Promise<void> {
  for (let n = 0; n < 10; n++) await service.create("others");
}

test("what does not begin with a method is told so", async () => {
  for (const bytes of [`FOO /api/v1/topics HTTP/1.1\r\n${host}\r\n`, "\x16\x03\x01\x02\x00\x01"]) {
    const received = await exchange(bytes);
    assert.match(received, /^HTTP\/1\.1 400 /);
    assert.match(received, /"detail":"The request does not start with an HTTP method, such as GET\."/);
  }
});

const get = "GET /api/v1/topics HTTP/1.1\r\n";
const malformed: [what: string, bytes: () => string][] = [
  ["two Host lines", () => `${get}${host}Host: localhost\r\n\r\n`],
  ["two different Host lines", () => `${get}${host}Host: example.org\r\n\r\n`],
  ["no Host", () => `${get}\r\n`],
  ["a Host with blanks and signs", () => `${get}Host: a b/@\r\n\r\n`],
  ["a Host with a user", () => `${get}Host: user@localhost\r\n\r\n`],
  ["a Host with a path", () => `${get}Host: localhost/x\r\n\r\n`],
  [
    "Content-Length and Transfer-Encoding",
    () => framed("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
  ],
  [
    "Transfer-Encoding and Content-Length",
    () => framed("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
  ],
  ["two equal Content-Lengths", () => framed("Content-Length: 2\r\nContent-Length: 2\r\n", "{}")],
  ["two different Content-Lengths", () => framed("Content-Length: 2\r\nContent-Length: 9\r\n", "{}")],
  ["a Content-Length that is a list", () => framed("Content-Length: 2, 2\r\n", "{}")],
  ["a Content-Length with a sign", () => framed("Content-Length: +2\r\n", "{}")],
  ["a negative Content-Length", () => framed("Content-Length: -2\r\n", "{}")],
  ["a hexadecimal Content-Length", () => framed("Content-Length: 0x2\r\n", "{}")],
  ["a Content-Length with a fraction", () => framed("Content-Length: 2.0\r\n", "{}")],
  ["an empty Content-Length", () => framed("Content-Length:\r\n", "{}")],
  ["a Content-Length beyond 64 bits", () => framed("Content-Length: 99999999999999999999\r\n", "{}")],
  ["a blank before the colon", () => framed("Content-Length : 2\r\n", "{}")],
  ["a blank before the colon of Transfer-Encoding", () => framed("Transfer-Encoding : chunked\r\n")],
  ["a folded field", () => framed("X-Folded: a\r\n b\r\nContent-Length: 2\r\n", "{}")],
  ["a field without a colon", () => framed("Nonsense\r\nContent-Length: 2\r\n", "{}")],
  ["a field without a name", () => framed(": x\r\nContent-Length: 2\r\n", "{}")],
  ["a null character in a field", () => framed("X-Null: a\0b\r\nContent-Length: 2\r\n", "{}")],
  ["a bare CR in a field", () => framed("X-Bare: a\rb\r\nContent-Length: 2\r\n", "{}")],
  ["Transfer-Encoding: xchunked", () => framed("Transfer-Encoding: xchunked\r\n")],
  ["Transfer-Encoding: identity", () => framed("Transfer-Encoding: identity\r\n", "{}")],
  ["Transfer-Encoding: identity, chunked", () => framed("Transfer-Encoding: identity, chunked\r\n")],
  ["Transfer-Encoding: gzip, chunked", () => framed("Transfer-Encoding: gzip, chunked\r\n")],
  ["Transfer-Encoding: chunked, identity", () => framed("Transfer-Encoding: chunked, identity\r\n")],
  [
    "Transfer-Encoding: chunked twice",
    () => framed("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
  ],
  ["a chunk size that is none", () => chunked("zz\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size with 0x", () => chunked("0x2\r\n{}\r\n0\r\n\r\n")],
  ["a negative chunk size", () => chunked("-2\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size that overflows", () => chunked("fffffffffffffffff2\r\n{}\r\n0\r\n\r\n")],
  ["a chunk that is longer than its size", () => chunked("1\r\n{}\r\n0\r\n\r\n")],
  ["chunks that end with LF alone", () => chunked("2\n{}\n0\n\n")],
  ["a chunk extension with a bare LF", () => chunked("2;x\n\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size with a plus", () => chunked("+2\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size behind a blank", () => chunked(" 2\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size with an underscore", () => chunked("0_2\r\n{}\r\n0\r\n\r\n")],
  ["no size of a chunk", () => chunked("\r\n{}\r\n0\r\n\r\n")],
  ["a chunk that is shorter than its size", () => chunked("3\r\n{}\r\n0\r\n\r\n")],
  ["a chunk that ends with CR alone", () => chunked("2\r\n{}\r0\r\n\r\n")],
  ["a null character in a chunk extension", () => chunked("2;a=\0\r\n{}\r\n0\r\n\r\n")],
  ["a folded trailer", () => chunked("2\r\n{}\r\n0\r\nX: a\r\n b\r\n\r\n")],
  ["two Content-Lengths in a list of different ones", () => framed("Content-Length: 2, 9\r\n", "{}")],
  ["a Content-Length with a blank inside", () => framed("Content-Length: 2 0\r\n", "{}")],
  ["a Content-Length with an exponent", () => framed("Content-Length: 2e0\r\n", "{}")],
  ["a Content-Length with digits of another script", () => framed("Content-Length: \xb2\r\n", "{}")],
  ["Transfer-Encoding behind a form feed", () => framed("Transfer-Encoding: \x0cchunked\r\n")],
  ["Transfer-Encoding with a quoted coding", () => framed('Transfer-Encoding: "chunked"\r\n')],
  ["Transfer-Encoding with a parameter", () => framed("Transfer-Encoding: chunked;q=1\r\n")],
  ["an empty Transfer-Encoding", () => framed("Transfer-Encoding:\r\n", "{}")],
  ["Transfer-Encoding on a folded line", () => framed("Transfer-Encoding:\r\n chunked\r\n")],
  ["a null character in a field's name", () => framed("X\0Y: 1\r\nContent-Length: 2\r\n", "{}")],
  ["a line that ends with LF alone", () => `${post}${host}${json}Content-Length: 2\n\r\n{}`],
  ["lines that end with LF alone", () => "GET /api/v1/topics HTTP/1.1\nHost: localhost\n\n"],
  ["lines that end with CR alone", () => "GET /api/v1/topics HTTP/1.1\rHost: localhost\r\r"],
  ["a first field that begins with a blank", () => `${get} ${host}\r\n`],
  ["a null character in the target", () => `GET /api/v1/to\0pics HTTP/1.1\r\n${host}\r\n`],
  ["a method in lower case", () => `get /api/v1/topics HTTP/1.1\r\n${host}\r\n`],
  ["HTTP in lower case", () => `GET /api/v1/topics http/1.1\r\n${host}\r\n`],
  [
    "an absolute target and two hosts",
    () => `GET http://localhost/api/v1/topics HTTP/1.1\r\n${host}${host}\r\n`,
  ],
  ["an empty Host", () => `${get}Host:\r\n\r\n`],
  ["a Host that is a list", () => `${get}Host: localhost, example.org\r\n\r\n`],
  ["HTTP/1.2", () => `GET /api/v1/topics HTTP/1.2\r\n${host}\r\n`],
  ["HTTP/9.9", () => `GET /api/v1/topics HTTP/9.9\r\n${host}\r\n`],
  ["no version", () => `GET /api/v1/topics\r\n${host}\r\n`],
  ["the preface of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["a target with a blank", () => `GET /api/v1/to pics HTTP/1.1\r\n${host}\r\n`],
  ["no target", () => `GET  HTTP/1.1\r\n${host}\r\n`],
  ["two blanks before the target", () => `GET  /api/v1/topics HTTP/1.1\r\n${host}\r\n`],
  ["two blanks before the version", () => `GET /api/v1/topics  HTTP/1.1\r\n${host}\r\n`],
  ["RTSP in place of HTTP", () => `GET /api/v1/topics RTSP/1.0\r\n${host}\r\n`],
  ["bytes that are not HTTP", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
];

function framed(fields: string, content = "0\r\n\r\n"): string {
  return `${post}${host}${json}${fields}\r\n${content}`;
}

function chunked(chunks: string): string {
  return framed("Transfer-Encoding: chunked\r\n", chunks);
}

describe("a malformed request", () => {
  for (const [what, bytes] of malformed)
    test(`with ${what} is refused, and what follows it is not read as a request`, async () => {
      const target = await service.create("topics", {});
      const text = await exchange(bytes() + hidden(target));
      assert.match(text, /^HTTP\/1\.1 (400|501|505) /, `${JSON.stringify(text.slice(0, 300))}`);
      await checkThere(target);
      const answers = parseAnswers(text);
      assert.equal(answers.length, 1);
      assert.equal(answers[0]?.headers.connection?.toLowerCase(), "close");
    });

  test("creates nothing", async () => {
    const list = await service.send({ path: "/api/v1/smuggled" });
    assert.equal(list.text, "[]");
  });
});

describe("a request that is unusual, but sound", () => {
  test("may have its content in chunks, with extensions and trailers", async () => {
    const text = await service.raw(
      "POST /api/v1/chunks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n" +
        'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n{"a":\r\n2\r\n1}\r\n0\r\nX-Trailer: 1\r\n\r\n',
    );
    const [answer] = parseAnswers(text, "POST");
    assert.equal(answer?.status, 201);
    assert.equal(JSON.parse(answer?.body ?? "").a, 1);
  });

  test("in chunks without content is a create without content", async () => {
    const text = await service.raw(
      "POST /api/v1/chunks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n" +
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    const [answer] = parseAnswers(text, "POST");
    assert.equal(answer?.status, 400);
    assert.equal(JSON.parse(answer?.body ?? "").code, "BODY_REQUIRED");
  });

  test("may be HTTP/1.0", async () => {
    const text = await service.raw(`GET ${victim.path} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
    assert.match(text, /^HTTP\/1\.1 200 /);
  });

  test("of HTTP/1.0 without Host is none of our names", async () => {
    const text = await service.raw(`GET ${victim.path} HTTP/1.0\r\n\r\n`);
    assert.match(text, /^HTTP\/1\.1 4\d\d /);
  });

  test("may come byte by byte", async () => {
    const connection = await service.connect();
    for (const byte of `GET ${victim.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`) {
      connection.write(byte);
      await turn(); // the service reads it
    }
    assert.equal((await connection.answer()).status, 200);
    connection.close();
  });

  test("may have fields of any name and case", async () => {
    const connection = await service.connect();
    connection.write(
      `GET ${victim.path} HTTP/1.1\r\nHOST: localhost\r\n__proto__: x\r\nconstructor: y\r\nX-Obs: \xff\xfe\r\n` +
        'toString: z\r\nif-NONE-match: "7"\r\n\r\n',
    );
    assert.equal((await connection.answer()).status, 200);
    connection.close();
  });
});

describe("Expect", () => {
  const head = (path: string, more = "") =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 7\r\n${more}`;

  test("100-continue is answered before the content comes", async () => {
    const connection = await service.connect();
    connection.write(`${head("/api/v1/expected")}Content-Type: application/json\r\n\r\n`);
    assert.equal((await connection.answer("POST")).status, 100);
    connection.write('{"a":1}');
    assert.equal((await connection.answer("POST")).status, 201);
    connection.close();
  });

  for (const [what, bytes, status] of [
    ["an unknown path", `${head("/nowhere")}Content-Type: application/json\r\n\r\n`, 404],
    ["a wrong type", `${head("/api/v1/expected")}Content-Type: text/plain\r\n\r\n`, 415],
    ["a type that is not acceptable", `${head("/api/v1/expected")}${json}Accept: text/html\r\n\r\n`, 406],
  ] as const)
    test(`100-continue for ${what} is refused without asking for the content`, async () => {
      const connection = await service.connect();
      connection.write(bytes);
      assert.equal((await connection.answer("POST")).status, status);
      connection.close();
    });

  test("of anything else is a 417", async () => {
    for (const value of ["banana", "200-ok", "100-continue, x"]) {
      const connection = await service.connect();
      connection.write(`${post}${host}${json}Expect: ${value}\r\nContent-Length: 2\r\n\r\n{}`);
      const answer = await connection.answer("POST");
      assert.equal(answer.status, 417, value);
      assert.equal(JSON.parse(answer.body).code, "EXPECTATION_FAILED");
      assert.notEqual(answer.headers["x-request-id"], undefined);
      connection.close();
    }
  });
});

describe("requests that come one behind the other", () => {
  test("are answered in their order", async () => {
    const connection = await service.connect();
    const content = '{"n":1}';
    const create = `POST /api/v1/piped HTTP/1.1\r\n${host}${json}Content-Length: ${content.length}\r\n\r\n${content}`;
    const read = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
    connection.write(create + read(victim.path) + create + read("/nowhere") + read("/api/v1/topics?limit=0"));
    const statuses: number[] = [];
    for (const method of ["POST", "GET", "POST", "GET", "GET"])
      statuses.push((await connection.answer(method)).status);
    assert.deepEqual(statuses, [201, 200, 201, 404, 400]);
    connection.close();
  });

  test("are not mistaken for a malformed one behind them", async () => {
    const content = '{"n":1}';
    const create = `POST /api/v1/honest HTTP/1.1\r\n${host}${json}Content-Length: ${content.length}\r\n\r\n${content}`;
    const [first] = parseAnswers(await exchange(`${create}not HTTP at all\r\n\r\n`), "POST");
    const list = await service.send({ path: "/api/v1/honest" });
    // Without an answer the client knows that it knows nothing; a 400 says that nothing happened.
    if (list.text !== "[]" && first !== undefined) assert.equal(first.status, 201);
  });

  for (const [what, head] of [
    ["404", () => `PUT /api/v1/topics/nope HTTP/1.1\r\n${host}${json}`],
    ["405", () => `PUT /api/v1/topics HTTP/1.1\r\n${host}${json}`],
    ["406", () => `${post}${host}${json}Accept: text/html\r\n`],
    ["412", () => `PUT ${victim.path} HTTP/1.1\r\n${host}${json}If-Match: "7"\r\n`],
    ["415", () => `${post}${host}Content-Type: text/plain\r\n`],
    ["417", () => `${post}${host}${json}Expect: banana\r\n`],
    ["421", () => `${post}Host: example.org\r\n${json}`],
    ["400", () => `${post}${host}${json}`],
    ["205", () => `DELETE /api/v1/topics/nope HTTP/1.1\r\n${host}`],
  ] as const)
    test(`after content that a ${what} left alone are read where they begin`, async () => {
      const target = await service.create("topics", {});
      const content = hidden(target);
      for (const framing of [
        `Content-Length: ${content.length}\r\n\r\n${content}`,
        `Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`,
      ]) {
        const last = `GET /api/v1/topics/last HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
        const answers = parseAnswers(await service.raw(head() + framing + last));
        // Either the content is skipped and the next request answered, or the connection closed.
        assert.ok(answers.length <= 2, JSON.stringify(answers));
        if (answers[1] !== undefined) assert.equal(answers[1].status, 404);
        else assert.equal(answers[0]?.headers.connection?.toLowerCase(), "close");
        await checkThere(target);
      }
    });
});

/** RFC 9112 section 9.6: after "close", on either side, no further request of the connection is processed. */
describe("a request behind the last one of its connection", () => {
  // Node's parser may call bytes after "close" a malformed request before the good one is answered.
  for (const [what, bytes, statuses] of [
    ["one that asks to close", `${get}${host}Connection: close\r\n\r\n`, [200, 400]],
    ["one of HTTP/1.0", `GET /api/v1/topics HTTP/1.0\r\n${host}\r\n`, [200, 400]],
    ["one with too much content", `${post}${host}${json}Content-Length: 2000000\r\n\r\n`, [413]],
  ] as const)
    test(`(${what}) is neither answered nor carried out`, async () => {
      const target = await service.create("topics", {});
      const answers = parseAnswers(await service.raw(bytes + hidden(target)));
      assert.equal(answers.length, 1);
      assert.ok(statuses.some((status) => status === answers[0]?.status));
      await checkThere(target);
    });
});

describe("a client that goes away", () => {
  test("in the middle of its content leaves nothing behind", async () => {
    for (let n = 0; n < 20; n++) {
      const connection = await service.connect();
      connection.write(`POST /api/v1/aborted HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{"a":`);
      if (n % 2 === 0) await othersWrite();
      connection.close();
    }
    await othersWrite();
    assert.equal((await service.send({ path: "/api/v1/aborted" })).text, "[]");
  });

  test("before its answer does not disturb the others", async () => {
    for (let n = 0; n < 20; n++) {
      const connection = await service.connect();
      connection.write(`GET /api/v1/topics HTTP/1.1\r\n${host}\r\n`);
      connection.close();
    }
    await checkThere(victim);
  });
});

test("the second request of a connection is checked as the first one is", async () => {
  for (const [line, status] of [
    ["GET  /livez HTTP/1.1", 400],
    ["GET /livez RTSP/1.0", 400],
    ["GET /livez HTTP/1.1", 200],
  ] as const) {
    const connection = await service.connect();
    connection.write(`GET /livez HTTP/1.1\r\n${host}\r\n`);
    assert.equal((await connection.answer()).status, 200);
    connection.write(`${line}\r\n${host}X-Blanks:  two\r\n\r\n`);
    assert.equal((await connection.answer()).status, status, line);
    connection.close();
  }
});

describe("a text that looks like a request line", () => {
  const text = '{\r\n"note":"use POST /api/v1/quoted or GET /api/v1/quoted here"\r\n}';
  const head = `${host}${json}X-Blanks:  two\r\nContent-Length: ${text.length}\r\n\r\n`;
  const line = "POST /api/v1/quoted HTTP/1.1\r\n";

  test("in the content of its request, or of the one before it, is not mistaken for the line", async () => {
    for (const [packets, statuses] of [
      [[`${line}${head}${text}GET /api/v1/quoted HTTP/1.1\r\n${host}\r\n`], [201, 200]],
      [[line, `${head}${text}`], [201]],
      [["GET /livez HTTP/1.1\r\n", `${host}X-Blanks:  GET /livez then\r\n\r\n`], [200]],
    ] as const) {
      const connection = await service.connect();
      for (const packet of packets) {
        connection.write(packet);
        await othersWrite(); // the service reads the packets one by one
      }
      connection.end();
      assert.deepEqual(statusesOf(await connection.untilClosed()), statuses, packets.join("|"));
    }
  });
});

describe("a client that closes its sending side", () => {
  const create = (collection: string, content: string, length = content.length) =>
    `POST /api/v1/${collection} HTTP/1.1\r\n${host}${json}Content-Length: ${length}\r\n\r\n${content}`;
  const read = (path: string, fields = "") => `GET ${path} HTTP/1.1\r\n${host}${fields}\r\n`;

  /** Sends bytes, closes this side, and returns everything that arrives until the service closes. */
  async function sendAll(bytes: string): Promise<string> {
    const connection = await service.connect();
    connection.write(bytes);
    connection.end();
    return connection.untilClosed();
  }

  test("gets the answer to a whole request, and then the close", async () => {
    const texts = await Promise.all(
      Array.from({ length: 10 }, (_, n) => sendAll(create("ended", `{"n":${n}}`))),
    );
    for (const text of texts) assert.deepEqual(statusesOf(text), [201]);
    assert.deepEqual(statusesOf(await sendAll(read("/api/v1/ended?limit=5"))), [200]);
    assert.equal((await service.send({ path: "/api/v1/ended" })).headers["x-total-count"], "10");
  });

  test("gets the answers to all its requests, in their order", async () => {
    const upgrade = "Connection: Upgrade\r\nUpgrade: h2c\r\n";
    const text = await sendAll(
      create("row", '{"n":1}') +
        read("/nowhere") +
        read("/livez", upgrade) +
        create("row", "{") +
        read("/api/v1/row"),
    );
    assert.deepEqual(statusesOf(text), [201, 404, 200, 400, 200]);
    assert.match(text, /"n":1/);
    assert.deepEqual(statusesOf(await sendAll(read("/livez", upgrade))), [200]);
  });

  test("in the middle of a request gets a 400, and nothing is stored", async () => {
    for (const bytes of [
      create("cut", '{"n":', 7),
      "GET /api/v1/cut HTT",
      `POST /api/v1/cut HTTP/1.1\r\n${host}`,
    ]) {
      const text = await sendAll(read("/livez") + bytes);
      assert.deepEqual(statusesOf(text), [200, 400]);
      assert.match(text, /The connection closed before the request was complete/);
    }
    assert.equal((await service.send({ path: "/api/v1/cut" })).text, "[]");
  });

  test("without a request is closed, too", async () => {
    assert.equal(await sendAll(""), "");
  });

  test("ends its stream of events, and its wait for events", async () => {
    await service.create("followed", { n: 1 });
    const path = "/api/v1/followed/_events?since=start";
    const connection = await service.connect();
    connection.write(read(path, "Accept: text/event-stream\r\n"));
    await until("the first event has arrived", () => connection.received.includes("followed.created"));
    connection.end();
    assert.match(await connection.untilClosed(), /\r\n0\r\n\r\n$/, "the stream is complete");
    const [page] = parseAnswers(await sendAll(read("/api/v1/followed/_events?since=now&wait=30")));
    assert.deepEqual([page?.status, page?.body], [200, "[]"]);
  });

  test("gets its answer also from a service that stops", async () => {
    const other = await startService({ drainDelayMs: 0 });
    const connection = await other.connect();
    connection.write(create("last", '{"n":1}'));
    connection.end();
    await other.stop({ keepConnections: true });
    assert.deepEqual(statusesOf(await connection.untilClosed()), [201]);
  });
});

function statusesOf(text: string): number[] {
  return parseAnswers(text).map(({ status }) => status);
}
