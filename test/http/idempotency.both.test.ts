import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machineTime } from "../until.ts";
import { openBelow } from "./below.ts";
import { check, unknownId } from "./check.ts";
import { type Answer, jsonType, type Request, startServiceForFile } from "./service.ts";

const day = 24 * 60 * 60 * 1_000;
const topics = "/api/v1/topics";

let now = machineTime(); // stores sweep by the clock on the wall
const service = await startServiceForFile({ now: () => now, limits: { bodyBytes: 1_048_576 } });
await service.create("topics", { title: "the first" });

let keys = 0;
const newKey = () => `"key-${++keys}"`;

const create = (key: string, content: unknown = { title: "one" }, path = topics): Request => ({
  method: "POST",
  path,
  headers: { "Idempotency-Key": key },
  content,
});

function patch(path: string, key: string, content: unknown, headers: Record<string, string> = {}): Request {
  const type = { "Content-Type": "application/merge-patch+json" };
  return { method: "PATCH", path, headers: { ...type, "Idempotency-Key": key, ...headers }, content };
}

/** The parts of a response that a replay repeats. */
function lasting({ status, headers, text }: Answer): unknown {
  const { date, "x-request-id": id, "idempotent-replayed": replayed, ...others } = headers;
  return { status, headers: others, text };
}

function requireReplay(replayed: Answer, first: Answer): void {
  assert.equal(first.headers["idempotent-replayed"], undefined);
  assert.equal(replayed.headers["idempotent-replayed"], "true");
  assert.notEqual(replayed.headers["x-request-id"], first.headers["x-request-id"]);
  assert.deepEqual(lasting(replayed), lasting(first));
}

async function total(collection = topics): Promise<number> {
  const { headers } = await service.send({ path: `${collection}?limit=1` });
  return Number(headers["x-total-count"]);
}

/** How many changes of a collection were logged. */
async function changesIn(name: string): Promise<unknown> {
  const below = await openBelow(service.store);
  try {
    const { number } = await below.first(
      `select number from ${below.table("collections")} where name = '${name}'`,
    );
    return (await below.first(`select count(*) as changes from ${below.table(`changes_${number}`)}`)).changes;
  } finally {
    await below.close();
  }
}

describe("a key makes of many requests one effect", () => {
  test("a create is answered again as it was, with its Location and ETag, and happens once", async () => {
    const before = await total();
    const request = create(newKey(), { title: "é ".repeat(3) });
    const first = await service.send(request);
    check(first, { status: 201, headers: { ETag: '"1"', Location: /^\/api\/v1\/topics\// } });
    await service.send(patch(first.headers.location as string, newKey(), { title: "changed meanwhile" }));
    const again = await service.send(request);
    check(again, { status: 201, headers: { "Idempotent-Replayed": "true" } });
    requireReplay(again, first);
    assert.equal(await total(), before + 1);
  });

  test("a patch is answered again as it was, and happens once; If-Match is not judged anew", async () => {
    const made = await service.create("topics", { n: 1 });
    const request = patch(made.path, newKey(), { n: 2 }, { "If-Match": '"1"' });
    const first = await service.send(request);
    check(first, { status: 200, headers: { ETag: '"2"' }, json: { id: made.id, n: 2 } });
    requireReplay(await service.send(request), first);
    assert.equal((await service.send({ path: made.path })).headers.etag, '"2"');
  });

  test("a patch that changes nothing is answered again as well, whatever became of the resource", async () => {
    const made = await service.create("topics", { n: 1 });
    const request = patch(made.path, newKey(), { n: 1 });
    const first = await service.send(request);
    check(first, { status: 200, headers: { ETag: '"1"' } });
    await service.send({ method: "DELETE", path: made.path });
    requireReplay(await service.send(request), first);
  });

  test("of 50 requests at once one takes effect, and the others get its answer or are asked to wait", async () => {
    await service.create("crowd");
    const request = create(newKey(), { title: "crowd" }, "/api/v1/crowd");
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.send(request)));
    const firsts = answers.filter(
      ({ status, headers }) => status === 201 && headers["idempotent-replayed"] === undefined,
    );
    assert.equal(firsts.length, 1);
    for (const answer of answers) {
      if (answer.status === 201) assert.equal(answer.text, firsts[0]?.text);
      else
        check(answer, { status: 409, headers: { "Retry-After": "1" }, problem: "IDEMPOTENCY_IN_PROGRESS" });
    }
    assert.equal(await total("/api/v1/crowd"), 2);
    assert.equal(await changesIn("crowd"), 2);
    requireReplay(await service.send(request), firsts[0] as Answer);
  });

  test("retries at once all get the kept answer, and none is asked to wait", async () => {
    const request = create(newKey(), { title: "kept", text: "x".repeat(10_000) });
    const first = await service.send(request);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => service.send(request)));
      for (const answer of answers) requireReplay(answer, first);
    }
    const other = create(String(request.headers?.["Idempotency-Key"]), { title: "other" });
    const mixed = await Promise.all([request, other, request, other].map((each) => service.send(each)));
    assert.deepEqual(
      mixed.map(({ status }) => status),
      [201, 422, 201, 422],
    );
  });

  test("50 requests at once that patch one resource with one key are one change", async () => {
    const made = await service.create("topics", { list: [] });
    const append: Request = {
      method: "PATCH",
      path: made.path,
      headers: { "Content-Type": "application/json-patch+json", "Idempotency-Key": newKey() },
      body: '[{"op":"add","path":"/list/-","value":1}]',
    };
    await Promise.all(Array.from({ length: 50 }, () => service.send(append)));
    const after = await service.send({ path: made.path });
    assert.equal(after.headers.etag, '"2"');
    assert.deepEqual((after.json as { list: unknown }).list, [1]);
  });

  test("an answer of a megabyte is kept whole", async () => {
    const request = create(newKey(), { text: `é${"\u0001".repeat(170_000)}` });
    const first = await service.send(request);
    assert.equal(first.status, 201);
    requireReplay(await service.send(request), first);
  });

  test("a first request in a new collection of open mode is one effect too", async () => {
    const request = create(newKey(), {}, "/api/v1/fresh");
    const answers = await Promise.all([service.send(request), service.send(request)]);
    assert.deepEqual(
      answers.map(({ status }) => status).filter((status) => status !== 409),
      answers.some(({ status }) => status === 409) ? [201] : [201, 201],
    );
    assert.equal(await total("/api/v1/fresh"), 1);
  });
});

describe("what a key stands for", () => {
  test("another content, or the same as another type, is 422 and has no effect", async () => {
    const made = await service.create("topics", { n: 0 });
    const key = newKey();
    await service.send(patch(made.path, key, { n: 1 }));
    const others = [
      patch(made.path, key, { n: 2 }),
      patch(made.path, key, { n: 1 }, { "Content-Type": "application/json" }),
      { ...patch(made.path, key, undefined), body: '{"n": 1}' },
    ];
    for (const other of others)
      check(await service.send(other), { status: 422, problem: "IDEMPOTENCY_KEY_REUSED" });
    assert.equal((await service.send({ path: made.path })).headers.etag, '"2"');
  });

  test("two keys are two effects, and so are two paths and two methods with one key", async () => {
    const before = await total();
    const key = newKey();
    const answers = [await service.send(create(key)), await service.send(create(newKey()))];
    const [a, b] = answers.map(({ headers }) => headers.location as string) as [string, string];
    assert.notEqual(a, b);
    assert.equal(await total(), before + 2);
    answers.push(await service.send(create(key, { title: "one" }, "/api/v1/others")));
    for (const path of [a, b]) {
      const answer = await service.send(patch(path, key, { title: "two" }));
      assert.equal(answer.status, 200);
      answers.push(answer);
    }
    for (const { headers } of answers) assert.equal(headers["idempotent-replayed"], undefined);
  });

  test("a key is the same bare and quoted, and a path is the same however it is spelled", async () => {
    const first = await service.send(create("spelled"));
    requireReplay(await service.send(create('"spelled"')), first);
    requireReplay(await service.send(create("spelled", { title: "one" }, `${topics}/`)), first);
    requireReplay(await service.send(create("spelled", { title: "one" }, "/api/v1/t%6Fpics")), first);
    const escaped = await service.send(create('"a\\"b\\\\c"'));
    requireReplay(await service.send(create('a"b\\c')), escaped);
  });

  test("PUT and DELETE ignore it, also a malformed one", async () => {
    const made = await service.create("topics", { n: 0 });
    const headers = { "Idempotency-Key": '"not' };
    const put = (n: number) => ({ method: "PUT", path: made.path, headers, content: { id: made.id, n } });
    assert.equal((await service.send(put(1))).headers.etag, '"2"');
    assert.equal((await service.send(put(2))).headers.etag, '"3"');
    assert.equal((await service.send({ method: "DELETE", path: made.path, headers })).status, 205);
    assert.equal((await service.send({ method: "DELETE", path: made.path, headers })).status, 404);
  });

  for (const key of [
    "",
    '"',
    '""',
    '"open',
    "a b",
    '"a"; b=1',
    '"\\n"',
    "caf\u00e9",
    "x".repeat(256),
    `"${"x".repeat(256)}"`,
  ]) {
    test(`${JSON.stringify(key.slice(0, 20))} (${key.length} characters) is not a key`, async () => {
      const before = await total();
      check(await service.send(create(key)), {
        status: 400,
        problem: "IDEMPOTENCY_KEY_INVALID",
        violations: [{ in: "header", name: "Idempotency-Key" }],
      });
      assert.equal(await total(), before);
    });
  }

  test("two keys in one request are none", async () => {
    const request = { ...create("x"), headers: { "Idempotency-Key": ['"a"', '"b"'] } };
    check(await service.send(request), { status: 400, problem: "IDEMPOTENCY_KEY_INVALID" });
  });

  for (const key of ["x".repeat(255), `"${"x".repeat(255)}"`, '" "', "!~", "a,b"]) {
    test(`${JSON.stringify(key.slice(0, 20))} (${key.length} characters) is a key`, async () => {
      assert.equal((await service.send(create(key))).status, 201);
    });
  }
});

describe("what failed may run again", () => {
  test("a refusal is not kept: the same request succeeds once it can", async () => {
    const made = await service.create("topics", { n: 0 });
    const request = patch(made.path, newKey(), { n: 1 }, { "If-Match": '"2"' });
    check(await service.send(request), { status: 412, problem: "PRECONDITION_FAILED" });
    await service.send(patch(made.path, newKey(), { other: true }));
    check(await service.send(request), { status: 200, headers: { "Idempotent-Replayed": undefined } });
    check(await service.send(request), { status: 200, headers: { "Idempotent-Replayed": "true" } });
  });

  test("after a refused request the key may be used for another content", async () => {
    const key = newKey();
    check(await service.send({ ...create(key), content: [] }), { status: 400, problem: "BODY_NOT_OBJECT" });
    check(await service.send(create(key)), { status: 201 });
  });
});

describe("which answer wins", () => {
  const bad = { "Idempotency-Key": '"' };
  const cases: [string, Request, number][] = [
    ["an unknown path before the key", { method: "POST", path: "/nowhere", headers: bad, content: {} }, 404],
    [
      "a wrong method before the key",
      { method: "POST", path: `${topics}/x`, headers: bad, content: {} },
      405,
    ],
    [
      "Content-Type before the key",
      { method: "POST", path: topics, headers: { ...bad, "Content-Type": "text/plain" }, body: "x" },
      415,
    ],
    [
      "Accept before the key",
      { method: "POST", path: topics, headers: { ...bad, Accept: "text/html" }, content: {} },
      406,
    ],
    [
      "a parameter before the key",
      { method: "POST", path: `${topics}?_x=1`, headers: bad, content: {} },
      400,
    ],
    ["the key before the lookup", patch(`${topics}/${unknownId}`, '"', {}), 400],
    ["the key before a missing content", { method: "POST", path: topics, headers: bad }, 400],
    [
      "the lookup before a missing content",
      { method: "PATCH", path: `${topics}/${unknownId}`, headers: { "Idempotency-Key": "k" } },
      404,
    ],
    [
      "the lookup before a malformed content",
      { ...patch(`${topics}/${unknownId}`, "k", undefined), body: "{" },
      404,
    ],
  ];
  for (const [name, request, status] of cases) {
    test(name, async () => {
      const answer = await service.send(request);
      assert.equal(answer.status, status, answer.text);
      if (name.startsWith("the key")) check(answer, { status, problem: "IDEMPOTENCY_KEY_INVALID" });
      if (name.startsWith("a parameter")) check(answer, { status, problem: "INVALID_PARAMETER" });
    });
  }

  test("content over the limit, sent in chunks, before the lookup, since the key needs it", async () => {
    const connection = await service.connect();
    connection.write(
      `PATCH ${topics}/${unknownId} HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\n` +
        `Content-Type: ${jsonType}\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n${"x".repeat(0x200000)}\r\n0\r\n\r\n`,
    );
    assert.match(await connection.untilClosed(), /^HTTP\/1\.1 413 /);
  });

  test("a missing content is told as without a key", async () => {
    const request = { method: "POST", path: topics, headers: { "Idempotency-Key": newKey() } };
    check(await service.send(request), { status: 400, problem: "BODY_REQUIRED" });
  });
});

describe("how long a key is kept", () => {
  test("24 hours, by the clock of the service", async () => {
    const request = create(newKey());
    const first = await service.send(request);
    now += day - 1;
    requireReplay(await service.send(request), first);
    now += 1;
    const later = await service.send(request);
    check(later, { status: 201, headers: { "Idempotent-Replayed": undefined } });
    assert.notEqual(later.headers.location, first.headers.location);
    requireReplay(await service.send(request), later);
  });
});

describe("an answer that is too large to be kept", () => {
  test("is told of with the address of what was made, and nothing happens twice", async () => {
    const before = await total();
    const request = create(newKey(), { text: '"'.repeat(524_270) });
    const first = await service.send(request);
    check(first, { status: 201 });
    const again = await service.send(request);
    check(again, {
      status: 409,
      problem: "ANSWER_NOT_KEPT",
      headers: { Location: first.headers.location as string },
    });
    check(await service.send({ ...request, content: {} }), {
      status: 422,
      problem: "IDEMPOTENCY_KEY_REUSED",
    });
    assert.equal(await total(), before + 1);
  });
});
