import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../until.ts";
import { configuration, type Outcome, run, serve } from "./cli.ts";
import { place } from "./keys-fixture.ts";

const keyShape = /^hf_[0-9a-z]{8}_[0-9a-z]{50}$/;

function refused({ exitCode, stdout, stderr }: Outcome, says: RegExp): void {
  assert.deepEqual([exitCode, stdout], [1, ""], stderr);
  assert.match(stderr, /^holdfast: [^\n]+\n$/);
  assert.match(stderr, says);
}

const status = async (base: string, key: string) =>
  (await fetch(`${base}/articles`, { headers: { authorization: `Bearer ${key}` } })).status;

test("a key stands alone on the last line of stdout, and nowhere in the store", async (t) => {
  const { cwd, keys } = await place(t);
  const made = await keys("create", "--name", "deploy", "--expires", "90d");
  assert.equal(made.exitCode, 0, made.stderr);
  const key = made.stdout.split("\n").at(-2) ?? "";
  assert.match(key, keyShape);
  assert.equal(made.stdout, `${key}\n`);
  assert.doesNotMatch(made.stderr, /hf_|note:/);
  const listed = await keys("list");
  for (const file of ["holdfast.db", "holdfast.db-wal"]) {
    const bytes = await readFile(join(cwd, file), "latin1").catch(() => "");
    assert.ok(!bytes.includes(key.slice(12)), file);
  }
  assert.ok(!listed.stdout.includes(key.slice(12)));
  assert.match(listed.stdout, new RegExp(`^${key.slice(0, 11)} +deploy +deploy +none +all +\\d{4}-`, "m"));
});

test("a key lets in while the service runs, until it is revoked, and its use is listed by the hour", async (t) => {
  const { cwd, keys, create, list } = await place(t);
  const { base } = await serve(t, [], { cwd });
  assert.equal((await fetch(`${base}/articles`)).status, 401);
  const key = await create("--name", "deploy");
  assert.equal(await status(base, key), 200);
  await until("its use is listed", async () => (await list())[0]?.lastUsedAt !== null);
  assert.match((await list())[0]?.lastUsedAt ?? "", /T\d{2}:00:00\.000Z$/);
  const revoked = await keys("revoke", "deploy");
  assert.match(revoked.stderr, new RegExp(`^revoked the API key ${key.slice(0, 11)} \\("deploy"\\)\n$`));
  await until("it is refused", async () => (await status(base, key)) === 401);
  assert.notEqual((await list())[0]?.revokedAt, null);
});

test("what is said of a key is kept, and a change names its subject", async (t) => {
  const { cwd, create, list } = await place(t);
  const scopes = ["--scope", "articles:write", "--scope", "articles:read"];
  const roles = ["--role", "editor", "--role", "admin"];
  const key = await create(
    "--name",
    "kim's phone",
    "--subject",
    "kim",
    ...roles,
    ...scopes,
    "--expires",
    "2h",
  );
  const [made] = await list();
  assert.deepEqual(
    [made?.prefix, made?.name, made?.subject, made?.roles, made?.scopes],
    [key.slice(0, 11), "kim's phone", "kim", ["editor", "admin"], ["articles:write", "articles:read"]],
  );
  assert.equal(Date.parse(made?.expiresAt ?? "") - Date.parse(made?.createdAt ?? ""), 7_200_000);
  const { base } = await serve(t, [], { cwd });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const { id } = (await (
    await fetch(`${base}/articles`, { method: "POST", headers, body: "{}" })
  ).json()) as {
    id: string;
  };
  const changes = await (await fetch(`${base}/articles/${id}/_changes`, { headers })).json();
  assert.deepEqual(
    (changes as { principal: string }[]).map(({ principal }) => principal),
    ["kim"],
  );
});

test("a key is revoked by its prefix or by the whole of it, and others stay", async (t) => {
  const { keys, create, list } = await place(t);
  const [a, b] = [await create("--name", "a"), await create("--name", "b")];
  await create("--name", "c");
  assert.equal((await keys("revoke", a.slice(0, 11))).exitCode, 0);
  assert.equal((await keys("revoke", b)).exitCode, 0);
  assert.deepEqual(
    (await list()).map(({ name, revokedAt }) => [name, revokedAt === null]),
    [
      ["a", false],
      ["b", false],
      ["c", true],
    ],
  );
  refused(await keys("revoke", a), /No valid API key has the name or prefix "hf_\w{8}"\. /);
});

test("a key in the wrong place of a command is not told again", async (t) => {
  const { keys, create } = await place(t);
  const key = await create("--name", "a");
  const secret = key.slice(12);
  for (const args of [["revoke", `Bearer ${key}`], ["rotate", `"${key}"`], ["revoke", "a", key], [key]]) {
    const outcome = await keys(...args);
    refused(outcome, /hf_\w{8}_…/);
    assert.ok(!outcome.stderr.includes(secret));
  }
});

test("the store may be named before and behind what is done with its keys", async (t) => {
  const { cwd, keys } = await place(t);
  const made = await keys("create", "--name", "a", "--store", "other.db");
  assert.equal(made.exitCode, 0, made.stderr);
  assert.match((await keys("list", "--store", "other.db")).stdout, /^hf_\w{8} +a /m);
  assert.match((await keys("--store", "other.db", "list")).stdout, /^hf_\w{8} +a /m);
  await assert.rejects(readFile(join(cwd, "holdfast.db")), { code: "ENOENT" });
});

test("who makes a key that nobody takes is told", async (t) => {
  const { keys } = await place(t, {});
  const { stdout, stderr } = await keys("create", "--name", "deploy");
  assert.match(stdout, /^hf_\w+\n$/);
  assert.match(
    stderr,
    /note: the service does not accept API keys yet\. Add auth: \{ keys: true \} to the configuration\./,
  );
});

const refusals: readonly (readonly [string[], RegExp])[] = [
  [["create"], /--name <name>' not specified \(see npx holdfast keys create --help\)/],
  [["create", "--name", ""], /--name must be 1 to 100 printable characters/],
  [["create", "--name", "a\u001b[31m"], /--name must be/],
  [["create", "--name", "hf_a"], /must not begin with "hf_"/],
  [["create", "--name", "a", "--subject", " kim"], /--subject must be/],
  [
    ["create", "--name", "a", "--role", "two words"],
    /--role must be 1 to 100 printable characters without spaces, not "two words"/,
  ],
  [["create", "--name", "a", "--scope", "articles"], /--scope must be <collection>:read or/],
  [
    ["create", "--name", "a", "--scope", "artcles:read"],
    /the collection "artcles" is not declared\. Did you mean "articles"\?/,
  ],
  [
    ["create", "--name", "a", "--expires", "soon"],
    /--expires must be a time such as 90d, 12h or 30m, or a date such as 2027-01-31, not "soon"/,
  ],
  [["create", "--name", "a", "--expires", "2020-01-01"], /--expires must be in the future/],
  [["create", "--name", "a", "--expires", "2027-02-30T"], /--expires must be a time such as/],
  [["create", "--name", "a", "--expires", "2027-02-30"], /--expires must be a date that exists/],
  [["create", "--name", "a", "--expires", "2027-01-01T24:00Z"], /--expires must be a date that exists/],
  [["create", "--name", "a", "--expires", "0d"], /--expires must be in the future/],
  [["crate"], /unknown command 'crate' \(Did you mean create\?\)/],
  [["revoke"], /missing required argument 'key' \(see npx holdfast keys revoke --help\)/],
  [["list"], /The store \S+ does not exist\.\n$/],
  [["revoke", "a"], /The store \S+ does not exist\.\n$/],
  [["rotate", "a"], /The store \S+ does not exist\.\n$/],
];

test("an error is one line, and makes no key and no store", async (t) => {
  const { cwd, keys } = await place(t);
  await Promise.all(refusals.map(async ([args, says]) => refused(await keys(...args), says)));
  await assert.rejects(readFile(join(cwd, "holdfast.db")), { code: "ENOENT" });
});

test("two keys of one name are not made, and a name that was revoked is free again", async (t) => {
  const { keys, create } = await place(t);
  await create("--name", "deploy");
  refused(await keys("create", "--name", "deploy"), /An API key "deploy" already exists \(hf_\w{8}\)\. /);
  refused(
    await keys("revoke", "deplo"),
    /No valid API key has the name or prefix "deplo"\. Did you mean "deploy"\?/,
  );
  await keys("revoke", "deploy");
  await create("--name", "deploy");
});

test("each part of the command has its help, with configuration and store", async (t) => {
  const { keys } = await place(t);
  for (const part of ["create", "list", "rotate", "revoke"]) {
    const { stdout } = await keys(part, "--help");
    assert.match(stdout, new RegExp(`^Usage: holdfast keys ${part} `));
    assert.match(stdout, /--config <file>/);
    assert.match(stdout, /--store <address>/);
  }
});

const roled = configuration(
  {
    articles: {
      access: { read: "public", write: [{ role: "editor" }, { role: "publisher" }] },
      attributes: { salary: { roles: ["payroll"] } },
    },
  },
  { auth: { keys: true } },
);

test("a role that no rule names causes a warning with the nearest role, and the key is made", async (t) => {
  const { keys, list } = await place(t, roled);
  const made = await keys("create", "--name", "ada", "--role", "editer", "--role", "payroll");
  assert.equal(made.exitCode, 0, made.stderr);
  assert.match(made.stdout.trim(), keyShape);
  assert.match(made.stderr, /^warning: no rule names the role "editer"\. Did you mean "editor"\?$/m);
  assert.doesNotMatch(made.stderr, /"payroll"/);
  assert.deepEqual((await list())[0]?.roles, ["editer", "payroll"]);
});

test("a role that is like no other causes one warning, with the known roles", async (t) => {
  const { keys } = await place(t, roled);
  const { stderr } = await keys("create", "--name", "ada", "--role", "x1", "--role", "robot-47");
  assert.deepEqual(stderr.match(/^warning: .*$/gm), [
    'warning: no rule names the role "x1". Known names: editor, publisher, payroll.',
    'warning: no rule names the role "robot-47". Known names: editor, publisher, payroll.',
  ]);
});

test("a role that a rule names causes no warning, and without auth no role does", async (t) => {
  const named = await place(t, roled);
  const roles = ["--role", "editor", "--role", "publisher"];
  assert.doesNotMatch((await named.keys("create", "--name", "ada", ...roles)).stderr, /warning:/);
  const open = await place(t, {});
  const { stderr } = await open.keys("create", "--name", "ada", "--role", "editor");
  assert.match(stderr, /^note: the service does not accept API keys yet/);
  assert.doesNotMatch(stderr, /warning:/);
});

test("a role causes a warning if no rule names any role", async (t) => {
  const { keys } = await place(t);
  const { stderr } = await keys("create", "--name", "ada", "--role", "editor");
  assert.match(stderr, /^warning: no rule names the role "editor"\. No rule names any role\.$/m);
});

test("no key is lost that a command confirmed after the index of the log was removed beneath a service", async (t) => {
  const { cwd, keys, list } = await place(t);
  const service = await serve(t, [], { cwd });
  service.process.kill("SIGSTOP"); // it does not notice the removal before the commands run
  await rm(join(cwd, "holdfast.db-shm"));
  refused(
    await keys("create", "--name", "first"),
    /holdfast\.db-shm\. .* Nothing was written\. Restart the service/,
  );
  refused(await run(t, ["backup", "copy.db"], { cwd }), /holdfast\.db-shm\. .* No backup was made\./);
  service.process.kill("SIGCONT");
  const { exitCode, stderr } = await service.ended;
  assert.equal(exitCode, 1, stderr);
  assert.match(stderr, /holdfast\.db-shm was (?:removed|replaced) while it was in use/);
  const key = (await keys("create", "--name", "second")).stdout.trim();
  const again = await serve(t, [], { cwd });
  assert.equal(await status(again.base, key), 200);
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ["second"],
  );
});
