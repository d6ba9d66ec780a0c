/** The first API key: a link on a terminal, and a command elsewhere. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { planFirstKey } from "../../src/access/first-key.ts";
import { firstKeyCommand } from "../../src/commands/serve-command.ts";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { run, serve } from "./cli.ts";
import { atTerminal, skip } from "./terminal.ts";

const withKeys = (auth: object = {}) => ({
  "holdfast.config.json": JSON.stringify({
    auth: { keys: true, administrators: { role: "ops" }, ...auth },
    collections: { articles: { access: { read: { role: "reader" }, write: { role: "reader" } } } },
  }),
});

const isBuilt = existsSync(resolve("dist/console/index.html"));
const why = skip || (!isBuilt && "needs the console: npx vite build --config console/vite.config.ts");

const link = /first key +(http:\S+?)\/#first-key=(\S+)/;

function spend(origin: string, token: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${origin}/_console/first-key`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ token }),
  });
}

async function keysOf(origin: string, key: string): Promise<{ name: string }[]> {
  const response = await fetch(`${origin}/api/v1/_keys`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(response.status, 200);
  return ((await response.json()) as { keys: { name: string }[] }).keys;
}

describe("on a terminal", { skip: why }, () => {
  test("the start of a service with users prints a link for the first administrator, and elsewhere none", async (t) => {
    const content = JSON.stringify({
      auth: { users: { collection: "users" }, administrators: { role: "ops" } },
      collections: { users: { access: { read: "public" } } },
    });
    const cwd = makeFolder({ "holdfast.config.json": content });
    const first = /first user +(http:\/\/localhost:\d+\/_sign-in#invitation=[\w-]{43})/;
    const terminal = atTerminal(t, cwd, ["serve", "--port", "0"]);
    await terminal.shows(first);
    terminal.type("\x03");
    await terminal.ended;
    const service = await serve(t, [], { cwd });
    assert.doesNotMatch(service.output().stdout, /first user|invitation=/);
  });

  test("the start prints a link whose token gives one key that administers", async (t) => {
    const cwd = makeFolder(withKeys());
    const terminal = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, origin = "", token = ""] = await terminal.shows(link);
    assert.equal((await spend(origin, `${token}x`)).status, 401);
    assert.equal((await spend(origin, 7)).status, 400);
    assert.equal((await spend(origin, token, { "content-type": "text/plain" })).status, 415);
    const refused = await fetch(`${origin}/_console/first-key`);
    assert.equal(refused.status, 405);
    const response = await spend(origin, token);
    assert.equal(response.status, 201);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const made = (await response.json()) as { key: string; roles: string[]; administers: boolean };
    assert.deepEqual(made.roles, ["ops", "reader"]);
    assert.equal(made.administers, true);
    assert.deepEqual(
      (await keysOf(origin, made.key)).map(({ name }) => name),
      ["first-key"],
    );
    const again = await spend(origin, token);
    assert.equal(again.status, 404);
    assert.equal(await again.text(), "", "as for any path that does not exist");
    terminal.type("\x03");
    const { shown } = await terminal.ended;
    assert.ok(!shown.includes(made.key));
    assert.equal(shown.split(token).length, 2, "the log has no token");

    const next = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, base = ""] = await next.shows(/docs +(http:\S+)\/docs/);
    assert.equal((await spend(base, token)).status, 404);
    next.type("\x03");
    assert.doesNotMatch((await next.ended).shown, /first key/);
  });

  test("a restart makes another link, and the old token is wrong", async (t) => {
    const cwd = makeFolder(withKeys());
    const first = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, , old = ""] = await first.shows(link);
    first.type("\x03");
    await first.ended;
    const second = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, origin = "", token = ""] = await second.shows(link);
    assert.equal((await spend(origin, old)).status, 401);
    assert.equal((await spend(origin, token)).status, 201);
  });

  test("a key that the command line made ends the link", async (t) => {
    const cwd = makeFolder(withKeys());
    const terminal = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, origin = "", token = ""] = await terminal.shows(link);
    const { exitCode, stderr } = await run(t, ["keys", "create", "--name", "own", "--role", "ops"], { cwd });
    assert.equal(exitCode, 0, stderr);
    const response = await spend(origin, token);
    assert.equal(response.status, 409);
    assert.match(await response.text(), /"KEY_UNAVAILABLE"/);
    assert.equal((await spend(origin, token)).status, 404);
  });

  test("wrong tokens count against the rate limit", async (t) => {
    const files = withKeys();
    const config = JSON.parse(files["holdfast.config.json"]);
    const rate = { requests: 3, perSeconds: 3_600 };
    const cwd = makeFolder({ "holdfast.config.json": JSON.stringify({ ...config, limits: { rate } }) });
    const [, origin = "", token = ""] = await atTerminal(t, cwd, ["serve", "--port", "0"]).shows(link);
    for (let n = 0; n < 3; n++) assert.equal((await spend(origin, "wrong")).status, 401);
    assert.equal((await spend(origin, token)).status, 429);
  });

  test("without the console, the start prints a command", async (t) => {
    const cwd = makeFolder(withKeys());
    const terminal = atTerminal(t, cwd, ["serve", "--port", "0", "--console", "false"]);
    await terminal.shows(/first key +npx holdfast keys create/);
  });
});

describe("elsewhere", () => {
  test("the start prints a command that creates the key, and no path takes a token", async (t) => {
    const cwd = makeFolder(withKeys());
    const service = await serve(t, [], { cwd });
    const [, command = ""] = /first key +npx holdfast (.+)\n/.exec(service.output().stdout) ?? [];
    assert.equal(command, "keys create --name first-key --role ops --role reader");
    assert.doesNotMatch(service.output().stdout, /#first-key/);
    assert.equal((await spend(service.origin, "x")).status, 404);
    const { exitCode, stdout } = await run(t, command.split(" "), { cwd });
    assert.equal(exitCode, 0);
    assert.equal((await keysOf(service.origin, stdout.trim())).length, 1);
  });

  test("the command names the configuration file and the store that the service was started with", async (t) => {
    const cwd = makeFolder({ "other config.json": withKeys()["holdfast.config.json"] });
    const flags = ["--config", "other config.json", "--store", "sqlite:other.db"];
    const service = await serve(t, flags, { cwd });
    const [, command = ""] = /first key +npx holdfast (.+)\n/.exec(service.output().stdout) ?? [];
    assert.equal(
      command,
      "keys create --name first-key --role ops --role reader --config 'other config.json' --store sqlite:other.db",
    );
    const words = [...command.matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole);
    const { exitCode, stdout } = await run(t, words, { cwd });
    assert.equal(exitCode, 0);
    assert.equal((await keysOf(service.origin, stdout.trim())).length, 1);
  });

  test("the command names the store of the environment, without its password", () => {
    const { properties } = planFirstKey([{ role: "ops" }], []);
    const lines = (flags: object, env: object) =>
      firstKeyCommand({ properties }, { flags: { ...flags }, env: { ...env } });
    const own = "npx holdfast keys create --name first-key --role ops";
    const url = "postgres://ada:secret@db/shop";
    assert.deepEqual(lines({}, { HOLDFAST_STORE: "shop.db" }), [`${own} --store shop.db`]);
    assert.deepEqual(lines({}, { HOLDFAST_STORE: url }), [`${own} --store "$HOLDFAST_STORE"`]);
    assert.deepEqual(lines({ store: "postgres://db/shop" }, {}), [`${own} --store postgres://db/shop`]);
  });

  test("the command names the store of a flag without its password, and says where the password belongs", async (t) => {
    const { properties } = planFirstKey([], []);
    const lines = (store: string) => firstKeyCommand({ properties }, { flags: { store }, env: {} });
    for (const [given, shown] of [
      ["postgres://ada:secret@db:5433/shop", "postgres://ada@db:5433/shop"],
      [
        "postgres://db/shop?user=ada&password=secret&sslmode=disable",
        "'postgres://db/shop?user=ada&sslmode=disable'",
      ],
    ] as const)
      assert.deepEqual(lines(given), [
        `npx holdfast keys create --name first-key --store ${shown}`,
        "(the variable PGPASSWORD must have the password of the store)",
      ]);

    const cwd = makeFolder(withKeys());
    const url = new URL(await databaseFor(t));
    url.password = "secret";
    const service = await serve(t, ["--store", url.href], { cwd });
    const { stdout: banner } = service.output();
    assert.doesNotMatch(banner, /secret/);
    const [, command = "", hint = ""] = /first key +npx holdfast (.+)\n +(.+)\n/.exec(banner) ?? [];
    assert.match(hint, /PGPASSWORD/);
    const { exitCode, stdout } = await run(t, command.split(" "), { cwd });
    assert.equal(exitCode, 0);
    assert.equal((await keysOf(service.origin, stdout.trim())).length, 1);
  });

  test("the command has the subject of the administrator, in quotes for a shell", async (t) => {
    const cwd = makeFolder(withKeys({ administrators: { subject: "ada l" } }));
    const service = await serve(t, [], { cwd });
    assert.match(service.output().stdout, /keys create --name first-key --subject 'ada l' --role reader\n/);
  });

  test("after an earlier key, even a revoked one, the start prints nothing", async (t) => {
    const cwd = makeFolder(withKeys());
    const { stdout } = await run(t, ["keys", "create", "--name", "own"], { cwd });
    await run(t, ["keys", "revoke", stdout.trim()], { cwd });
    const service = await serve(t, [], { cwd });
    assert.doesNotMatch(service.output().stdout, /first key/);
  });
});
