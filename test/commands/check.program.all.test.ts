import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { makeCertificate } from "../http/certificates.ts";
import { changeFile } from "../store/mend-checksums.ts";
import { declare, loose, topics, withStore, withTitle } from "./check-fixture.ts";
import { configuration, run, serveHere } from "./cli.ts";

const tight = withTitle({ type: "string", maxLength: 3 });

test("a sound configuration without a store is fine, and no store is made", async (t) => {
  const cwd = makeFolder(configuration(loose));
  const { exitCode, stdout, stderr } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /configuration: .*holdfast\.config\.json/);
  assert.match(stdout, /holdfast\.db does not exist yet/);
});

/** A killed process can leave these behind: no bytes, or the header of a database without tables. */
const empties: Record<string, (path: string) => void> = {
  "without bytes": (path) => writeFileSync(path, ""),
  "without tables": (path) => {
    const database = new DatabaseSync(path);
    database.exec("pragma journal_mode = wal");
    database.close();
  },
};

for (const [name, make] of Object.entries(empties))
  test(`to every command, a file ${name} is a store that does not exist yet`, async (t) => {
    const cwd = makeFolder();
    make(join(cwd, "holdfast.db"));
    const commands = [
      ["export", "topics"],
      ["erase", "topics", "a"],
      ["keys", "list"],
      ["keys", "revoke", "a"],
      ["copy", "--to", "b.db"],
      ["serve", "--read-only", "--port", "0"],
    ];
    for (const args of commands) {
      const { exitCode, stderr } = await run(t, args, { cwd });
      assert.equal(exitCode, 1, args.join(" "));
      assert.match(
        stderr,
        /^holdfast: The store \/\S+holdfast\.db does not exist yet: its file is empty\.\n$/,
        args.join(" "),
      );
    }
    const checked = await run(t, ["check"], { cwd });
    assert.match(checked.stdout, /^store: \S+holdfast\.db does not exist yet$/m);
    const created = await run(t, ["keys", "create", "--name", "a"], { cwd });
    assert.equal(created.exitCode, 0, created.stderr);
    assert.match((await run(t, ["keys", "list"], { cwd })).stdout, /\ba\b/);
  });

test("what does not fit is listed with its id and the reason, and the exit code is 1", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, tight);
  const { exitCode, stdout, stderr } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stdout, /^topics: 3 resources, 2 do not fit$/m);
  assert.match(stdout, /^ {2}"b": .*title.*3/m);
  assert.match(stdout, /^ {2}"c": .*title.*3/m);
  assert.equal(stderr, "holdfast: the store does not fit the configuration: 2 problems, listed above\n");
});

test("damage in the store is listed, and the exit code is 1; an export says it too", async (t) => {
  const cwd = await withStore(t);
  const database = new DatabaseSync(join(cwd, "holdfast.db"));
  database.exec(
    "update resources_1 set doc = replace(doc, 'abcd', 'abXd'); delete from resources_1 where id = 'a'",
  );
  database.close();
  const { exitCode, stdout, stderr } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stdout, /^The resource topics\/b is damaged in the store/m);
  assert.match(stdout, /^The collection topics is damaged in the store: 1 of its resources are missing/m);
  assert.match(stderr, /the store is damaged, as listed above/);
  const exported = await run(t, ["export", "topics"], { cwd });
  assert.equal(exported.exitCode, 1);
  assert.match(exported.stderr, /The resource topics\/b is damaged in the store/);
});

test("a collection that is no longer declared is named, and nothing is wrong with it", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, { others: {} });
  const { exitCode, stdout } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 0);
  assert.match(
    stdout,
    /^topics: not declared; the store keeps its 3 resources, but clients cannot reach them$/m,
  );
});

/** A store of an older release, which has resources whose ids are reserved now. */
async function withReservedIds(t: TestContext): Promise<string> {
  const cwd = makeFolder({
    "topics.ndjson": topics.replace('"b"', '"xevents"').replace('"c"', '"xbulk"'),
    ...configuration(loose),
  });
  const { exitCode, stderr } = await run(t, ["import", "topics", "topics.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  await renameIds(join(cwd, "holdfast.db"));
  return cwd;
}

/** Replaces the first letter of ids that begin with an x. */
function renameIds(path: string): Promise<void> {
  const isRenamed = "where id in ('xevents', 'xbulk')";
  return changeFile(
    path,
    `update changes_1 set id = '_' || substr(id, 2) ${isRenamed};
      update resources_1 set id = '_' || substr(id, 2), doc = replace(doc, '"id":"x', '"id":"_') ${isRenamed}`,
  );
}

const reservedIds = [
  /^topics: 2 resources have a reserved id, so clients cannot reach them$/m,
  /^ {2}"_bulk": "id" is reserved: the service uses "_bulk" in its paths\. Give the resource another id$/m,
  /^ {2}"_events": "id" is reserved: the service uses "_events" in its paths\. Give the resource another id$/m,
];

test("ids that are paths of the service now are misfits, and a copy keeps them", async (t) => {
  const cwd = await withReservedIds(t);
  const checked = await run(t, ["check"], { cwd });
  assert.equal(checked.exitCode, 1);
  for (const line of [/^topics: 3 resources, all fit$/m, ...reservedIds]) assert.match(checked.stdout, line);
  assert.equal(
    checked.stderr,
    "holdfast: the store does not fit the configuration: 2 problems, listed above\n",
  );
  const copied = await run(t, ["copy", "--to", "sqlite:copy.db"], { cwd });
  assert.equal(copied.exitCode, 0, copied.stderr);
  const [before, after] = await Promise.all([
    run(t, ["export", "topics"], { cwd }),
    run(t, ["export", "topics", "--store", "sqlite:copy.db"], { cwd }),
  ]);
  assert.match(before.stdout, /"_events"/);
  assert.equal(after.stdout, before.stdout);
  const service = await serveHere(t, {}, { cwd });
  const listed = (await (await fetch(`${service.base}/topics`)).json()) as { id: string }[];
  assert.deepEqual(listed.map(({ id }) => id).sort(), ["_bulk", "_events", "a"]);
  await service.stop();
});

test("in open mode, reserved ids are misfits in every collection", async (t) => {
  const cwd = await withReservedIds(t);
  await writeFile(join(cwd, "holdfast.config.json"), "{}");
  const { exitCode, stdout } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 1);
  for (const line of reservedIds) assert.match(stdout, line);
});

test("the service refuses to start on resources that do not fit a changed schema, in one line", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, tight);
  const { exitCode, stdout, stderr } = await run(t, ["serve", "--port", "0"], { cwd });
  assert.equal(exitCode, 1);
  assert.equal(stdout, "");
  assert.match(
    stderr,
    /^holdfast: The declaration of topics has changed, and 2 of its 3 resources do not fit it [^\n]*"b"[^\n]*\n$/,
  );
  assert.match(stderr, /holdfast check/);
  assert.match(stderr, /--accept/);
});

test("--accept starts nevertheless, and from then on the schema is the known one", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, tight);
  await (await serveHere(t, { accept: true }, { cwd })).stop();
  const service = await serveHere(t, {}, { cwd });
  assert.equal((await fetch(`${service.base}/topics/b`)).status, 200);
  await service.stop();
});

test("a refused start changes nothing: the old schema starts again", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, tight);
  assert.equal((await run(t, ["serve", "--port", "0"], { cwd })).exitCode, 1);
  await declare(cwd, loose);
  await (await serveHere(t, {}, { cwd })).stop();
});

test("what was written while nothing was declared is checked when the old schema comes back", async (t) => {
  const cwd = await withStore(t);
  await (await serveHere(t, {}, { cwd })).stop();
  await declare(cwd, {}, { openCollections: true });
  const service = await serveHere(t, {}, { cwd });
  const headers = { "content-type": "application/json" };
  const created = await fetch(`${service.base}/topics`, { method: "POST", headers, body: '{"title":5}' });
  assert.equal(created.status, 201);
  await service.stop();
  await declare(cwd, loose);
  const { exitCode, stderr } = await run(t, ["serve", "--port", "0"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /1 of its 4 resources/);
});

test("what was imported under another schema is checked when the old one comes back", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, withTitle({ type: ["string", "number"] }));
  assert.equal((await run(t, ["import", "topics", "-"], { cwd, input: '{"title":5}' })).exitCode, 0);
  await declare(cwd, loose);
  const { exitCode, stderr } = await run(t, ["serve", "--port", "0"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /1 of its 4 resources/);
});

/** The warnings of a check, which must go well. */
async function warnings(t: TestContext, config: object, keys: string[][] = []) {
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(config) });
  for (const key of keys) assert.equal((await run(t, ["keys", "create", ...key], { cwd })).exitCode, 0);
  const { exitCode, stdout, stderr } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 0, stderr);
  return stdout.split("\n").flatMap((line) => (line.startsWith("warning: ") ? [line.slice(9)] : []));
}

const auth = { keys: true };

test("a collection that anybody may write to is a warning; one that they may read is none", async (t) => {
  const collections = {
    safe: {},
    read: { access: { read: "public", write: "authenticated" } },
    posts: {
      access: {
        read: "public",
        create: "public",
        update: { role: "editor" },
        delete: ["authenticated", "public"],
      },
    },
    drafts: { access: { write: { where: { open: true } } } },
  };
  assert.deepEqual(await warnings(t, { auth, collections }), [
    "posts: anyone can create and delete without a credential",
    "drafts: anyone can create, update, and delete without a credential",
  ]);
});

test("a rule that narrows lists by what no index begins with is a warning", async (t) => {
  const mine = { where: { owner: "$subject" } };
  const collections = {
    indexed: { indexes: [["owner", "-at"]], access: { read: [mine, { role: "editor" }], write: mine } },
    byId: { access: { read: { where: { id: "$subject" } } } },
    written: { access: { read: "authenticated", write: mine } },
    beyondIndexes: { access: { read: { where: { hidden: { ne: true } } } } },
    either: { indexes: ["tenant"], access: { read: { where: { tenant: "$claims.tenant", live: true } } } },
    second: { indexes: [["at", "owner"]], access: { list: mine, read: "public" } },
    several: {
      indexes: ["owner"],
      access: {
        read: [mine, { role: "b", where: { or: [{ at: { gt: 1 } }, { "by.team": "$claims.team" }] } }],
      },
    },
  };
  const said = (name: string, attribute: string) =>
    `${name}: a rule filters lists by "${attribute}", but no index begins with it, so every list reads the whole collection`;
  assert.deepEqual(await warnings(t, { auth, collections }), [
    said("second", "owner"),
    said("several", "at"),
    said("several", "by.team"),
  ]);
});

test("a listener beyond this machine that nobody encrypts for is a warning", async (t) => {
  const said = [
    "host: traffic to 0.0.0.0 is not encrypted, because neither tls nor trustProxy is configured",
  ];
  assert.deepEqual(await warnings(t, { auth, host: "0.0.0.0" }), said);
  const certificate = await makeCertificate();
  assert.deepEqual(await warnings(t, { auth, host: "0.0.0.0", tls: certificate.files }), []);
  assert.deepEqual(await warnings(t, { auth, host: "0.0.0.0", trustProxy: ["10.0.0.1"] }), []);
  assert.deepEqual(await warnings(t, { auth }), []);
});

test("a relation without a name is a warning where no schema shows that it has none", async (t) => {
  const schema = { type: "object", properties: { name: { type: "string" }, tag: { type: "string" } } };
  const collections = {
    users: {},
    tags: { schema },
    posts: { references: { userId: "users", tagId: { collection: "tags", as: "tag", inverse: "of" } } },
    notes: { schema, references: { tag: "tags" } },
  };
  assert.deepEqual(await warnings(t, { collections }), [
    'posts.references.userId: requests for "users" cannot use the relation to "posts", because it has no name. Set "inverse"',
    'posts.references.userId: requests for "posts" cannot use the relation to "users", because it has no name. Set "as"',
  ]);
});

test("a default in a place of the schema where it does nothing is a warning", async (t) => {
  const width = { type: "integer", default: 5 };
  const collections = {
    tasks: {
      schema: {
        type: "object",
        properties: {
          size: { type: "object", default: {}, properties: { width } },
          other: { $ref: "#/$defs/width" },
        },
        $defs: { width },
      },
    },
  };
  const places = ["properties/size/properties/width/default", "$defs/width/default"];
  assert.deepEqual(
    await warnings(t, { collections }),
    places.map(
      (place) =>
        `tasks: the default in the schema at ${place} does nothing, because only attributes in the schema's own "properties" have defaults`,
    ),
  );
});

test("pages of every origin are a warning where nobody is asked who they are", async (t) => {
  const cors = { origins: ["*"] };
  assert.match(
    String(await warnings(t, { cors })),
    /^cors\.origins: with "\*" and without auth, every web page/,
  );
  assert.deepEqual(await warnings(t, { cors, auth }), []);
});

test("a key that never expires is a warning", async (t) => {
  const forever = ["--name", "ci"];
  const said = await warnings(t, { auth }, [["--name", "short", "--expires", "90d"], forever]);
  assert.equal(said.length, 1);
  assert.match(String(said), /^1 API key never expires: "ci" \(\w+\)$/);
});

test("two roles that are nearly the same cause a warning with their places", async (t) => {
  const collections = {
    topics: {
      access: { read: "public", write: [{ role: "editer" }, { role: "a" }], delete: { role: "Admin" } },
    },
    notes: {
      access: { read: { role: "editor" }, write: { role: "editor", where: { id: "$subject" } } },
      attributes: { salary: { roles: ["b", "editor", "hr"] } },
    },
    others: { access: { read: [{ role: "admin" }, { role: "pr" }, { role: "level1" }, { role: "level2" }] } },
  };
  assert.deepEqual(await warnings(t, { auth, collections }), [
    'the roles "editer" (collections.topics.access.write[0].role) and "editor" (collections.notes.access.read.role and 2 other places) are almost the same. Is one of them misspelled?',
    'the roles "Admin" (collections.topics.access.delete.role) and "admin" (collections.others.access.read[0].role) are almost the same. Is one of them misspelled?',
  ]);
});

test("short roles, roles with numbers and different roles cause no warning", async (t) => {
  const roles = ["a", "b", "hr", "pr", "dev", "devs", "team-1", "team-2", "team-12", "author", "editor"];
  const collections = { topics: { access: { read: roles.map((role) => ({ role })) } } };
  assert.deepEqual(await warnings(t, { auth, collections }), []);
});

test("where anyone can sign up, each rule for writes of every caller is a warning", async (t) => {
  const collections = {
    users: { access: { read: "authenticated", update: { where: { id: "$subject" } } } },
    notes: { access: { write: "authenticated" } },
    topics: {
      access: { read: "public", create: [{ role: "editor" }, "authenticated"], delete: "authenticated" },
    },
  };
  const said = (signUp: unknown) =>
    warnings(t, { auth: { users: { collection: "users", signUp } }, collections });
  assert.deepEqual((await said("closed")).length, 1); // about the secret
  assert.deepEqual((await said("open")).slice(0, 3), [
    'collections.notes.access.write: everyone who signs up can write, because the rule is "authenticated"',
    'collections.topics.access.create[1]: everyone who signs up can write, because the rule is "authenticated"',
    'collections.topics.access.delete: everyone who signs up can write, because the rule is "authenticated"',
  ]);
  assert.deepEqual((await said({ domains: ["acme.example"] })).length, 4);
});

test("a local service that makes its own secret is a warning, and a secret ends it", async (t) => {
  const config = { auth: { users: { collection: "users" } }, collections: { users: {} } };
  const [said = "", ...others] = await warnings(t, config);
  assert.match(said, /^HOLDFAST_SECRET is not set, so the service makes a secret and keeps it in the store/);
  assert.deepEqual(others, []);
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(config) });
  const { stdout: secret } = await run(t, ["secret"], { cwd });
  assert.match(secret, /^[A-Za-z0-9+/]{43}=\n$/);
  const env = { HOLDFAST_SECRET: secret.trim() };
  const { exitCode, stdout } = await run(t, ["check"], { cwd, env });
  assert.deepEqual([exitCode, stdout.includes("warning")], [0, false], stdout);
});

test("administrators who need no second factor are a warning", async (t) => {
  const collections = { users: {} };
  const about = async (secondFactor: unknown) => {
    const users = { collection: "users", secondFactor };
    const administrators = [{ role: "ops" }, { subject: "deploy" }];
    const all = await warnings(t, { auth: { keys: true, administrators, users }, collections });
    return all.filter((text) => text.includes("secondFactor"));
  };
  for (const single of ["optional", "off", { roles: ["editor"] }])
    assert.deepEqual(await about(single), [
      'auth.users.secondFactor: users with the role "ops" administer the service, and need no second factor. Set it to { roles: ["ops"] }',
    ]);
  for (const double of ["required", { roles: ["ops"] }]) assert.deepEqual(await about(double), []);
});

test("all secrets that are missing are reported at once", async (t) => {
  const config = {
    publicUrl: "https://shop.example",
    mail: { from: "shop@shop.example", smtp: "smtps://shop@mail.example" },
    auth: {
      users: { collection: "users", providers: { google: { clientId: "a" }, gitlab: { clientId: "b" } } },
    },
    collections: { users: {} },
  };
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(config) });
  const { exitCode, stderr } = await run(t, ["check"], { cwd });
  const missing = [...stderr.matchAll(/^ *(HOLDFAST_\w+) is missing/gm)].map(([, name]) => name);
  const ofProviders = ["HOLDFAST_PROVIDER_GOOGLE_SECRET", "HOLDFAST_PROVIDER_GITLAB_SECRET"];
  assert.deepEqual(
    [exitCode, missing.sort()],
    [1, ["HOLDFAST_SECRET", "HOLDFAST_SMTP_PASSWORD", ...ofProviders].sort()],
  );
});

test("--asvs lists the requirements that a configuration with users meets, and reads no store", async (t) => {
  const users = { users: { access: { read: "public" } } };
  const auth = { users: { collection: "users", secondFactor: "required" } };
  const cwd = makeFolder({ ...configuration(users, { auth }), "holdfast.db": "no store" });
  const { exitCode, stdout, stderr } = await run(t, ["check", "--asvs"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /^met by this configuration: 6\.3\.3, a second factor for all users$/m);
  assert.match(stdout, /^not met by this configuration: 6\.2\.12, .* \(auth\.users\.password\.breached\)$/m);
  const without = await run(t, ["check", "--asvs"], { cwd: makeFolder(configuration({ a: {} })) });
  assert.deepEqual([without.exitCode, /no auth\.users/.test(without.stderr)], [1, true]);
});
