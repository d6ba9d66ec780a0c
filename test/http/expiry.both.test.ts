import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { machineTime } from "../until.ts";
import { auth, sendWith } from "./access/callers.ts";
import { startServiceForFile } from "./service.ts";
import { createSweepClock } from "./sweep-clock.ts";

const minute = 60_000;
const start = Date.parse("2026-03-01T12:00:00.000Z");
let now = start;
const { clock, sweep } = createSweepClock(() => now);

const date = { type: "string", format: "date-time" };
const text = { type: "string", maxLength: 100 };
const service = await startServiceForFile({
  showPrincipal: true,
  now: () => now,
  sweepClock: clock,
  collections: {
    sessions: {
      schema: {
        type: "object",
        properties: { name: text, code: text, level: { type: "integer" }, expiresAt: date },
        additionalProperties: false,
      },
      unique: ["code"],
      search: ["name"],
      expires: "expiresAt",
    },
    notes: {
      schema: {
        type: "object",
        properties: { title: text, sessionId: { type: ["string", "null"] } },
        additionalProperties: false,
      },
      references: { sessionId: { collection: "sessions", onDelete: "clear", inverse: "notes" } },
    },
    pins: {
      schema: {
        type: "object",
        properties: {
          noteId: { type: "string" },
          until: { type: ["string", "integer"], format: "date-value" },
        },
        additionalProperties: false,
      },
      references: { noteId: { collection: "notes", onDelete: "cascade", inverse: "pins" } },
      expires: "until",
    },
    parts: {
      schema: {
        type: "object",
        properties: { sessionId: { type: "string" } },
        additionalProperties: false,
      },
      references: { sessionId: { collection: "sessions", onDelete: "cascade", inverse: "parts" } },
    },
  },
});
const { send, create } = service;
const principalsOf = async (path: string) =>
  ((await send({ path: `${path}/_changes` })).json as { kind: string; principal?: string }[]).map(
    ({ kind, principal }) => `${kind} by ${principal ?? "-"}`,
  );
const at = (ms: number) => new Date(now + ms).toISOString();
const get = (path: string, headers: Record<string, string> = {}) =>
  send({ path: `/api/v1/${path}`, headers });
const idsOf = async (path: string) =>
  ((await get(path)).json as { id: string }[]).map(({ id }) => id).toSorted();

beforeEach(async () => {
  now += 24 * 60 * minute;
  await sweep();
});

describe("from the moment at which it expires", () => {
  it("a resource is 404 for reads and writes", async () => {
    const { path, id } = await create("sessions", { name: "a", expiresAt: at(minute) });
    now += minute - 1;
    const { headers, status } = await send({ path });
    assert.equal(status, 200);
    now += 1;
    for (const sent of [{}, { "if-none-match": headers.etag as string }])
      assert.equal((await send({ path, headers: sent })).status, 404);
    const patch = { "content-type": "application/merge-patch+json" };
    for (const request of [
      { method: "PUT", path, content: { id, name: "b" } },
      { method: "PATCH", path, content: { name: "b" }, headers: patch },
      { method: "DELETE", path },
      { method: "POST", path: `${path}/_restore`, content: { version: 1 } },
    ])
      assert.equal((await send(request)).status, 404, request.method);
    for (const below of ["/_changes", "?version=1", "/notes"])
      assert.equal((await send({ path: path + below })).status, 404, below);
  });

  it("lists, totals, figures, searches and counts leave it out, before it is deleted", async () => {
    const live = await create("sessions", { name: "apple live", level: 1, expiresAt: at(10 * minute) });
    const forever = await create("sessions", { name: "apple forever", level: 2 });
    await create("sessions", { name: "apple over", level: 4, expiresAt: at(minute) });
    assert.equal((await get("sessions")).headers["x-total-count"], "3");
    now += minute;
    const expected = [live.id, forever.id].toSorted();
    for (const query of [
      "",
      "?sort=-expiresAt",
      "?level:gte=1&sort=level",
      "?q=apple",
      "?limit=2&count=exact",
    ]) {
      assert.deepEqual(await idsOf(`sessions${query}`), expected, query);
      if (!query.startsWith("?q"))
        assert.equal((await get(`sessions${query}`)).headers["x-total-count"], "2", query);
    }
    const figures = (await get("sessions?aggregate=count,sum(level)")).json;
    assert.deepEqual(figures, [{ count: 2, "sum(level)": 3 }]);
    const body = { filter: { level: { gte: 1 } } };
    const queried = await send({ method: "QUERY", path: "/api/v1/sessions", content: body });
    assert.equal((queried.json as unknown[]).length, 2);
    const { collections } = (await get("_collections")).json as {
      collections: { name: string; count: number }[];
    };
    assert.equal(collections.find(({ name }) => name === "sessions")?.count, 2);
    const csv = await get("sessions", { accept: "text/csv" });
    assert.doesNotMatch(csv.text, /over/);
  });

  it("the entity tags of lists and figures change, and no kept page is sent", async () => {
    const { id } = await create("sessions", { name: "kept", expiresAt: at(minute) });
    for (const query of ["sessions?name=kept", "sessions", "sessions?aggregate=count"]) {
      for (let n = 0; n < 3; n++) await get(query);
    }
    const tags = await Promise.all(
      ["sessions?name=kept", "sessions", "sessions?aggregate=count"].map(async (path) => {
        const { headers } = await get(path);
        assert.equal((await get(path, { "if-none-match": headers.etag as string })).status, 304, path);
        return [path, headers.etag as string] as const;
      }),
    );
    now += minute;
    for (const [path, tag] of tags) {
      const answer = await get(path, { "if-none-match": tag });
      assert.equal(answer.status, 200, path);
      assert.doesNotMatch(answer.text, new RegExp(id), path);
      const again = await get(path, { "if-none-match": answer.headers.etag as string });
      assert.equal(again.status, 304, path);
    }
    await sweep();
    for (const [path, tag] of tags) assert.equal((await get(path, { "if-none-match": tag })).status, 200);
  });

  it("it counts as missing for embedding, related filters, sorts and groups", async () => {
    const { id } = await create("sessions", { name: "over", level: 5, expiresAt: at(minute) });
    const note = await create("notes", { title: "n", sessionId: id });
    const lists = [
      "notes?embed=session",
      "notes?session.name=over",
      "notes?aggregate=count&group=session.name",
    ];
    const seen = await Promise.all(lists.map(async (path) => (await get(path)).text));
    for (const each of seen) assert.match(each, /over|"n"/);
    await get("notes?embed=session");
    now += minute;
    const [embedded] = (await get("notes?embed=session")).json as [Record<string, unknown>];
    assert.deepEqual([embedded.session, embedded._hidden], [null, ["session"]]);
    const one = (await get(`notes/${note.id}?embed=session`)).json as Record<string, unknown>;
    assert.equal(one.session, null);
    assert.deepEqual(await idsOf("notes?session.name=over"), []);
    assert.deepEqual((await get("notes?aggregate=count&group=session.name")).json, [{ count: 1 }]);
    assert.deepEqual(await idsOf("notes?sort=session.level"), [note.id]);
    await send({ method: "DELETE", path: note.path });
  });

  it("what refers to a resource is embedded until it expires", async () => {
    const note = await create("notes", { title: "pinned" });
    const day = new Date(now + 2 * 24 * 60 * minute).toISOString().slice(0, 10);
    await create("pins", { noteId: note.id, until: day });
    const millis = await create("pins", { noteId: note.id, until: now + minute });
    const forever = await create("pins", { noteId: note.id });
    const pinned = async () => {
      const { pins } = (await get(`notes/${note.id}?embed=pins(sort:-until)`)).json as {
        pins: { id: string }[];
      };
      const nested = await idsOf(`notes/${note.id}/pins`);
      assert.deepEqual(nested, pins.map(({ id }) => id).toSorted());
      const matching = await idsOf(`notes?pins.noteId:exists=true`);
      assert.deepEqual(matching, pins.length > 0 ? [note.id] : []);
      return pins.length;
    };
    assert.equal(await pinned(), 3);
    now += minute;
    assert.equal(await pinned(), 2);
    assert.equal((await send({ path: millis.path })).status, 404);
    now = Date.parse(day) - 1;
    assert.equal(await pinned(), 2);
    now += 1;
    assert.equal(await pinned(), 1);
    await send({ method: "DELETE", path: note.path });
    assert.equal((await send({ path: forever.path })).status, 404);
  });

  it("no new reference can lead to it, but one that is there can stay", async () => {
    const { id } = await create("sessions", { expiresAt: at(minute) });
    const note = await create("notes", { title: "a", sessionId: id });
    now += minute;
    const refused = await send({ method: "POST", path: "/api/v1/notes", content: { sessionId: id } });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /REFERENCE_NOT_FOUND/);
    const kept = await send({
      method: "PATCH",
      path: note.path,
      content: { title: "b" },
      headers: { "content-type": "application/merge-patch+json" },
    });
    assert.equal(kept.status, 200);
    await sweep();
    assert.equal(((await send({ path: note.path })).json as { sessionId?: string }).sessionId, undefined);
    await send({ method: "DELETE", path: note.path });
  });
});

describe("the values of an expired resource are free", () => {
  it("a write that needs a unique value deletes its holder in the same commit", async () => {
    const holder = await create("sessions", { code: "x", expiresAt: at(minute) });
    const part = await create("parts", { sessionId: holder.id });
    const taken = await send({ method: "POST", path: "/api/v1/sessions", content: { code: "x" } });
    assert.equal(taken.status, 409);
    now += minute;
    const next = await create("sessions", { code: "x" });
    const [deletion, ...others] = (await send({ path: `${holder.path}/_changes` })).json as Record<
      string,
      unknown
    >[];
    assert.equal(deletion?.kind, "deleted");
    assert.equal(others.length, 1);
    const [creation] = (await send({ path: `${next.path}/_changes` })).json as Record<string, unknown>[];
    assert.ok(creation?.group !== undefined && creation.group === deletion.group);
    assert.equal(creation.principal, undefined);
    for (const gone of [holder.path, part.path])
      assert.deepEqual(await principalsOf(gone), ["deleted by system:expiry", "created by -"]);
    assert.equal((await send({ path: part.path })).status, 404);
  });

  it("a batch and a replace get them too", async () => {
    const one = await create("sessions", { code: "b1", expiresAt: at(minute) });
    const two = await create("sessions", { code: "b2", expiresAt: at(minute) });
    const other = await create("sessions", { code: "b3" });
    now += minute;
    const replaced = await send({ method: "PUT", path: other.path, content: { id: other.id, code: "b1" } });
    assert.equal(replaced.status, 200);
    const operations = [
      { method: "POST", path: "/sessions", body: { code: "b2" } },
      { method: "POST", path: "/sessions", body: { code: "b3" } },
    ];
    const batch = await send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    assert.equal(batch.status, 200, batch.text);
    for (const { path } of [one, two]) {
      const [last] = (await send({ path: `${path}/_changes` })).json as { kind: string }[];
      assert.equal(last?.kind, "deleted");
    }
  });

  it("a create with its id goes on above its version", async () => {
    const { path, id } = await create("sessions", { name: "old", expiresAt: at(minute) });
    const none = { "if-none-match": "*" };
    const content = { id, name: "new" };
    assert.equal((await send({ method: "PUT", path, content, headers: none })).status, 412);
    now += minute;
    const made = await send({ method: "PUT", path, content, headers: none });
    assert.equal(made.status, 201, made.text);
    assert.equal(made.headers.etag, '"3"');
  });

  it("an import gets them", async () => {
    await create("sessions", { code: "imported", expiresAt: at(minute) });
    now += minute;
    const answer = await send({
      method: "POST",
      path: "/api/v1/sessions/_import",
      headers: { "content-type": "application/x-ndjson" },
      body: '{"code":"imported"}\n',
    });
    assert.equal(answer.status, 200, answer.text);
  });
});

describe("the sweep", () => {
  it("deletes expired resources as system:expiry, with events, history and onDelete", async () => {
    const { id, path } = await create("sessions", { name: "swept", expiresAt: at(minute) });
    const part = await create("parts", { sessionId: id });
    const live = await create("sessions", { name: "stays", expiresAt: at(minute + 1) });
    now += minute;
    await sweep();
    for (const gone of [path, part.path]) {
      assert.deepEqual(await principalsOf(gone), ["deleted by system:expiry", "created by -"]);
      const [last] = (await send({ path: `${gone}/_changes` })).json as { kind: string; at: string }[];
      assert.equal(last?.kind, "deleted");
      assert.equal(last?.at, new Date(now).toISOString());
    }
    assert.equal((await send({ path: live.path })).status, 200);
    const events = await get("sessions/_events?since=start&limit=1000");
    assert.match(events.text, new RegExp(`sessions.deleted[^\n]*${id}|${id}[^\n]*sessions.deleted`));
    const deleted = await get(`sessions/_deleted?id=${id}`);
    assert.match(deleted.text, /swept/);
  });

  it("deletes more than one commit can", async () => {
    const operations = Array.from({ length: 250 }, (_, n) => ({
      method: "POST",
      path: "/sessions",
      body: { name: `many ${n}`, expiresAt: at(minute + n) },
    }));
    for (let n = 0; n < 250; n += 50) {
      const some = { operations: operations.slice(n, n + 50) };
      assert.equal((await send({ method: "POST", path: "/api/v1/_batch", content: some })).status, 200);
    }
    now += 2 * minute;
    assert.deepEqual(await idsOf("sessions?name:startsWith=many"), []);
    await sweep();
    const { text: deleted } = await get("sessions/_deleted?name:startsWith=many&limit=500&fields=name");
    assert.equal((JSON.parse(deleted) as unknown[]).length, 250);
  });

  it("leaves a resource whose date was moved in time", async () => {
    const { id, path } = await create("sessions", { expiresAt: at(minute) });
    now += minute - 1;
    await send({ method: "PUT", path, content: { id, expiresAt: at(minute) } });
    now += 1;
    await sweep();
    assert.equal((await send({ path })).status, 200);
  });
});

describe("the past", () => {
  it("a restore sets no new date, and says so", async () => {
    const { path } = await create("sessions", { name: "gone", expiresAt: at(minute) });
    now += minute;
    await sweep();
    const answer = await send({ method: "POST", path: `${path}/_restore`, content: { version: 1 } });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /Version 1 cannot be restored.*a restore sets no new date/);
    assert.equal((await send({ path: `${path}?version=1` })).status, 200);
  });

  it("a list as of a time has the resources that had not expired then", async () => {
    const { id } = await create("sessions", { name: "then", expiresAt: at(10 * minute) });
    now += 5 * minute;
    const then = at(0);
    now += 10 * minute;
    assert.deepEqual(await idsOf(`sessions?name=then&at=${then}`), [id]);
    assert.deepEqual(await idsOf(`sessions?name=then&at=${at(-minute)}`), []);
    await sweep();
    assert.deepEqual(await idsOf(`sessions?name=then&at=${then}`), [id]);
  });
});

const cards = await startServiceForFile({
  auth: { ...auth, administrators: [{ role: "ops" }] },
  now: () => now,
  sweepClock: createSweepClock(() => now).clock,
  collections: {
    cards: {
      schema: {
        type: "object",
        properties: { owner: { type: "string" }, until: date },
        additionalProperties: false,
      },
      attributes: { until: { roles: ["hr"] } },
      expires: "until",
      access: {
        read: [{ where: { owner: "$subject" } }, { role: "hr" }],
        write: { role: "hr" },
      },
    },
    passes: {
      schema: { type: "object", properties: { until: date } },
      expires: "until",
      access: { read: "public", write: { role: "hr" } },
    },
  },
});

describe("with rules", () => {
  const hr = { sub: "hans", roles: ["hr"] };
  const ada = { sub: "ada" };

  it("a list of some callers leaves it out too, and its tag changes", async () => {
    const make = (until: string) =>
      sendWith(cards, hr, { method: "POST", path: "/api/v1/cards", content: { owner: "ada", until } });
    now = machineTime();
    await make(at(minute));
    await make(at(2 * minute));
    const list = () => sendWith(cards, ada, { path: "/api/v1/cards" });
    const before = await list();
    assert.equal((before.json as unknown[]).length, 2);
    now += minute;
    const after = await list();
    assert.equal((after.json as unknown[]).length, 1);
    assert.notEqual(after.headers.etag, before.headers.etag);
  });

  it("only those who see the attribute learn its name", async () => {
    now = machineTime();
    const shown = async (who: Record<string, unknown>) => {
      const { json } = await sendWith(cards, who, { path: "/api/v1/_collections" });
      const [details] = (json as { collections: { expires?: string; indexes: string[][] }[] }).collections;
      return [details?.expires, details?.indexes];
    };
    assert.deepEqual(await shown(hr), ["until", [["until"]]]);
    assert.deepEqual(await shown(ada), [undefined, []]);
    const { paths } = (await cards.send({ path: "/openapi.json" })).json as {
      paths: Record<string, { get: { description: string } }>;
    };
    const told = (name: string) => paths[`/api/v1/${name}/{id}`]?.get.description;
    assert.match(told("cards") ?? "", /From the time in one of its attributes on/);
    assert.match(told("passes") ?? "", /From the time in `until` on/);
  });
});
