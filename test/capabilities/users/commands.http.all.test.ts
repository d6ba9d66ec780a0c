/** `holdfast users`: the first account of a service, and what the command does with accounts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { run, serve, stop } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";
import { codeShape } from "./http/people.ts";

test("the first account is invited by a link, without a running service", async (t) => {
  const config = {
    store: "sqlite:a.db",
    collections: { users: { id: "uuid", access: { read: "public" } } },
    auth: { administrators: { role: "ops" }, users: { collection: "users" } },
  };
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(config) });
  const invited = await run(t, ["users", "invite", "Ada@example.org", "--role", "ops"], { cwd });
  assert.equal(invited.exitCode, 0, invited.stderr);
  assert.match(invited.stdout, /^http:\/\/localhost:3000\/_sign-in#invitation=[\w-]{43}\n$/);
  const misspelled = await run(t, ["users", "invite", "eve@example.org", "--role", "opps"], { cwd });
  assert.match(misspelled.stderr, /warning: no rule names the role "opps"\. Did you mean "ops"/);
  const wrong = await run(t, ["users", "invite", "ada"], { cwd });
  assert.equal(wrong.exitCode, 1);
  const list = await run(t, ["users", "list"], { cwd });
  assert.deepEqual([list.exitCode, list.stdout], [0, ""]);
  for (const command of [
    ["roles", "ada@example.org", "ops"],
    ["reset-factors", "ada@example.org"],
  ]) {
    const unknown = await run(t, ["users", ...command], { cwd });
    assert.equal(unknown.exitCode, 1);
    assert.match(unknown.stderr, /No account has the address or the id "ada@example.org"/);
  }
});

test("check warns of addresses that anyone can read, and a command writes the mirrored attributes", async (t) => {
  const email = { type: "string", readOnly: true };
  const users = { id: "uuid", access: { read: "public" }, schema: { type: "object", properties: { email } } };
  const auth = {
    administrators: { role: "ops" },
    users: { collection: "users", mirror: { email: "email" } },
  };
  const config = { store: "sqlite:a.db", collections: { users }, auth };
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(config) });
  const warning = /auth\.users\.mirror\.email: anyone can read the mail addresses in "users"/;
  assert.match((await run(t, ["check"], { cwd })).stdout, warning);
  const mirrored = await run(t, ["users", "mirror"], { cwd });
  assert.deepEqual([mirrored.exitCode, mirrored.stderr], [0, "changed 0 profiles\n"]);
});

test("accounts of a running service are managed with its address and the key of an administrator", async (t) => {
  const config = {
    store: "sqlite:a.db",
    collections: { users: { id: "uuid", access: { read: "public" } } },
    auth: {
      keys: true,
      administrators: { role: "ops" },
      keyRoles: ["ops", "editor"],
      users: { collection: "users" },
    },
  };
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(config) });
  const key = await run(t, ["keys", "create", "--name", "root", "--role", "ops", "--subject", "root"], {
    cwd,
  });
  const token = /hf_\S+/.exec(key.stdout)?.[0] ?? assert.fail(key.stderr);
  const service = await serve(t, [], { cwd });
  const inUse = await run(t, ["users", "list"], { cwd });
  assert.match(inUse.stderr, /in use by another Holdfast program.*--url/);
  const call = (...command: string[]) =>
    run(t, ["users", ...command, "--url", service.base, "--token", token], { cwd });
  const ask = async (path: string, content?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const own = path.startsWith("_auth") ? { "content-type": "application/json" } : headers;
    const sent = content === undefined ? {} : { method: "POST", body: JSON.stringify(content) };
    return (await fetch(`${service.base}/${path}`, { headers: own, ...sent })).json() as Promise<
      Record<string, never>
    >;
  };
  const mailed = async (shape: RegExp) => {
    let found: string | undefined;
    await until("the mail", async () => {
      const { mails } = (await ask("_mails")) as unknown as { mails: { text: string }[] };
      found = mails.flatMap(({ text }) => shape.exec(text)?.at(-1) ?? [])[0];
      return found !== undefined;
    });
    return found ?? "";
  };
  const invited = await call("invite", "ada@example.org", "--role", "editor");
  assert.deepEqual([invited.exitCode, invited.stdout], [0, ""], invited.stderr);
  const invitation = await mailed(/#invitation=([\w-]{43})/);
  const asked = { email: "ada@example.org", password: "correct horse battery staple", invitation };
  const { ticket } = await ask("_auth/sign-up", asked);
  const code = await mailed(codeShape);
  const signedIn = await ask("_auth/sign-in", { ticket, code });
  assert.equal(typeof signedIn.token, "string", JSON.stringify(signedIn));
  const listed = await call("list");
  assert.equal(listed.exitCode, 0, listed.stderr);
  const [account] = listed.stdout.trim().split("\n");
  const { id, roles } = JSON.parse(account ?? "") as { id: string; roles: string[] };
  assert.deepEqual(roles, ["editor"]);
  const changed = JSON.parse((await call("roles", "Ada@example.org", "ops,editor")).stdout) as {
    roles: string[];
  };
  assert.deepEqual(changed.roles, ["ops", "editor"]);
  for (const command of ["sign-out", "reset-factors"])
    assert.equal((await call(command, id)).exitCode, 0, command);
  assert.match((await call("mirror")).stderr, /works on the store only/);
  const last = await call("disable", id);
  assert.deepEqual([last.exitCode, last.stderr.includes("last account")], [1, true], last.stderr);
  const unknown = await call("enable", "bob@example.org");
  assert.match(unknown.stderr, /No account has the address or the id "bob@example.org"/);
  await stop(service);
});
