/** The profile shows the proven address and the roles, if the configuration says so. No caller can set them there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "Ada@example.org";
const later = "ada@example.net";

interface Profile {
  id: string;
  name?: string;
  email?: string;
  roles?: string[];
  updatedAt?: string;
}

/** A service whose profiles show both. Its first user administers it. */
async function start(t: Parameters<typeof startPeople>[0]) {
  let now = machineTime();
  const people = await startPeople(t, {
    users: {
      mirror: { email: "email", roles: "roles" },
      signUp: { domains: ["example.org", "example.net"], roles: ["ops", "member"] },
      roles: ["ops", "member", "editor"],
    },
    collections: {
      users: {
        timestamps: true,
        unique: ["name"],
        schema: {
          type: "object",
          properties: {
            name: { type: "string", maxLength: 40 },
            email: { type: "string", readOnly: true },
            roles: { type: "array", items: { type: "string" }, readOnly: true },
          },
          additionalProperties: false,
        },
        access: {
          read: "public",
          create: [{ role: "ops" }, { role: "editor" }],
          update: { where: { id: "$subject" } },
          delete: "authenticated",
        },
      },
    },
    now: () => ++now,
  });
  const { service } = people;
  const send = (token: string, method: string, path: string, content?: object) =>
    service.send({ method, path: `/api/v1/${path}`, content, headers: bearer(token) });
  const profileOf = async (id: string) =>
    bodyOf<Profile>(await service.send({ path: `/api/v1/users/${id}` }));
  const setBack = (ms: number) => {
    now -= ms;
  };
  return { people, send, profileOf, time: () => new Date(now).toISOString(), setBack };
}

const shown = ({ email, roles }: Profile) => ({ email, roles });

test("a profile shows the address and the roles of its account, from the commit of each change", async (t) => {
  const { people, send, profileOf } = await start(t);
  const { token, user } = await people.join(ada, { profile: { name: "Ada" } });
  assert.deepEqual(shown(await profileOf(user.id)), { email: ada, roles: ["ops", "member"] });
  const found = bodyOf<{ items?: Profile[] }>(
    await people.service.send({ path: `/api/v1/users?email=${encodeURIComponent(ada)}&fields=name` }),
  );
  assert.match(JSON.stringify(found), /"Ada"/);
  const { ticket } = bodyOf<{ ticket: string }>(
    await people.post("email", { email: later }, bearer(token)),
    202,
  );
  const changed = bodyOf<Signed>(
    await people.post("email", { ticket, code: await people.codeFor(later) }, bearer(token)),
  );
  assert.equal((await profileOf(user.id)).email, later);
  const bob = await people.join("bob@example.org");
  const before = await profileOf(bob.user.id);
  bodyOf(await send(changed.token, "PATCH", `_accounts/${bob.user.id}`, { roles: ["editor"] }));
  const after = await profileOf(bob.user.id);
  assert.deepEqual(after.roles, ["editor"]);
  assert.ok((after.updatedAt ?? "") > (before.updatedAt ?? ""));
  assert.equal((await send(changed.token, "DELETE", `_accounts/${bob.user.id}`)).status, 205);
  assert.deepEqual(shown(await profileOf(bob.user.id)), { email: undefined, roles: undefined });
  bodyOf(
    await send(changed.token, "POST", "_invitations", {
      email: "bob@example.net",
      user: bob.user.id,
      roles: ["member"],
    }),
    201,
  );
  await until("the invitation", () => people.mails.some(({ to }) => to === "bob@example.net"));
  const mail = people.mails.findLast(({ to }) => to === "bob@example.net");
  const [, invitation] = /invitation=([\w-]+)/.exec(mail?.text ?? "") ?? [];
  const asked = bodyOf<{ ticket: string }>(
    await people.post("sign-up", { email: "bob@example.net", password: goodPassword, invitation }),
    202,
  );
  bodyOf(
    await people.post("sign-in", { ticket: asked.ticket, code: await people.codeFor("bob@example.net", 1) }),
  );
  assert.deepEqual(shown(await profileOf(bob.user.id)), { email: "bob@example.net", roles: ["member"] });
});

test("only administrators see what a profile showed earlier: in events, versions, lists at a time and the trash", async (t) => {
  const { people, send, time } = await start(t);
  const { token, user } = await people.join(ada, { profile: { name: "Ada" } });
  const before = time();
  const { ticket } = bodyOf<{ ticket: string }>(
    await people.post("email", { email: later }, bearer(token)),
    202,
  );
  const { token: admin } = bodyOf<Signed>(
    await people.post("email", { ticket, code: await people.codeFor(later) }, bearer(token)),
  );
  const bob = await people.join("bob@example.org");
  bodyOf(await send(admin, "PATCH", `_accounts/${bob.user.id}`, { roles: ["member"] }));
  const gone = await people.join("eve@example.org");
  assert.equal((await send(admin, "DELETE", `users/${gone.user.id}`)).status, 205);
  const paths = [
    "users/_events?since=start",
    `users/${user.id}?version=1`,
    `users/${user.id}?at=${before}`,
    `users?at=${before}`,
    "users/_deleted",
  ];
  for (const path of paths) {
    const seen = async (as: string) => {
      const answer = await send(as, "GET", path);
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      return answer.text;
    };
    assert.match(await seen(admin), /example\.(?:org|net)/, path);
    assert.doesNotMatch(await seen(bob.token), /@example|"roles"|"email"/, path);
  }
  for (const path of ["users/_events?since=start&", `users?at=${before}&`, "users/_deleted?"]) {
    const asked = `${path}email=${encodeURIComponent(ada)}`;
    assert.equal((await send(bob.token, "GET", asked)).status, 400, asked);
    assert.equal((await send(admin, "GET", asked)).status, 200, asked);
  }
  const fields = "users/_events?since=start&fields=email";
  assert.equal((await send(bob.token, "GET", fields)).status, 400);
  assert.equal((await send(admin, "GET", fields)).status, 200);
  const query = { at: before, filter: { email: ada } };
  assert.equal((await send(bob.token, "QUERY", "users", query)).status, 400);
  assert.equal((await send(admin, "QUERY", "users", query)).status, 200);
  const dan = await people.join("dan@example.org");
  bodyOf(await send(admin, "PATCH", `_accounts/${dan.user.id}`, { roles: ["editor"] }));
  const restore = { filter: { email: "eve@example.org" }, max: 1, dryRun: true };
  assert.equal((await send(dan.token, "POST", "users/_deleted/_restore", restore)).status, 400);
  assert.equal((await send(admin, "POST", "users/_deleted/_restore", restore)).status, 200);
  const events = bodyOf<{ subject: string; etag: string }[]>(
    await send(bob.token, "GET", "users/_events?since=start"),
  );
  const now = await send(bob.token, "GET", `users/${bob.user.id}`);
  assert.equal(events.findLast(({ subject }) => subject === bob.user.id)?.etag, now.headers.etag);
  assert.match(now.text, /bob@example\.org/);
});

test("a profile never shows a time before its last change, even if the clock was set back", async (t) => {
  const { people, send, profileOf, setBack } = await start(t);
  const { token } = await people.join(ada);
  const { user } = await people.join("bob@example.org");
  bodyOf(await send(token, "PATCH", `_accounts/${user.id}`, { roles: ["member"] }));
  const before = await profileOf(user.id);
  setBack(5_000);
  bodyOf(await send(token, "PATCH", `_accounts/${user.id}`, { roles: ["editor"] }));
  const after = await profileOf(user.id);
  assert.deepEqual(after.roles, ["editor"]);
  assert.ok((after.updatedAt ?? "") >= (before.updatedAt ?? ""));
});

test("no write to a profile sets them, and a write can send them back unchanged", async (t) => {
  const { people, send, profileOf } = await start(t);
  for (const profile of [{ email: "x@example.org" }, { roles: [] }]) {
    const refused = await people.post("sign-up", { email: ada, password: goodPassword, profile });
    assert.equal(problemOf(refused), "400 VALIDATION_FAILED");
  }
  const { token, user } = await people.join(ada);
  const profile = await profileOf(user.id);
  bodyOf(await send(token, "PUT", `users/${user.id}`, { ...profile, name: "Ada" }));
  bodyOf(await send(token, "PUT", `users/${user.id}`, { id: user.id, name: "Ada L." }));
  assert.deepEqual(shown(await profileOf(user.id)), shown(profile));
  const [email, roles] = ["x@example.org", ["ops", "root"]];
  const path = `users/${user.id}`;
  for (const answer of [
    await send(token, "PUT", path, { ...profile, email }),
    await send(token, "PATCH", path, { roles }),
    await send(token, "PATCH", path, { email: null }),
    await send(token, "POST", "users", { email }),
    await send(token, "POST", "_batch", {
      operations: [{ method: "PATCH", path: `/${path}`, body: { roles } }],
    }),
    await send(token, "POST", "users/_bulk", { filter: { name: "Ada L." }, max: 1, patch: { email } }),
  ])
    assert.match(answer.text, /"readOnly"/);
  assert.deepEqual(shown(await profileOf(user.id)), shown(profile));
});

test("what brings back earlier texts of profiles brings back no address and no roles", async (t) => {
  const { people, send, profileOf, time } = await start(t);
  const { token } = await people.join(ada);
  const bob = await people.join("bob@example.org", { profile: { name: "Bob" } });
  const before = time();
  bodyOf(await send(token, "PATCH", `_accounts/${bob.user.id}`, { roles: ["editor"] }));
  bodyOf(await send(bob.token, "PATCH", `users/${bob.user.id}`, { name: "Robert" }));
  bodyOf(await send(bob.token, "POST", `users/${bob.user.id}/_restore`, { version: 1 }));
  assert.deepEqual((await profileOf(bob.user.id)).roles, ["editor"]);
  bodyOf(await send(token, "POST", "_rewind", { to: before, collections: ["users"], max: 100 }));
  const rewound = await profileOf(bob.user.id);
  assert.deepEqual([rewound.name, rewound.roles], ["Bob", ["editor"]]);
  assert.equal((await send(bob.token, "DELETE", `users/${bob.user.id}`)).status, 205);
  const restored = bodyOf<Profile>(
    await send(token, "POST", `users/${bob.user.id}/_restore`, { version: 1 }),
    201,
  );
  assert.deepEqual(shown(restored), { email: undefined, roles: undefined });
  assert.deepEqual(shown(await profileOf(bob.user.id)), { email: undefined, roles: undefined });
});

test("no import changes them in the profile of an account, and an import sets them in another profile", async (t) => {
  const { people, send, profileOf } = await start(t);
  const { token, user } = await people.join(ada, { profile: { name: "Ada" } });
  const other = bodyOf<Profile>(await send(token, "POST", "users", { name: "Bob" }), 201);
  const before = await profileOf(user.id);
  const evil = { name: "Ada", roles: ["root"] };
  const contents: Record<string, string> = {
    "application/json": JSON.stringify([evil]),
    "application/x-ndjson": JSON.stringify(evil),
    "text/csv": "name,email\nAda,eve@example.org\n",
  };
  const importing = (type: string, body: string, headers = {}) =>
    people.service.send({
      method: "POST",
      path: "/api/v1/users/_import?on=name",
      body,
      headers: { ...bearer(token), "content-type": type, ...headers },
    });
  for (const [type, body] of Object.entries(contents)) {
    const answer = await importing(type, body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /shows what the account of the user has/);
    const begun = await importing(type, body, { prefer: "respond-async" });
    assert.equal(begun.status, 202, begun.text);
    const path = String(begun.headers.location);
    const ended = () => people.service.send({ path, headers: bearer(token) });
    await until("the task ends", async () => /"endedAt"/.test((await ended()).text));
    assert.match((await ended()).text, /shows what the account of the user has/);
  }
  assert.deepEqual(shown(await profileOf(user.id)), shown(before));
  const same = { name: "Ada", email: ada, roles: before.roles };
  const both = [same, { name: "Bob", email: "bob@example.org" }];
  bodyOf(await importing("application/json", JSON.stringify(both)));
  assert.equal((await profileOf(other.id)).email, "bob@example.org");
});
