/** What bounds a rewind: who can send it, how far it can go back, how much it can change, and the headers of its request. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { machineTime, nextMillisecond } from "../until.ts";
import { auth, sendAs, sendWith } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Request, type Service, type ServiceOptions, startService } from "./service.ts";
import { openTestStore } from "./test-store.ts";

const path = "/api/v1/_rewind";
/** The clock of all services. */
let clock = Date.UTC(2026, 0, 2);

/** The test can stop the service before its end. */
async function start(t: TestContext, options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ now: () => clock, ...options });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop();
    return stopped;
  };
  t.after(stop);
  return { ...service, stop };
}

/** A store for several services, one after the other. */
async function openStore(t: TestContext) {
  const folder = makeFolder();
  const place = await openTestStore(folder);
  t.after(() => place.release());
  return { store: place.address };
}

/** A moment: everything before it is earlier, and everything after it is later. */
function moment(): string {
  clock += 1_000;
  return new Date(clock - 500).toISOString();
}

/** The same with the real clock. */
async function realMoment(): Promise<string> {
  const now = machineTime();
  await nextMillisecond();
  return new Date(now).toISOString();
}

const asked = (content: object, headers: Request["headers"] = {}): Request => ({
  method: "POST",
  path,
  content: { max: 1_000, ...content },
  headers,
});

describe("who can rewind", () => {
  const ops = { sub: "olga", roles: ["ops"] };

  test("with auth, administrators only; for all others the path does not exist", async (t) => {
    const service = await start(t, {
      now: machineTime, // tokens have real times
      auth: { ...auth, administrators: [{ role: "ops" }] },
      collections: { things: { access: { read: "public", write: "public" } } },
    });
    await service.create("things", { n: 0 });
    const content = { to: await realMoment(), collections: ["things"] };
    for (const method of ["POST", "GET", "PUT", "DELETE", "PATCH"]) {
      for (const who of [undefined, "ada"] as const) {
        const answer = await sendAs(service, who, { ...asked(content), method });
        assert.deepEqual([answer.status, answer.text], [404, ""], method);
        assert.equal(answer.headers.allow, undefined);
      }
      const scoped = { sub: "o", roles: ["ops"], scope: "things:write" };
      assert.equal((await sendWith(service, scoped, asked(content))).status, 404);
    }
    check(await sendAs(service, "bad", asked(content)), { status: 401, problem: "INVALID_TOKEN" });
    const { id } = await service.create("things", { n: 1 });
    assert.equal((await sendWith(service, ops, asked(content))).status, 200);
    check(await sendWith(service, ops, { path }), { status: 405, problem: "METHOD_NOT_ALLOWED" });
    const history = await sendWith(service, ops, { path: `/api/v1/things/${id}/_changes` });
    assert.match(history.text, /"kind":"deleted".*"principal":"olga"/);
  });

  test("with auth and without administrators, the path does not exist", async (t) => {
    const service = await start(t, { auth, collections: { things: { access: { write: "public" } } } });
    assert.equal((await service.send(asked({ to: "2026-01-01" }))).status, 404);
  });

  test("the response to a retry has no body after the rights of the caller have changed", async (t) => {
    const service = await start(t, {
      now: machineTime,
      auth: { ...auth, administrators: [{ subject: "olga" }] },
      collections: { things: { access: { read: { role: "ops" }, write: "public" } } },
    });
    await sendWith(service, ops, { method: "POST", path: "/api/v1/things", content: {} });
    const to = await realMoment();
    await sendWith(service, ops, { method: "POST", path: "/api/v1/things", content: {} });
    const request = asked({ to }, { "Idempotency-Key": "once" });
    assert.equal((await sendWith(service, ops, request)).status, 200);
    const again = await sendWith(service, { sub: "olga" }, request);
    assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [204, "true"]);
  });

  test("a read-only service refuses it with 503, also a dry run", async (t) => {
    const service = await start(t, { readOnly: true, collections: { things: {} }, seeds: { things: [] } });
    for (const dryRun of [false, true]) {
      const answer = await service.send(asked({ to: "2026-01-01", dryRun }), { mayFail: true });
      check(answer, { status: 503, problem: "UNAVAILABLE" });
    }
  });
});

describe("the request of a rewind", () => {
  test("has the headers of every POST", async (t) => {
    const service = await start(t, { limits: { bodyBytes: 1_000 } });
    await service.create("things", {});
    const content = { to: moment() };
    check(await service.send(asked(content, { Accept: "image/png" })), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send(asked({ ...content, collections: ["x".repeat(2_000)] })), {
      status: 413,
      problem: "CONTENT_TOO_LARGE",
    });
    const text = { method: "POST", path, body: "x", headers: { "Content-Type": "text/plain" } };
    check(await service.send(text), { status: 415, problem: "UNSUPPORTED_MEDIA_TYPE" });
    const keyed = { "Idempotency-Key": "k" };
    await service.create("things", {});
    assert.equal((await service.send(asked(content, keyed))).status, 200);
    check(await service.send(asked({ to: "2026-01-02" }, keyed)), {
      status: 422,
      problem: "IDEMPOTENCY_KEY_REUSED",
    });
    check(await service.send({ ...asked(content), path: `${path}?dryRun=true` }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
    const options = await service.send({ method: "OPTIONS", path });
    assert.deepEqual([options.status, options.headers.allow], [204, "POST, OPTIONS"]);
  });
});

describe("how far a rewind can go back", () => {
  test("not before the log of a collection, which the error names with the first possible time", async (t) => {
    const open = await openStore(t);
    const first = await start(t, open);
    await first.create("topics", { n: 1 });
    await first.create("users", { n: 1 });
    const then = moment();
    await first.stop();
    const without = await start(t, { ...open, history: "none" });
    check(await without.send(asked({ to: then })), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [
        {
          pointer: "#/to",
          code: "noHistory",
          detail: '"to" cannot be used: the service keeps no history. Restore a backup',
        },
      ],
    });
    await without.create("topics", { n: 2 });
    await without.stop();
    const later = moment();
    const service = await start(t, open);
    await service.create("topics", { n: 3 });
    const [begin, begun] = [new Date(clock).toISOString(), moment()];
    await service.create("topics", { n: 4 });
    const answer = await service.send(asked({ to: later, collections: ["topics"] }));
    const detail = `"to" is before the history of topics, which begins at ${begin}. Send a later time, or restore a backup`;
    check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{ code: "noHistory", detail }] });
    const { json } = await service.send(asked({ to: begun, collections: ["topics"] }));
    assert.equal((json as { deleted: number }).deleted, 1);
  });
});

describe("how much a rewind can change", () => {
  test("is limited by bytes, and the error says the way out", async (t) => {
    const service = await start(t, { limits: { rewindBytes: 20_000 } });
    for (const name of ["topics", "users"]) await service.create(name, {});
    const then = moment();
    await service.create("topics", { text: "x".repeat(10_000) });
    await service.create("users", { text: "x".repeat(9_000) });
    const larger = 'Send the header "Prefer: respond-async", and the rewind becomes a task.';
    const ways = "Choose a later time, rewind one collection at a time, or restore a backup.";
    const small = asked({ to: then });
    assert.equal((await service.send(asked({ to: then, dryRun: true }))).status, 200);
    await service.create("topics", {});
    const answer = await service.send(small);
    check(answer, { status: 413, problem: "CONTENT_TOO_LARGE" });
    assert.equal(
      (answer.json as { detail: string }).detail,
      `Nothing was rewound. More than 20000 bytes of resources would change, which is the limit of one commit. A larger "limits.rewind" raises it. ${larger} ${ways}`,
    );
    assert.equal((await service.send(asked({ to: then, collections: ["users"] }))).status, 200);
    await service.create("topics", { text: "x".repeat(10_000) });
    const one = await service.send(asked({ to: then, collections: ["topics"] }));
    assert.match((one.json as { detail: string }).detail, /Choose a later time, or restore a backup\.$/);
  });
});

describe("what does not fit today's schema", () => {
  test("is listed together with taken values and lost references, and nothing changes", async (t) => {
    const open = await openStore(t);
    const first = await start(t, open);
    const made = [
      await first.create("topics", { code: "a", n: "one" }),
      await first.create("topics", { code: "b", by: "nobody" }),
      await first.create("topics", { code: "a" }),
    ];
    await first.create("users", {});
    const then = moment();
    for (const each of made) await first.send({ method: "DELETE", path: each.path });
    await first.stop();
    const properties = {
      code: { type: "string", maxLength: 10 },
      by: { type: "string" },
      n: { type: "integer" },
    };
    const service = await start(t, {
      ...open,
      collections: {
        users: {},
        topics: {
          schema: { type: "object", properties },
          unique: ["code"],
          references: { by: "users" },
        },
      },
    });
    const answer = await service.send(asked({ to: then }));
    check(answer, { status: 409, problem: "REWIND_REFUSED", more: ["report"] });
    type Misfit = { id: string; code: string; pointer: string };
    const { report } = answer.json as { report: { misfits: { first: Misfit[] }; created: number } };
    const shown = report.misfits.first.map(({ id, code, pointer }) => `${id} ${code} ${pointer}`).sort();
    const [a, b, c] = made.map(({ id }) => id);
    assert.deepEqual(
      shown.slice().sort(),
      [`${a} type #/n`, `${b} reference #/by`, `${c} unique #/code`].sort(),
    );
    assert.equal(report.created, 3);
    assert.deepEqual((await service.send({ path: "/api/v1/topics" })).json, []);
  });

  test("the list ends after 50, and says so", async (t) => {
    const open = await openStore(t);
    const first = await start(t, open);
    for (let n = 0; n < 60; n++) await first.create("topics", { n: "x" });
    const then = moment();
    await first.send({
      method: "POST",
      path: "/api/v1/topics/_bulk",
      content: { all: true, delete: true, max: 100 },
    });
    await first.stop();
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const service = await start(t, { ...open, collections: { topics: { schema } } });
    const { json } = await service.send(asked({ to: then, dryRun: true }));
    const { misfits, created } = json as { misfits: { first: unknown[]; more: boolean }; created: number };
    assert.deepEqual([misfits.first.length, misfits.more, created], [50, true, 60]);
  });
});
