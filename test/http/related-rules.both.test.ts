/** Rules that look at related resources, and rules that compare two attributes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { machineTime, until } from "../until.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const pair = createPair("EdDSA");
const text = { type: "string" } as const;
const at = { type: "string", format: "date-time" } as const;
const open = { "event.status": "open", seat: { lte: { attribute: "event.seats" } } };
let clock = machineTime();

const service = await startServiceForFile({
  now: () => clock,
  auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "admin" }] },
  collections: {
    clubs: {
      schema: { properties: { isActive: { type: "boolean" }, ownerId: text } },
      access: { read: "public", write: { role: "admin" } },
    },
    events: {
      schema: {
        properties: {
          status: text,
          seats: { type: "integer" },
          clubId: text,
          ownerId: text,
          endsAt: at,
          title: text,
        },
      },
      references: { clubId: "clubs" },
      expires: "endsAt",
      access: { read: [{ where: { title: { ne: "secret" } } }, { role: "admin" }], write: { role: "admin" } },
    },
    bookings: {
      schema: {
        properties: { eventId: text, roomId: text, seat: { type: "integer" }, member: text, note: text },
      },
      references: {
        eventId: { collection: "events", onDelete: "cascade" },
        roomId: { collection: "rooms", inverse: "bookings" },
      },
      access: {
        read: [
          { where: { member: "$subject" } },
          { where: { "event.ownerId": "$subject" } },
          { role: "admin" },
        ],
        create: { where: open },
        update: [{ where: { ...open, member: "$subject" } }, { role: "admin" }],
        delete: { where: { "event.club.isActive": true, "event.status": { ne: "frozen" } } },
      },
    },
    rooms: { access: { read: "authenticated", write: { role: "admin" } } },
    nodes: {
      schema: { properties: { parentId: text, status: text } },
      references: { parentId: { collection: "nodes", as: "parent" } },
      access: {
        read: "authenticated",
        create: [{ role: "admin" }, { where: { "parent.status": "open" } }],
        update: { where: { "parent.status": "open" } },
      },
    },
    shifts: {
      schema: { properties: { eventId: text, fromAt: at, toAt: at, lead: text, deputy: text } },
      references: { eventId: { collection: "events", onDelete: "cascade" } },
      access: {
        read: [{ where: { not: { "event.status": "closed" } } }, { role: "admin" }],
        write: [
          {
            where: {
              fromAt: { lt: { attribute: "toAt" } },
              toAt: { lte: { attribute: "event.endsAt" } },
              not: { lead: { eq: { attribute: "deputy" } } },
            },
          },
          { role: "admin" },
        ],
      },
    },
  },
});

const as = (sub: string, ...roles: string[]) => ({
  authorization: `Bearer ${tokenOf(pair, claimsAt(clock, { sub, roles }))}`,
});
const admin = as("root", "admin");
const ada = as("ada");
const bob = as("bob");
const path = (rest: string) => `/api/v1/${rest}`;

async function make(collection: string, content: object, headers = admin): Promise<string> {
  const answer = await service.send({ method: "POST", path: path(collection), content, headers });
  assert.equal(answer.status, 201, answer.text);
  return String((answer.json as { id: string }).id);
}

function patch(name: string, content: object, headers = admin): Promise<Answer> {
  return service.send({
    method: "PATCH",
    path: path(name),
    content,
    headers: { ...headers, "content-type": "application/merge-patch+json" },
  });
}

async function change(name: string, content: object): Promise<void> {
  const answer = await patch(name, content);
  assert.equal(answer.status, 200, answer.text);
}

const later = () => new Date(clock + 3_600_000).toISOString();
const club = await make("clubs", { isActive: true, ownerId: "carl" });
const newEvent = (more: object = {}) =>
  make("events", {
    status: "open",
    seats: 2,
    clubId: club,
    ownerId: "eve",
    endsAt: later(),
    title: "a",
    ...more,
  });
const book = (content: object, headers = ada) =>
  service.send({ method: "POST", path: path("bookings"), content: { member: "ada", ...content }, headers });

function codeOf(answer: Answer): string {
  return `${answer.status} ${(answer.json as { code?: string } | undefined)?.code ?? ""}`.trim();
}

test("a create needs the related resource as the rule says, and says nothing about it", async () => {
  const eventId = await newEvent();
  assert.equal(codeOf(await book({ eventId, seat: 2 })), "201");
  const refused = await book({ eventId, seat: 3 });
  assert.equal(codeOf(refused), "403 INSUFFICIENT_SCOPE");
  assert.match(
    (refused.json as { detail: string }).detail,
    / The rule depends on "seat" and related resources\.$/,
  );
  assert.doesNotMatch((refused.json as { detail: string }).detail, /status|seats|event/i);
  await change(`events/${eventId}`, { status: "closed" });
  assert.equal(codeOf(await book({ eventId, seat: 1 })), "403 INSUFFICIENT_SCOPE");
});

test("a missing reference, a missing value and another type match nothing", async () => {
  assert.equal(codeOf(await book({ seat: 1 })), "403 INSUFFICIENT_SCOPE");
  const withoutSeats = await make("events", { status: "open", clubId: club, endsAt: later(), title: "a" });
  assert.equal(codeOf(await book({ eventId: withoutSeats, seat: 1 })), "403 INSUFFICIENT_SCOPE");
  const withoutStatus = await make("events", { seats: 2, clubId: club, endsAt: later(), title: "a" });
  assert.equal(codeOf(await book({ eventId: withoutStatus, seat: 1 })), "403 INSUFFICIENT_SCOPE");
});

test("a reference that leads nowhere, or to a hidden or expired resource, is the first reason", async () => {
  const nowhere = await book({ eventId: "nowhere", seat: 1 });
  assert.equal(codeOf(nowhere), "400 REFERENCE_NOT_FOUND");
  for (const status of ["open", "closed"]) {
    const hidden = await newEvent({ status, title: "secret" });
    assert.equal(codeOf(await book({ eventId: hidden, seat: 1 })), "400 REFERENCE_NOT_FOUND", status);
  }
  const batch = {
    operations: [{ method: "POST", path: "/bookings", body: { eventId: "nowhere", seat: 1 } }],
  };
  const inBatch = await service.send({ method: "POST", path: path("_batch"), content: batch, headers: ada });
  assert.equal(codeOf(inBatch), "400 REFERENCE_NOT_FOUND");
});

test("an expired resource matches nothing", async () => {
  const eventId = await newEvent();
  const id = await make("bookings", { eventId, seat: 1, member: "ada" }, ada);
  const expired = await newEvent({ status: "open", endsAt: new Date(clock + 1_000).toISOString() });
  const other = await make("bookings", { eventId: expired, seat: 1, member: "ada" }, ada);
  clock += 2_000;
  assert.equal(codeOf(await patch(`bookings/${id}`, { note: "a" }, as("ada"))), "200");
  assert.equal(codeOf(await patch(`bookings/${other}`, { note: "a" }, as("ada"))), "403 INSUFFICIENT_SCOPE");
  assert.equal(codeOf(await book({ eventId: expired, seat: 1 }, as("ada"))), "400 REFERENCE_NOT_FOUND");
});

test("an update needs the old and the new related resource as the rule says", async () => {
  const [from, to] = [await newEvent(), await newEvent()];
  const id = await make("bookings", { eventId: from, seat: 1, member: "ada" }, as("ada"));
  await change(`events/${to}`, { status: "closed" });
  assert.equal(codeOf(await patch(`bookings/${id}`, { eventId: to }, as("ada"))), "403 INSUFFICIENT_SCOPE");
  await change(`events/${to}`, { status: "open" });
  await change(`events/${from}`, { status: "closed" });
  assert.equal(codeOf(await patch(`bookings/${id}`, { eventId: to }, as("ada"))), "403 INSUFFICIENT_SCOPE");
  await change(`events/${from}`, { status: "open" });
  assert.equal(codeOf(await patch(`bookings/${id}`, { eventId: to }, as("ada"))), "200");
});

test("a rule follows two references, and what is missing there matches nothing, also under ne", async () => {
  const own = await make("clubs", { isActive: false });
  const eventId = await newEvent({ clubId: own });
  const id = await make("bookings", { eventId, seat: 1, member: "ada" }, as("ada"));
  const remove = () => service.send({ method: "DELETE", path: path(`bookings/${id}`), headers: as("ada") });
  assert.equal(codeOf(await remove()), "403 INSUFFICIENT_SCOPE");
  await change(`clubs/${own}`, { isActive: true });
  await change(`events/${eventId}`, { status: "frozen" });
  assert.equal(codeOf(await remove()), "403 INSUFFICIENT_SCOPE");
  await change(`events/${eventId}`, { clubId: null });
  assert.equal((await remove()).status, 403);
});

test("what callers see follows the related resource, in each kind of read", async () => {
  const owner = "olga";
  const eventId = await newEvent({ ownerId: owner });
  const id = await make("bookings", { eventId, seat: 1, member: "ada" }, as("ada"));
  const gone = await make("bookings", { eventId, seat: 2, member: "ada" }, as("ada"));
  await change(`bookings/${id}`, { note: "second" });
  assert.equal(
    (await service.send({ method: "DELETE", path: path(`bookings/${gone}`), headers: admin })).status,
    205,
  );
  const then = new Date(clock).toISOString();
  clock += 1_000;
  await change(`bookings/${id}`, { note: "third" });
  const read = async (rest: string, headers: object) =>
    service.send({ path: path(rest), headers: { ...headers } as Record<string, string> });
  const seen = async (headers: object) => {
    const counted = await read("bookings?aggregate=count()", headers);
    const atOnce = async (rest: string) => {
      const answer = await read(rest, headers);
      return answer.status === 200 ? (answer.json as { id: string }[]).map((each) => each.id) : answer.status;
    };
    return {
      one: (await read(`bookings/${id}`, headers)).status,
      version: (await read(`bookings/${id}?version=1`, headers)).status,
      changes: (await read(`bookings/${id}/_changes`, headers)).status,
      nested: await atOnce(`events/${eventId}/bookings`),
      list: await atOnce(`bookings?eventId=${eventId}`),
      past: await atOnce(`bookings?eventId=${eventId}&at=${then}`),
      deleted: await atOnce(`bookings/_deleted?eventId=${eventId}`),
      embedded: (
        (await read(`events/${eventId}?embed=bookings`, headers)).json as { bookings: { id: string }[] }
      ).bookings.map((each) => each.id),
      count: JSON.stringify(counted.json),
    };
  };
  assert.deepEqual(await seen(as(owner)), {
    one: 200,
    version: 200,
    changes: 200,
    nested: [id],
    list: [id],
    past: [id],
    deleted: [gone],
    embedded: [id],
    count: '[{"count()":1}]',
  });
  await change(`events/${eventId}`, { ownerId: "somebody" });
  assert.deepEqual(await seen(as(owner)), {
    one: 404,
    version: 404,
    changes: 404,
    nested: [],
    list: [],
    past: [],
    deleted: [],
    embedded: [],
    count: '[{"count()":0}]',
  });
});

test("not is about what the related resource contains, so nothing matches without one", async () => {
  const eventId = await newEvent();
  const made = await make(
    "shifts",
    { eventId, fromAt: later(), toAt: later(), lead: "a", deputy: "b" },
    admin,
  );
  const alone = await make("shifts", { lead: "a" }, admin);
  const ids = async () => {
    const answer = await service.send({ path: path("shifts"), headers: bob });
    return (answer.json as { id: string }[]).map((each) => each.id);
  };
  assert.deepEqual(await ids(), [made]);
  assert.equal((await service.send({ path: path(`shifts/${alone}`), headers: bob })).status, 404);
  await change(`events/${eventId}`, { status: "closed" });
  assert.deepEqual(await ids(), []);
});

test("two attributes are compared by what they mean, and missing ones never match", async () => {
  const eventId = await newEvent({ endsAt: "2099-01-01T12:00:00.000Z" });
  const shift = (content: object) =>
    service.send({
      method: "POST",
      path: path("shifts"),
      content: { eventId, ...content },
      headers: as("ada"),
    });
  const fits = {
    fromAt: "2099-01-01T10:00:00.000Z",
    toAt: "2099-01-01T12:00:00.000Z",
    lead: "a",
    deputy: "b",
  };
  assert.equal(codeOf(await shift(fits)), "201");
  assert.equal((await shift({ ...fits, toAt: "2099-01-01T12:00:00.001Z" })).status, 403);
  assert.equal((await shift({ ...fits, fromAt: fits.toAt })).status, 403);
  assert.equal((await shift({ ...fits, deputy: "a" })).status, 403);
  const { deputy: _, ...without } = fits;
  assert.equal((await shift(without)).status, 403);
});

test("a request can compare attributes too", async () => {
  const eventId = await newEvent({ seats: 2 });
  for (const seat of [1, 2]) await make("bookings", { eventId, seat, member: "zoe" }, as("zoe"));
  const seats = async (filter: object) => {
    const asked = encodeURIComponent(JSON.stringify({ eventId, ...filter }));
    const answer = await service.send({
      path: path(`bookings?sort=seat&filter=${asked}`),
      headers: as("zoe"),
    });
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as { seat: number }[]).map(({ seat }) => seat);
  };
  assert.deepEqual(await seats({ seat: { lt: { attribute: "event.seats" } } }), [1]);
  assert.deepEqual(await seats({ seat: { ne: { attribute: "event.seats" } } }), [1]);
  assert.deepEqual(await seats({ not: { seat: { lt: { attribute: "event.seats" } } } }), [2]);
  assert.deepEqual(await seats({ not: { note: { eq: { attribute: "member" } } } }), []);
});

test("a feed follows no rule that looks at related resources", async () => {
  const eventId = await newEvent({ ownerId: "fred" });
  const ofFred = await make("bookings", { eventId, seat: 1, member: "fred" }, as("fred"));
  await make("bookings", { eventId, seat: 2, member: "ada" }, as("ada"));
  const feed = await service.send({
    path: path("bookings/_events?since=start&limit=1000"),
    headers: as("fred"),
  });
  const subjects = (feed.json as { subject: string }[]).map(({ subject }) => subject);
  assert.deepEqual([...new Set(subjects)], [ofFred]);
  const list = await service.send({ path: path("bookings"), headers: as("fred") });
  assert.equal((list.json as object[]).length, 2);
  assert.doesNotMatch(String(list.headers.link ?? ""), /monitor/);
  assert.match(
    String((await service.send({ path: path("events"), headers: admin })).headers.link),
    /monitor/,
  );
  const refused = await service.send({ path: path("shifts/_events"), headers: bob });
  assert.equal(codeOf(refused), "403 INSUFFICIENT_SCOPE");
  assert.match(refused.text, /related resources/);
});

test("the entity tag of a list changes with the related resource", async () => {
  const eventId = await newEvent({ ownerId: "tess" });
  await make("bookings", { eventId, seat: 1, member: "ada" }, as("ada"));
  const list = (headers: object = {}) =>
    service.send({ path: path(`bookings?eventId=${eventId}`), headers: { ...as("tess"), ...headers } });
  const before = await list();
  const headers = { "if-none-match": String(before.headers.etag) };
  assert.equal((await list(headers)).status, 304);
  await change(`events/${eventId}`, { ownerId: "other" });
  assert.deepEqual((await list(headers)).json, []);
});

test("an operation of a batch sees what the earlier ones made of the related resource, and no later one", async () => {
  const send = (operations: object[]) =>
    service.send({ method: "POST", path: path("_batch"), content: { operations }, headers: admin });
  const closing = (id: string) => ({ method: "PATCH", path: `/events/${id}`, body: { status: "closed" } });
  const booking = (eventId: string) => ({
    method: "POST",
    path: "/bookings",
    body: { eventId, seat: 1, member: "root" },
  });
  const eventId = await newEvent();
  const refused = await send([closing(eventId), booking(eventId)]);
  assert.equal(codeOf(refused), "403 INSUFFICIENT_SCOPE");
  assert.match(refused.text, /"operation":1/);
  assert.equal((await send([booking(eventId), closing(eventId)])).status, 200);
  assert.equal((await send([booking(eventId)])).status, 403);
  const made = await send([
    {
      method: "POST",
      path: "/events",
      as: "e",
      body: { status: "open", seats: 1, endsAt: later(), title: "a" },
    },
    { method: "POST", path: "/bookings", body: { eventId: { $ref: "e" }, seat: 1 } },
  ]);
  assert.ok([200, 400].includes(made.status), made.text);
});

test("an embed shows nothing that a rule allows only through an expired resource", async () => {
  const eventId = await newEvent({ ownerId: "nora", endsAt: new Date(clock + 1_000).toISOString() });
  const roomId = await make("rooms", {});
  const id = await make("bookings", { eventId, roomId, seat: 1, member: "ada" }, as("ada"));
  const embedded = async () => {
    const answer = await service.send({ path: path(`rooms/${roomId}?embed=bookings`), headers: as("nora") });
    return (answer.json as { bookings: { id: string }[] }).bookings.map((each) => each.id);
  };
  assert.deepEqual(await embedded(), [id]);
  clock += 2_000;
  assert.deepEqual(await embedded(), []);
});

test("a resource that refers to itself is judged with its own next state", async () => {
  const root = await make("nodes", { status: "open" }, admin);
  const id = await make("nodes", { status: "open", parentId: root }, as("ada"));
  assert.equal(codeOf(await patch(`nodes/${id}`, { parentId: id }, as("ada"))), "200");
  assert.equal(codeOf(await patch(`nodes/${id}`, { status: "shut" }, as("ada"))), "403 INSUFFICIENT_SCOPE");
  const put = (own: string, content: object) =>
    service.send({
      method: "PUT",
      path: path(`nodes/${own}`),
      content: { id: own, ...content },
      headers: { ...as("ada"), "if-none-match": "*" },
    });
  assert.equal(codeOf(await put("self-open", { status: "open", parentId: "self-open" })), "201");
  assert.equal(
    codeOf(await put("self-shut", { status: "shut", parentId: "self-shut" })),
    "403 INSUFFICIENT_SCOPE",
  );
  const steps = [{ parentId: "b-1" }, { status: "shut" }].map((body) => ({
    method: "PATCH",
    path: "/nodes/b-1",
    body,
  }));
  const first = {
    method: "PUT",
    path: "/nodes/b-1",
    headers: { "if-none-match": "*" },
    body: { id: "b-1", status: "open", parentId: root },
  };
  const batch = (operations: object[]) =>
    service.send({ method: "POST", path: path("_batch"), content: { operations }, headers: as("ada") });
  assert.equal(codeOf(await batch([first, ...steps])), "403 INSUFFICIENT_SCOPE");
  // What a later operation of the batch creates does not exist yet.
  const early = { ...first, path: "/nodes/b-2", body: { id: "b-2", parentId: "b-1" } };
  assert.equal(codeOf(await batch([early, first])), "400 REFERENCE_NOT_FOUND");
  assert.equal((await batch([first, early])).status, 200);
});

test("an undo writes no reference to a resource that the caller cannot read", async () => {
  const [from, to] = [await newEvent(), await newEvent()];
  const id = await make("bookings", { eventId: from, seat: 1, member: "una" }, as("una"));
  const begun = await service.send({
    method: "POST",
    path: path("bookings/_bulk"),
    content: { filter: { id }, patch: { eventId: to }, max: 5 },
    headers: { ...as("una"), prefer: "respond-async" },
  });
  const ended = async (at: string) => {
    const states: string[] = [];
    await until("the task has ended", async () => {
      const { state } = (await service.send({ path: at, headers: as("una") })).json as { state: string };
      states.push(state);
      return !["queued", "planning", "running", "checking"].includes(state);
    });
    return states.at(-1);
  };
  await ended(String(begun.headers.location));
  await change(`events/${from}`, { title: "secret" });
  const undone = await service.send({
    method: "POST",
    path: `${begun.headers.location}/_undo`,
    headers: as("una"),
  });
  assert.equal(undone.status, 202, undone.text);
  await ended(String(undone.headers.location));
  const now = (await service.send({ path: path(`bookings/${id}`), headers: as("una") })).json;
  assert.equal((now as { eventId: string }).eventId, to);
});

test("a bulk change and a task need the related resource as the rule says", async () => {
  const [ready, closed] = [await newEvent(), await newEvent()];
  for (const eventId of [ready, closed])
    await make("bookings", { eventId, seat: 1, member: "bulk" }, as("bulk"));
  await change(`events/${closed}`, { status: "closed" });
  const update = (filter: object, headers: object = {}) =>
    service.send({
      method: "POST",
      path: path("bookings/_bulk"),
      content: { filter, patch: { note: "x" }, max: 10 },
      headers: { ...as("bulk"), ...headers },
    });
  assert.equal(codeOf(await update({ eventId: ready })), "200");
  const refused = await update({ eventId: { in: [ready, closed] } });
  assert.equal(codeOf(refused), "403 INSUFFICIENT_SCOPE");
});

test("an administrator learns which condition about a related resource is not met", async () => {
  const eventId = await newEvent({ status: "closed", seats: 1 });
  const id = await make("shifts", { eventId, lead: "a" }, admin);
  const ask = async (operation: string) => {
    const content = { collection: "shifts", operation, id, as: { subject: "ada" } };
    const answer = await service.send({ method: "POST", path: path("_access"), content, headers: admin });
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  const read = await ask("read");
  assert.match(read, /\\"event.status\\" must not equal \\"closed\\", but it is \\"closed\\"/);
  const updated = await ask("update");
  assert.match(updated, /\\"toAt\\" must be at most \\"event.endsAt\\", but they are missing and/);
});
