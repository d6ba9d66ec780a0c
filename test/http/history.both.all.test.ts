import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { mendChecksums } from "../store/mend-checksums.ts";
import { nextMillisecond } from "../until.ts";
import { openBelow } from "./below.ts";
import { check, unknownId } from "./check.ts";
import { collections, gone, type Shown } from "./history-fixture.ts";
import { jsonType, type Service, startFor, startService, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ collections });

/** A resource with versions n: 1 … n: versions. */
async function raise(collection: string, versions: number) {
  const made = await service.create(collection, { n: 1 });
  for (let n = 2; n <= versions; n++) await put(made, n);
  return made;
}

async function put({ path, body }: { path: string; body: Record<string, unknown> }, n: number) {
  const answer = await service.send({ method: "PUT", path, content: { id: body.id, n } });
  assert.equal(answer.status, 200, answer.text);
}

const get = (path: string, headers = {}) => service.send({ path, headers });
const restore = (path: string, content: unknown, headers = {}) =>
  service.send({
    method: "POST",
    path: `${path}/_restore`,
    content,
    headers: { "Content-Type": jsonType, ...headers },
  });

describe("a version", () => {
  test("is given as it was, with its own ETag and Last-Modified", async () => {
    const { path, body } = await raise("topics", 3);
    const second = await get(`${path}?version=2`);
    check(second, {
      status: 200,
      headers: { ETag: '"2"', "Content-Type": jsonType, "Cache-Control": "no-cache" },
      json: { id: body.id, n: 2 },
    });
    const third = await get(`${path}?version=3`);
    assert.equal(third.text, (await get(path)).text);
    assert.equal(third.headers.etag, '"3"');
    const head = await service.send({ method: "HEAD", path: `${path}?version=2` });
    assert.deepEqual([head.status, head.headers.etag, head.text], [200, '"2"', ""]);
  });

  test("can be cut down and asked for under a condition", async () => {
    const { path, body } = await raise("topics", 3);
    await service.send({ method: "PATCH", path, content: { other: 1 } });
    assert.deepEqual((await get(`${path}?fields=n&version=4`)).json, { id: body.id, n: 3 });
    assert.deepEqual((await get(`${path}?version=4&fields=other`)).json, { id: body.id, other: 1 });
    check(await get(`${path}?fields=&version=4`), { status: 400, problem: "INVALID_PARAMETER" });
    check(await get(`${path}?version=2`, { "If-None-Match": '"2"' }), {
      status: 304,
      headers: { ETag: '"2"' },
    });
    assert.equal((await get(`${path}?version=2`, { "If-None-Match": '"3"' })).status, 200);
    check(await get(`${path}?version=2`, { "If-Match": '"3"' }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
    });
  });

  test("that never was is 404, and one that is none is refused", async () => {
    const { path } = await raise("topics", 2);
    for (const version of ["3", "999999999999999"]) check(await get(`${path}?version=${version}`), gone);
    check(await get(`/api/v1/topics/${unknownId}?version=1`), gone);
    for (const bad of [
      "version=0",
      "version=-1",
      "version=1.5",
      "version=",
      "version",
      "version=1&version=1",
      "version=1&at=2026-01-01",
      "version=1&q=x",
      "version=1&toString=2",
    ])
      check(await get(`${path}?${bad}`), { status: 400, problem: "INVALID_PARAMETER" });
    check(await service.send({ method: "DELETE", path: `${path}?version=1` }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  });
});

describe("a moment", () => {
  test("gives the resource as it was then, in each form of a date value", async () => {
    const { path, body } = await raise("topics", 1);
    await nextMillisecond();
    await put({ path, body }, 2);
    const changes = (await get(`${path}/_changes`)).json as Shown[];
    const [second, first] = changes.map(({ at }) => at) as [string, string];
    const nAt = async (at: string) => {
      const answer = await get(`${path}?at=${at}`);
      return answer.status === 200 ? (answer.json as { n: number }).n : answer.status;
    };
    assert.equal(await nAt(first), 1);
    assert.equal(await nAt(String(Date.parse(first))), 1);
    assert.equal(await nAt(String(Date.parse(second) - 1)), 1);
    assert.equal(await nAt(second), 2);
    assert.equal(await nAt(second.replace("Z", "%2B00:00")), 2);
    assert.equal(await nAt("2020-01-01T00:00Z"), 404);
    assert.equal(await nAt("2999-01-01"), 2);
    assert.equal(await nAt("2020-01-01"), 404);
    assert.equal(await nAt("-1"), 404);
    assert.equal((await get(`${path}?at=${first}`)).headers.etag, '"1"');
    for (const bad of ["yesterday", "", "2026-02-30", "2026-01-01T00:00:00", "1.5", "99999999999999999"])
      check(await get(`${path}?at=${bad}`), { status: 400, problem: "INVALID_PARAMETER" });
  });
});

describe("restoring", () => {
  test("writes an earlier version anew, as the next one", async () => {
    const { path, body } = await raise("topics", 3);
    const answer = await restore(path, { version: 1 });
    check(answer, {
      status: 200,
      headers: { ETag: '"4"', "Content-Location": path, Location: undefined },
      json: { id: body.id, n: 1 },
    });
    assert.equal((await get(path)).text, answer.text);
    assert.deepEqual((await get(`${path}?version=3`)).json, { id: body.id, n: 3 });
    const [last] = (await get(`${path}/_changes`)).json as Shown[];
    assert.deepEqual([last?.version, last?.kind], [4, "updated"]);
  });

  test("what is so already changes nothing", async () => {
    const { path } = await raise("topics", 2);
    check(await restore(path, { version: 2 }), { status: 200, headers: { ETag: '"2"' } });
    assert.equal(((await get(`${path}/_changes`)).json as Shown[]).length, 2);
  });

  test("brings a deleted resource back, whose history answers while it itself does not", async () => {
    for (const collection of ["topics", "counters"]) {
      const { path, body } = await raise(collection, 2);
      await service.send({ method: "DELETE", path });
      check(await get(path), gone);
      check(await get(`${path}?version=3`), gone);
      assert.deepEqual((await get(`${path}?version=2`)).json, { id: body.id, n: 2 });
      const changes = (await get(`${path}/_changes`)).json as Shown[];
      assert.deepEqual(
        changes.map(({ kind }) => kind),
        ["deleted", "updated", "created"],
      );
      const answer = await restore(path, { version: 1 });
      check(answer, {
        status: 201,
        headers: { ETag: '"4"', Location: path, "Content-Location": path },
        json: { id: body.id, n: 1 },
      });
      assert.equal((await get(path)).headers.etag, '"4"');
      await put({ path, body }, 9);
      assert.equal((await get(path)).headers.etag, '"5"');
    }
  });

  test("keeps to the preconditions of the request, as any write", async () => {
    const { path } = await raise("topics", 3);
    check(await restore(path, { version: 1 }, { "If-Match": '"2"' }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
    });
    check(await restore(path, { version: 1 }, { "If-Match": '"3"' }), { status: 200 });
    await service.send({ method: "DELETE", path });
    check(await restore(path, { version: 1 }, { "If-Match": "*" }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
    });
    check(await restore(path, { version: 1 }, { "If-None-Match": "*" }), { status: 201 });
  });

  test("happens once when many ask at once", async () => {
    const { path } = await raise("topics", 2);
    await service.send({ method: "DELETE", path });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => restore(path, { version: (n % 2) + 1 })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    const changes = (await get(`${path}/_changes`)).json as Shown[];
    const versions = changes.map(({ version }) => version);
    assert.deepEqual(
      versions,
      Array.from({ length: versions.length }, (_, n) => versions.length - n),
    );
  });

  test("refuses content that names no version, and finds none that never was", async () => {
    const { path } = await raise("topics", 2);
    for (const bad of [{}, { version: "1" }, { version: 0 }, { version: 1.5 }, { version: 1, force: true }])
      check(await restore(path, bad), { status: 400, problem: "INVALID_PARAMETER" });
    check(await restore(path, []), { status: 400, problem: "BODY_NOT_OBJECT" });
    check(await restore(path, { version: 9 }), gone);
    check(await restore(`/api/v1/topics/${unknownId}`, { version: 1 }), gone);
    check(await restore(`/api/v1/topics/${unknownId}`, { nonsense: true }), gone);
    check(await service.send({ method: "POST", path: `${path}/_restore` }), {
      status: 400,
      problem: "BODY_REQUIRED",
    });
  });

  test("takes content and gives an answer as any write does", async () => {
    const { path } = await raise("topics", 2);
    const version = { version: 1 };
    check(await restore(path, version, { Accept: "text/html" }), { status: 406, problem: "NOT_ACCEPTABLE" });
    check(await restore(path, version, { "Content-Type": "text/plain" }), {
      status: 415,
      problem: "UNSUPPORTED_MEDIA_TYPE",
    });
    check(await restore(path, { version: "1".repeat(1_100_000) }), {
      status: 413,
      problem: "CONTENT_TOO_LARGE",
    });
    check(await restore(path, version, { Prefer: "return=minimal" }), {
      status: 204,
      headers: { ETag: '"3"', "Preference-Applied": "return=minimal", "Content-Type": undefined },
    });
  });
});

test("a version that does not fit the schema of today is not restored", async (t) => {
  const schemaOf = (type: string) => ({
    notes: { schema: { type: "object", properties: { n: { type } } } as const },
  });
  const open = await startFor(t, { collections: schemaOf("integer") });
  const { path } = await open.create("notes", { n: 1 });
  const below = await openBelow(open.store);
  await open.send({ method: "PATCH", path, content: { n: 2 } });
  await below.run(
    `update ${below.table("changes_1")} set superseded = replace(superseded, '"n":1', '"n":"one"')`,
  );
  await mendChecksums(below);
  await below.close();
  const answer = await open.send({ method: "POST", path: `${path}/_restore`, content: { version: 1 } });
  check(answer, { status: 400, problem: "VALIDATION_FAILED" });
  assert.match(answer.text, /Version 1 cannot be restored\. \\"n\\" must be an integer/);
  assert.equal((await open.send({ path })).headers.etag, '"2"');
});

test("small patches of large resources take little space in the history, alone and in a batch", async (t) => {
  const open = await startFor(t, { collections: { notes: { timestamps: true } } });
  const pad = Array.from({ length: 30_000 }, (_, n) => `é${(n * 7_919) % 10_007}`).join(" ");
  const below = await openBelow(open.store);
  t.after(() => below.close());
  const table = below.table("changes_1");
  const sizeOf = async () =>
    Number(
      (await below.first(`select coalesce(sum(octet_length(superseded)), 0) as size from ${table}`)).size,
    );
  const paths: string[] = [];
  for (let n = 0; n < 8; n++) paths.push((await open.create("notes", { n, pad })).path);
  const operations = paths.map((path) => ({
    method: "PATCH",
    path: path.slice("/api/v1".length),
    body: { n: -1 },
  }));
  const headers = { Prefer: "return=minimal" };
  check(await open.send({ method: "POST", path: "/api/v1/_batch", content: { operations }, headers }), {
    status: 200,
  });
  assert.ok((await sizeOf()) < 8 * 500, `${await sizeOf()}`);
  const [path = ""] = paths;
  for (let n = 1; n <= 13; n++) await open.send({ method: "PATCH", path, content: { n } });
  assert.ok((await sizeOf()) < 21 * 500, `${await sizeOf()}`);
  const versions = await Promise.all(
    [1, 2, 9, 14].map((version) => open.send({ path: `${path}?version=${version}` })),
  );
  assert.deepEqual(
    versions.map(({ json }) => (json as { n: number; pad: string }).n),
    [0, -1, 7, 12],
  );
  for (const { json } of versions) assert.equal((json as { pad: string }).pad, pad);
});

test("without a history there is the current version and nothing else", async (t) => {
  const none = await startFor(t, { history: "none" });
  const { path, body } = await none.create("topics", { n: 1 });
  await none.send({ method: "PATCH", path, content: { n: 2 } });
  for (const gonePath of [`${path}/_changes`, `${path}?version=1`])
    check(await none.send({ path: gonePath }), gone);
  assert.deepEqual((await none.send({ path: `${path}?version=2` })).json, { ...body, n: 2 });
  assert.equal((await none.send({ path: `${path}?at=2999-01-01` })).status, 200);
  await none.send({ method: "DELETE", path });
  check(await none.send({ method: "POST", path: `${path}/_restore`, content: { version: 2 } }), gone);
});

test("each version has its own Last-Modified, and a restore makes a new one", async (t) => {
  let now = Date.UTC(2026, 0, 31, 8, 30);
  const clock = await startFor(t, { now: () => now });
  const { path } = await clock.create("topics", { n: 1 });
  now += 60_000;
  await clock.send({ method: "PATCH", path, content: { n: 2 } });
  now += 60_000;
  await clock.send({ method: "POST", path: `${path}/_restore`, content: { version: 1 } });
  now += 60_000;
  const times = [1, 2, 3].map(async (version) => {
    const { headers } = await clock.send({ path: `${path}?version=${version}` });
    return headers["last-modified"]?.slice(17, 25);
  });
  assert.deepEqual(await Promise.all(times), ["08:30:00", "08:31:00", "08:32:00"]);
  const then = await clock.send({ path: `${path}?at=2026-01-31T08:31:59.999Z` });
  check(then, { status: 200, headers: { ETag: '"2"', "Last-Modified": /08:31:00/ } });
  const since = { "If-Modified-Since": "Sat, 31 Jan 2026 08:31:30 GMT" };
  assert.equal((await clock.send({ path: `${path}?version=2`, headers: since })).status, 304);
  assert.equal((await clock.send({ path: `${path}?version=3`, headers: since })).status, 200);
});

test("where preconditions are required, a restore of what is there needs one, and of what is deleted none", async (t) => {
  const guarded = await startFor(t, { collections: { topics: { requirePreconditions: true } } });
  const { path } = await guarded.create("topics", { n: 1 });
  const send = (headers = {}) =>
    guarded.send({
      method: "POST",
      path: `${path}/_restore`,
      content: { version: 1 },
      headers: { "Content-Type": jsonType, ...headers },
    });
  check(await send(), { status: 428, problem: "PRECONDITION_REQUIRED" });
  check(await send({ "If-Match": '"1"' }), { status: 200, headers: { ETag: '"1"' } });
  await guarded.send({ method: "DELETE", path, headers: { "If-Match": '"1"' } });
  check(await send(), { status: 201, headers: { ETag: '"3"' } });
});

test("a restore that is repeated with its Idempotency-Key happens once", async () => {
  const { path } = await raise("topics", 2);
  await service.send({ method: "DELETE", path });
  const again = () => restore(path, { version: 1 }, { "Idempotency-Key": '"restore-once"' });
  const [first, second] = [await again(), await again()];
  assert.deepEqual([first.status, second.status, second.text], [201, 201, first.text]);
  assert.equal(((await get(`${path}/_changes`)).json as Shown[]).length, 4);
  check(await restore(path, { version: 2 }, { "Idempotency-Key": '"restore-once"' }), {
    status: 422,
    problem: "IDEMPOTENCY_KEY_REUSED",
  });
});

describe("a restore is held to what is declared, as any write", async () => {
  const text = { type: "string", maxLength: 128 } as const;
  const collections = {
    users: {},
    posts: {
      schema: { type: "object", properties: { slug: text, by: text, in: text } },
      unique: ["slug"],
      references: { by: "users", in: { collection: "posts", onDelete: "cascade" } },
    },
  } as const;
  let declared: Service;
  before(async () => {
    declared = await startService({ collections });
  });
  after(() => declared.stop());

  const idOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  const remove = async (path: string) =>
    check(await declared.send({ method: "DELETE", path }), { status: 205 });
  const patch = async (path: string, content: object) =>
    check(await declared.send({ method: "PATCH", path, content }), { status: 200 });
  const restoreTo = (path: string, version: number) =>
    declared.send({ method: "POST", path: `${path}/_restore`, content: { version } });

  test("a unique value that another resource has meanwhile is 409 with its place", async () => {
    const { path } = await declared.create("posts", { slug: "one" });
    await patch(path, { slug: "two" });
    const other = await declared.create("posts", { slug: "one" });
    const refused = {
      status: 409,
      problem: "UNIQUE_VIOLATION",
      violations: [{ in: "body", pointer: "#/slug", code: "unique" }],
    } as const;
    const answer = await restoreTo(path, 1);
    check(answer, refused);
    assert.match(
      answer.text,
      /Version 1 cannot be restored\. \\"slug\\" repeats the value of another resource\./,
    );
    check(await declared.send({ path }), { status: 200, headers: { ETag: '"2"' } });
    await remove(path);
    check(await restoreTo(path, 1), refused);
    check(await restoreTo(path, 2), { status: 201, headers: { ETag: '"4"' } });
    await remove(other.path);
    check(await restoreTo(path, 1), { status: 200, headers: { ETag: '"5"' } });
  });

  test("a reference to what is gone is 400 with its place", async () => {
    const user = await declared.create("users");
    const { path } = await declared.create("posts", { by: user.id });
    await patch(path, { by: null });
    await remove(user.path);
    const answer = await restoreTo(path, 1);
    const violations = [{ in: "body", pointer: "#/by", code: "reference" }] as const;
    check(answer, { status: 400, problem: "REFERENCE_NOT_FOUND", violations });
    assert.match(
      answer.text,
      /Version 1 cannot be restored\. \\"by\\" is not the id of an existing resource\./,
    );
    check(await restoreTo(user.path, 1), { status: 201 });
    check(await restoreTo(path, 1), { status: 200, json: { id: idOf(path), by: user.id } });
  });

  test("what a delete took with it comes back one by one, the one that is referred to first", async () => {
    const top = await declared.create("posts");
    const below = await declared.create("posts", { in: top.id });
    await remove(top.path);
    check(await declared.send({ path: below.path }), { status: 404 });
    check(await restoreTo(below.path, 1), { status: 400, problem: "REFERENCE_NOT_FOUND" });
    check(await restoreTo(top.path, 1), { status: 201 });
    check(await declared.send({ path: below.path }), { status: 404 });
    check(await restoreTo(below.path, 1), { status: 201, json: { id: below.id, in: top.id } });
  });
});

test("changes that were made together share a group, and its name reveals no number", async () => {
  const groups: unknown[] = [];
  for (let n = 0; n < 2; n++) {
    const operations = [1, 2].map((each) => ({ method: "POST", path: "/topics", body: { each } }));
    const answer = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    const { results } = answer.json as { results: { body: { id: string } }[] };
    for (const { body } of results) {
      const changes = await service.send({ path: `/api/v1/topics/${body.id}/_changes` });
      groups.push((changes.json as { group: string }[])[0]?.group);
    }
  }
  const [first, same, second] = groups;
  assert.match(String(first), /^[\w-]{12}$/);
  assert.equal(same, first);
  assert.notEqual(second, first);
});
