/** Writes by a unique key with the typed client. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConflictError, createClient, NotFoundError, ResultHiddenError } from "../../client/src/index.ts";
import { defineConfig } from "../../src/index.ts";
import { auth, sendAs } from "../http/access/callers.ts";
import { startFor, startServiceForFile } from "../http/service.ts";

const text = { type: "string", maxLength: 100 } as const;
const config = defineConfig({
  collections: {
    users: {
      schema: {
        type: "object",
        required: ["email"],
        properties: {
          email: text,
          name: text,
          visits: { type: "integer" },
          team: { type: "object", required: ["id"], properties: { id: text, seat: { type: "integer" } } },
        },
      },
      unique: ["email", ["team.id", "team.seat"]],
    },
    notes: { schema: { type: "object", properties: { userId: text } }, references: { userId: "users" } },
  },
});
const service = await startServiceForFile({ collections: config.collections });
const client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
const { users } = client;

test("put creates and replaces, and what it returns can be written again", async () => {
  const email = "ada+1@x.org";
  const made = await users.by({ email }).put({ email, name: "Ada" });
  const changed = await users.by({ email }).put({ email, visits: 1 });
  assert.deepEqual({ ...changed }, { ...changed, id: made.id, email, visits: 1 });
  assert.equal(changed.name, undefined);
  assert.equal((await users.replace({ ...changed, name: "Bo" })).name, "Bo");
  await assert.rejects(users.replace(changed), ConflictError);
});

test("patch, update and delete need the resource", async () => {
  const team = { id: "a", seat: 4 };
  const key = { "team.id": "a", "team.seat": 4 };
  await assert.rejects(users.by(key).patch({ name: "Ada" }), NotFoundError);
  const { id } = await users.by(key).put({ email: "b@x.org", team, visits: 1 });
  assert.equal((await users.by(key).update({ visits: { $increment: 2 } })).visits, 3);
  assert.equal((await users.by(key).patch({ name: "Ada" })).name, "Ada");
  assert.equal((await users.by(key).patch([{ op: "remove", path: "/name" }])).name, undefined);
  await users.by(key).delete();
  await assert.rejects(users.by(key).delete(), NotFoundError);
  await assert.rejects(users.get(id), NotFoundError);
});

test("what is not as required is a conflict", async () => {
  const key = { email: "c@x.org" };
  await assert.rejects(users.by(key).put(key, { ifMatch: "*" }), ConflictError);
  await users.by(key).put(key, { isNew: true });
  await assert.rejects(users.by(key).put(key, { isNew: true }), ConflictError);
  await assert.rejects(users.by(key).patch({}, { ifMatch: '"7"' }), ConflictError);
  await assert.rejects(users.by(key).delete({ ifMatch: '"7"' }), ConflictError);
  await users.by(key).delete({ ifMatch: '"1"' });
});

test("in a batch, later operations can refer to the resource", async () => {
  const email = "d@x.org";
  for (const name of ["Ada", "Bo"]) {
    const [user, note, patched] = await client.$batch((plan) => {
      const put = plan.users.by({ email }).put({ email, name });
      return [
        put,
        plan.notes.create({ userId: put.id }),
        plan.users.by({ email }).update({ visits: { $increment: 1 } }),
      ] as const;
    });
    assert.equal(user.name, name);
    assert.equal(note.userId, user.id);
    assert.equal(patched.visits, 1);
    assert.equal((await users.replace({ ...patched, visits: 0 })).visits, 0);
  }
  const both = await client.$batch((plan) => [
    plan.users.by({ email: "f@x.org" }).put({ email: "f@x.org" }),
    plan.users.by({ email: "f@x.org" }).patch({ name: "Cy" }),
    plan.users.by({ email: "f@x.org" }).delete(),
  ]);
  assert.deepEqual(
    both.map((each) => each?.name),
    [undefined, "Cy", undefined],
  );
});

test("an import by a unique key reports what it made, changed and left", async () => {
  const [a, b] = ["g@x.org", "h@x.org"];
  await users.create({ email: a, name: "Ada" });
  const rows = [
    { email: a, visits: 1 },
    { email: b, name: "Bo", team: { id: "g", seat: 1 } },
  ];
  const { made, changed, same } = await users.import(rows, { on: "email" });
  assert.deepEqual([made, changed, same], [1, 1, 0]);
  const again = await users.import([{ email: b, team: { id: "g", seat: 1 } }], {
    on: ["team.id", "team.seat"],
  });
  assert.deepEqual([again.made, again.changed, again.same], [0, 0, 1]);
});

test("a caller who cannot read gets the id of what is made, and an error for what is replaced", async (t) => {
  const { users: articles } = config.collections;
  const closed = await startFor(t, {
    auth,
    collections: { articles: { ...articles, access: { write: "authenticated", read: "authenticated" } } },
  });
  let header = "";
  const probe: Pick<typeof closed, "send"> = {
    send: async ({ headers }) => {
      header = String(headers?.Authorization);
      return {} as never;
    },
  };
  await sendAs(probe as typeof closed, "adaWrites", { path: "/" });
  const blind = createClient<{ collections: { articles: typeof articles } }>({
    baseUrl: `${closed.origin}/api/v1`,
    token: header.slice("Bearer ".length),
  });
  const key = { email: "e@x.org" };
  const made = await blind.articles.by(key).put(key);
  assert.deepEqual(Object.keys(made), ["id"]);
  await assert.rejects(blind.articles.by(key).put(key), ResultHiddenError);
});
