/** The mails of a local service without a mail server. Its output goes to a pipe, as with `nohup` and in a container. */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { MailFolder } from "../../../src/capabilities/users/mail/local-mail.ts";
import { type RunningService, run, serve } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

const config = (more = "") => ({
  "holdfast.config.mjs": `export default {
    collections: { users: { access: { read: "authenticated" } } },
    auth: { users: { collection: "users", signUp: "open" } },
    ${more}
  };`,
});

const headers = { "content-type": "application/json" };

async function post({ base }: RunningService, path: string, content: object): Promise<{ ticket: string }> {
  const response = await fetch(`${base}/${path}`, { method: "POST", headers, body: JSON.stringify(content) });
  assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
  return response.json() as Promise<{ ticket: string }>;
}

const ada = { email: "ada@example.org", password: "correct horse battery" };

const codeIn = (text: string) => /\b[A-Z0-9]{4}-[A-Z0-9]{4}\b/.exec(text)?.[0] ?? "";

test("each mail is a file that only its user reads, and the output names its path and never its code", async (t) => {
  const cwd = makeFolder(config());
  const service = await serve(t, [], { cwd });
  const folder = join(cwd, "holdfast.db.mail");
  await until("the start names the folder", () =>
    service.output().stdout.includes(`mail        each mail is a file in ${folder}\n`),
  );
  const { ticket } = await post(service, "_auth/sign-up", ada);
  await until("the log names the file", () => /a mail is in [^"]+\.txt/.test(service.output().stderr));
  const [, path = ""] = /a mail is in ([^"]+\.txt)/.exec(service.output().stderr) ?? [];
  assert.deepEqual(
    [path],
    (await readdir(folder)).map((name) => join(folder, name)),
  );
  assert.deepEqual([(await stat(folder)).mode & 0o777, (await stat(path)).mode & 0o777], [0o700, 0o600]);
  const mail = await readFile(path, "utf8");
  assert.match(mail, /^To: ada@example\.org\nSubject: .+\nDate: .+Z\n\n/);
  const code = codeIn(mail);
  await post(service, "_auth/sign-in", { ticket, code });
  service.process.kill();
  const { stdout, stderr } = await service.ended;
  assert.ok(code !== "" && !`${stdout}${stderr}`.includes(code), "the output has no code");
  assert.ok(!`${stdout}${stderr}`.includes("ada@"), "the output has no address");
});

test('with mail: "log", the log has each mail', async (t) => {
  const cwd = makeFolder(config('mail: "log",'));
  const service = await serve(t, [], { cwd });
  const { ticket } = await post(service, "_auth/sign-up", ada);
  await until("the log has the mail", () => codeIn(service.output().stderr) !== "");
  await post(service, "_auth/sign-in", { ticket, code: codeIn(service.output().stderr) });
  assert.ok(!(await readdir(cwd)).includes("holdfast.db.mail"));
});

test('a service that others can reach does not start with mail: "log"', async (t) => {
  const cases = {
    publicUrl: 'publicUrl: "https://shop.example",',
    trustProxy: 'trustProxy: ["127.0.0.1"],',
    hosts: 'hosts: ["shop.example"],',
    "a host that is no loopback address": 'host: "0.0.0.0",',
  };
  for (const [what, option] of Object.entries(cases)) {
    const cwd = makeFolder(config(`mail: "log", ${option}`));
    const { exitCode, stderr } = await run(t, ["serve", "--port", "0"], { cwd });
    assert.equal(exitCode, 1);
    assert.ok(
      stderr.includes(`because people sign in with the codes in the log. This service has ${what}.`),
      stderr,
    );
  }
});

test("a folder keeps the last 100 mails and all other files, and one beside no file is removed at the stop", async () => {
  const cwd = makeFolder();
  const mail = { to: "ada@example.org", subject: "A code", text: "K7QF-29MX", html: "" };
  const folder = new MailFolder({ kind: "sqlite", path: join(cwd, "store.db") });
  await mkdir(folder.path);
  await writeFile(join(folder.path, "notes.txt"), "mine");
  const paths: string[] = [];
  for (let n = 0; n < 103; n++)
    paths.push(await folder.write({ ...mail, id: crypto.randomUUID(), at: 1_700_000_000_000 + 1_000 * n }));
  await folder.write({ ...mail, id: paths.at(-1)?.slice(-16, -4) ?? "", at: 1_700_000_102_000 });
  const kept = (await readdir(folder.path)).map((name) => join(folder.path, name));
  assert.deepEqual(kept.sort(), [...paths.slice(3), join(folder.path, "notes.txt")].sort());
  await folder.close();
  assert.equal((await readdir(folder.path)).length, 101);
  const temporary = new MailFolder({ kind: "postgres", url: "postgres://localhost/shop" });
  const path = await temporary.write({ ...mail, id: crypto.randomUUID(), at: 0 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await temporary.close();
  await assert.rejects(stat(temporary.path));
});
