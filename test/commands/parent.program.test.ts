import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { halfSent, listening, type Running, run, startUnderShell, untilDeaf } from "./cli.ts";

const ends = {
  "the shell of an npm script": (shell: Running) => shell.process.kill("SIGTERM"),
  "everything that an npm script has started": (shell: Running) =>
    process.kill(-Number(shell.process.pid), "SIGTERM"),
};

for (const [what, end] of Object.entries(ends)) {
  test(`SIGTERM for ${what}: the service answers what it has accepted, and ends`, async (t) => {
    const cwd = makeFolder({ things: '{"n":2}', "holdfast.config.json": '{"stopTimeoutMs":600000}' });
    const shell = startUnderShell(t, ["serve", "--port", "0"], {
      cwd,
      env: { npm_lifecycle_event: "start" },
    });
    const origin = await listening(shell);
    const { finish, answer } = await halfSent({ origin });
    end(shell);
    await untilDeaf({ origin });
    finish();
    assert.match(await answer, /^HTTP\/1\.1 201 Created\r\n/);
    await shell.ended; // the service has the same output, which is open until it has ended too
    const { exitCode, stderr } = await run(t, ["import", "things", "things"], { cwd });
    assert.equal(exitCode, 0, stderr);
  });
}

test("a signal that arrives after the end of the npm script does not end the service at once", async (t) => {
  const cwd = makeFolder({ "holdfast.config.json": '{"stopTimeoutMs":600000}' });
  const shell = startUnderShell(t, ["serve", "--port", "0", "--log", "requests"], {
    cwd,
    env: { npm_lifecycle_event: "start" },
  });
  const origin = await listening(shell);
  const { finish, answer } = await halfSent({ origin });
  shell.process.kill("SIGTERM");
  const said = () => Object.values(shell.output()).join("");
  await until("the service stops", () => /has ended, so the service stops/.test(said()));
  process.kill(-Number(shell.process.pid), "SIGTERM");
  await untilDeaf({ origin });
  finish();
  assert.match(await answer, /^HTTP\/1\.1 201 Created\r\n/);
  await shell.ended;
});

test("a service that no npm script started outlives its shell", async (t) => {
  const shell = startUnderShell(t, ["serve", "--port", "0"], { cwd: makeFolder() });
  const origin = await listening(shell);
  shell.process.kill("SIGTERM");
  await once(shell.process, "exit");
  // Another service begins to look at its shell only now. When it has noticed the end of its shell, the first one has looked, too.
  const ofScript = startUnderShell(t, ["serve", "--port", "0"], {
    cwd: makeFolder(),
    env: { npm_lifecycle_event: "start" },
  });
  await listening(ofScript);
  ofScript.process.kill("SIGTERM");
  await ofScript.ended;
  assert.equal((await fetch(`${origin}/readyz`)).status, 200);
});
