/** What a task can do and tell: as much as the request of its caller. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addKey } from "../../src/access/api-key.ts";
import { endingOf } from "../../src/capabilities/users/sessions.ts";
import { accountsName, UserRecords } from "../../src/capabilities/users/user-records.ts";
import { put, remove } from "../../src/records.ts";
import { openKeys, openStore } from "../../src/store/open.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { bearer, bodyOf, goodPassword, type Signed, startPeople } from "../capabilities/users/http/people.ts";
import { makeFolder } from "../folder.ts";
import { machineTime, until } from "../until.ts";
import { auth, type Caller, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import {
  type Answer,
  type Request,
  type Service,
  startFor,
  startService,
  startServiceForFile,
} from "./service.ts";
import { openTestStore } from "./test-store.ts";

const pair = createPair("EdDSA");
const text = { type: "string", maxLength: 99 } as const;
const own = { where: { owner: "$subject" } } as const;
const some = { read: [own, { role: "editor" }], write: [own, { role: "editor" }] };
const hr = { ...auth, administrators: [{ role: "hr" }] };

const service = await startServiceForFile({
  auth: hr,
  collections: {
    bosses: { access: { read: { role: "editor" }, write: { role: "editor" } } },
    staff: {
      schema: {
        properties: {
          owner: text,
          code: text,
          boss: text,
          n: { type: "integer" },
        },
      },
      attributes: { code: { roles: ["editor"] }, boss: { roles: ["editor"] } },
      unique: ["code"],
      references: { boss: { collection: "bosses", onDelete: "restrict" } },
      access: some,
    },
    notes: {
      schema: { properties: { code: text, n: { type: "integer" } } },
      attributes: { code: { roles: ["editor"] } },
      access: { read: "authenticated", write: "authenticated" },
    },
    codes: {
      schema: { properties: { code: text, n: { type: "integer" } } },
      attributes: { code: { roles: ["editor"] } },
      unique: ["code"],
      access: { read: "authenticated", write: { role: "editor" } },
    },
  },
});

interface Task {
  id: string;
  state: string;
  changed: number;
  firstRefused: { code: string; detail: string }[];
  reason?: string;
}

const as = (who: Caller, path: string, request: Omit<Request, "path">, of: Service = service) =>
  sendAs(of, who, { ...request, path: `/api/v1/${path}` });

const asTask = { Prefer: "respond-async" };

async function finished(who: Caller, begun: Answer, of: Service = service): Promise<Task> {
  assert.equal(begun.status, 202, begun.text);
  let task = begun.json as Task;
  await until("the task ends", async () => {
    task = (await as(who, `_tasks/${task.id}`, { method: "GET" }, of)).json as Task;
    return task.state !== "checking" && task.state !== "running";
  });
  return task;
}

const task = async (who: Caller, path: string, content?: object) =>
  finished(who, await as(who, path, { method: "POST", headers: asTask, ...(content && { content }) }));

const importing = (path: string, lines: readonly object[], of = service) =>
  as(
    "hans",
    path,
    {
      method: "POST",
      headers: { ...asTask, "Content-Type": "application/x-ndjson" },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    },
    of,
  );

const made = async (collection: string, content: object) => {
  const answer = await as("eve", collection, { method: "POST", content });
  check(answer, { status: 201 });
  return answer.json as { id: string };
};

test("an import finds resources by an attribute that only other roles see", async () => {
  const { id } = await made("codes", { code: "a", n: 1 });
  const imported = await finished("hans", await importing("codes/_import?on=code", [{ code: "a", n: 2 }]));
  assert.deepEqual([imported.state, imported.changed, imported.reason], ["done", 1, undefined]);
  assert.equal(((await as("eve", `codes/${id}`, { method: "GET" })).json as { n: number }).n, 2);
});

test("a rewind of an administrator needs no other right, as without the preference", async () => {
  const { id } = await made("bosses", {});
  const [{ at: to } = { at: "" }] = (await as("eve", `bosses/${id}/_changes`, { method: "GET" })).json as {
    at: string;
  }[];
  check(await as("eve", `bosses/${id}`, { method: "PATCH", content: { n: 1 } }), { status: 200 });
  const rewound = await task("hans", "_rewind", { to, collections: ["bosses"], max: 9 });
  assert.deepEqual([rewound.state, rewound.changed, rewound.firstRefused], ["done", 1, []]);
  assert.deepEqual((await as("eve", `bosses/${id}`, { method: "GET" })).json, { id });
});

test("no refusal names an attribute that the caller cannot see", async () => {
  const hidden = "The resource conflicts with attributes that you cannot see.";
  for (const code of ["a", "b", "c"]) {
    const { id } = await made("staff", { code, owner: "ada" });
    check(await as("ada", `staff/${id}`, { method: "DELETE" }), { status: 205 });
    await made("staff", { code, owner: "eve" });
  }
  const again = await task("ada", "staff/_deleted/_restore", { all: true, max: 9 });
  assert.equal(again.state, "refused");
  assert.deepEqual(
    again.firstRefused.map(({ code, detail }) => [code, detail]),
    Array.from({ length: 3 }, () => ["UNIQUE_VIOLATION", hidden]),
  );

  const boss = await made("bosses", {});
  const { id } = await made("staff", { owner: "bob", boss: boss.id });
  check(await as("bob", `staff/${id}`, { method: "DELETE" }), { status: 205 });
  check(await as("eve", `bosses/${boss.id}`, { method: "DELETE" }), { status: 205 });
  const restored = await task("bob", "staff/_deleted/_restore", { all: true, max: 1 });
  assert.equal(restored.state, "refused");
  assert.deepEqual(
    restored.firstRefused.map(({ code, detail }) => [code, detail]),
    [["REFERENCE_NOT_FOUND", hidden]],
  );
  const request = { method: "POST", content: { all: true, max: 1 } };
  const refused = await as("bob", "staff/_deleted/_restore", request);
  assert.equal(refused.status, 400);
  assert.doesNotMatch(refused.text, /boss/);
});

test("an import and a rewind end when their caller no longer administers the service", async (t) => {
  const folder = makeFolder();
  const store = await openTestStore(folder);
  t.after(() => store.release());
  const collections = { things: { access: { read: "public" as const } } };
  const first = await startService({ auth: hr, collections, store: store.address });
  const lines = Array.from({ length: 3_000 }, (_, n) => ({ n }));
  const begun = await importing("things/_import", lines, first);
  assert.equal(begun.status, 202, begun.text);
  await first.stop();
  const administrators = [{ role: "editor" }];
  const next = await startFor(t, { auth: { ...auth, administrators }, collections, store: store.address });
  const { state, reason } = await finished("eve", begun, next);
  assert.equal(state, "failed");
  assert.match(reason ?? "", /no longer administers the service/);
});

test("an undo keeps the present values of attributes that its caller cannot see", async () => {
  const { id } = await made("notes", { code: "old", n: 1 });
  const change = { filter: { n: 1 }, max: 9, patch: { code: "new", n: 2 } };
  const changed = await task("eve", "notes/_bulk", change);
  assert.deepEqual([changed.state, changed.changed], ["done", 1]);
  const undone = await task("hans", `_tasks/${changed.id}/_undo`);
  assert.deepEqual([undone.state, undone.changed], ["done", 1]);
  const read = await as("eve", `notes/${id}`, { method: "GET" });
  assert.deepEqual(read.json, { id, code: "new", n: 1 });
});

test("a task ends before its next slice when its API key is revoked, and not when the key expires", async (t) => {
  const store = await openTestStore(makeFolder());
  t.after(() => store.release());
  const collections = { things: { access: { read: "public", write: "authenticated" } } } as const;
  const keyed = { ...hr, keys: true };
  const first = await startService({ auth: keyed, collections, store: store.address });
  const keys = await openKeys(store.address);
  const begin = async (name: string) => {
    const properties = { name, subject: name, roles: ["hr"], scopes: undefined, expiresAt: undefined };
    const { text: credential, key } = await addKey(keys, properties, machineTime());
    const headers = {
      authorization: `Bearer ${credential}`,
      ...asTask,
      "content-type": "application/x-ndjson",
    };
    const body = Array.from({ length: 3_000 }, (_, n) => `{"n":${n}}\n`).join("");
    return {
      key,
      begun: await first.send({ method: "POST", path: "/api/v1/things/_import", headers, body }),
    };
  };
  const revoked = await begin("revoked");
  const expired = await begin("expired");
  await first.stop();
  await keys.invalidate(revoked.key.prefix, { revokedAt: machineTime() });
  await keys.invalidate(expired.key.prefix, { expiresAt: machineTime() });
  await keys.close();
  const next = await startFor(t, { auth: keyed, collections, store: store.address });
  const failed = await finished("hans", revoked.begun, next);
  assert.deepEqual(
    [failed.state, failed.reason],
    ["failed", "The API key that began the task was revoked. The task ended."],
  );
  assert.equal((await finished("hans", expired.begun, next)).state, "done");
});

/** Services with users on one store, one after the other: each test changes the store in between. */
async function peopleOnOneStore(t: TestContext) {
  const store = await openTestStore(makeFolder());
  t.after(() => store.release());
  const jwt = { ...settingsFor([pair]), actAsUsers: true };
  return {
    start: (more: { now?: () => number } = {}) =>
      startPeople(t, { store: store.address, users: { roles: ["ops", "member"] }, auth: { jwt }, ...more }),
    /** Works on the records while no service runs. */
    change: async (work: (records: UserRecords) => Promise<unknown>) => {
      const opened = await openStore(store.address);
      await work(new UserRecords(opened, "users"));
      await opened.close();
    },
  };
}

async function setAccount(records: UserRecords, id: string, set: object | "deleted"): Promise<void> {
  const account = await records.account(id);
  assert.ok(account);
  const { value, version } = account;
  const next =
    set === "deleted"
      ? remove(accountsName, id, version)
      : put(accountsName, id, version, { ...value, ...set });
  await records.commit([next], machineTime());
}

/** Begins an import that takes several slices. */
const importManyWith = (of: Service, token: string) =>
  of.send({
    method: "POST",
    path: "/api/v1/articles/_import",
    headers: { ...bearer(token), ...asTask, "content-type": "application/x-ndjson" },
    body: Array.from({ length: 3_000 }, (_, n) => `{"n":${n}}\n`).join(""),
  });

/** The task once it has ended. */
async function endOf(begun: Answer, of: Service, token: string): Promise<Task> {
  assert.equal(begun.status, 202, begun.text);
  const path = `/api/v1/_tasks/${(begun.json as Task).id}`;
  const read = async () => (await of.send({ path, headers: bearer(token) })).json as Task;
  await until("the task ends", async () => ["failed", "done"].includes((await read()).state));
  return read();
}

test("a task ends when the account of its caller is disabled or deleted, and does without the roles that the account loses", async (t) => {
  const { start, change } = await peopleOnOneStore(t);
  const people = await start();
  const ada = await people.join("ada@example.org");
  const bob = await people.join("bob@example.org");
  const eve = await people.join("eve@example.org");
  const root = await people.join("root@example.org");
  await people.service.stop();
  await change(async (records) => {
    for (const { user } of [ada, bob, eve, root]) await setAccount(records, user.id, { roles: ["ops"] });
  });
  const { service: second } = await start();
  const ofEve = tokenOf(pair, claimsAt(machineTime(), { sub: eve.user.id, roles: ["ops"] }));
  const begun = [ada.token, bob.token, ofEve].map((token) => importManyWith(second, token));
  const answers = await Promise.all(begun);
  await second.stop();
  await change(async (records) => {
    await setAccount(records, ada.user.id, { disabled: true });
    await setAccount(records, bob.user.id, { roles: ["member"] });
    await setAccount(records, eve.user.id, "deleted");
  });
  const { service: third } = await start();
  const reasons = answers.map(async (answer) => (await endOf(answer, third, root.token)).reason);
  assert.deepEqual(await Promise.all(reasons), [
    "The account that began the task was disabled. The task ended.",
    "The caller of the task no longer administers the service.",
    "The account that began the task was deleted. The task ended.",
  ]);
});

test("a task of a user's own key ends when the key is deleted, and not when it expires", async (t) => {
  const { start, change } = await peopleOnOneStore(t);
  let now = machineTime();
  const first = await start({ now: () => now });
  const { token, user } = await first.join("ada@example.org");
  await first.service.stop();
  await change((records) =>
    records.commit(
      Array.from({ length: 2_000 }, (_, n) => put("articles", `a${n}`, undefined, { authorId: user.id })),
      now,
    ),
  );
  const people = await start({ now: () => now });
  const begin = async (name: string, days: number) => {
    const expiresAt = new Date(now + days * 24 * 3_600_000).toISOString();
    const made = await people.post("sessions", { name, expiresAt }, bearer(token));
    const key = bodyOf<Signed>(made, 201);
    const content = { filter: { authorId: user.id }, max: 2_000, patch: { [name]: true } };
    const headers = { ...bearer(key.token), ...asTask };
    const path = "/api/v1/articles/_bulk";
    return { key, begun: await people.service.send({ method: "POST", path, content, headers }) };
  };
  const deleted = await begin("deleted", 100);
  const expired = await begin("expired", 1);
  await people.service.stop();
  await change(async (records) => {
    for (const { session } of [deleted.key, expired.key]) {
      const found = await records.session(session.id);
      assert.ok(found);
      await records.commit(endingOf([found]), now);
    }
  });
  now += 2 * 24 * 3_600_000;
  const next = await start({ now: () => now });
  const signIn = { email: "ada@example.org", password: goodPassword };
  const again = bodyOf<Signed>(await next.post("sign-in", signIn));
  const failed = await endOf(deleted.begun, next.service, again.token);
  assert.deepEqual(
    [failed.state, failed.reason],
    ["failed", "The key that began the task was deleted. The task ended."],
  );
  const done = await endOf(expired.begun, next.service, again.token);
  assert.deepEqual([done.state, done.changed], ["done", 2_000]);
});
