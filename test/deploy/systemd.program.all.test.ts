/** The units of systemd: their syntax, how much they forbid, and that the service works with the system calls that they allow. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createClient, end, startProgram } from "../durability/program.ts";
import { makeFolder } from "../folder.ts";
import { nodesOf, readPage } from "../pages/markdown.ts";
import { whyNoTrace } from "../strace.ts";

const units = "examples/deploy/systemd";
const names = ["shop.service", "shop-backup.service"];

/** The exposure level of `systemd-analyze security`, times ten. A service without protection has 96. */
const mostExposed = 15;

const noSystemd = whyNoSystemd();

function whyNoSystemd(): string | false {
  const { status } = spawnSync("systemd-analyze", ["--version"], { stdio: "ignore" });
  return status === 0 ? false : "needs systemd-analyze: on Debian apt-get install systemd";
}

/** A copy of a unit that needs no program of the production machine. `systemd-analyze` checks that programs exist. */
async function copyOf(name: string, change = (text: string) => text): Promise<string> {
  const text = readFileSync(join(units, name), "utf8").replace("/usr/bin/node", process.execPath);
  return join(makeFolder({ [name]: change(text) }), name);
}

const analyze = (...args: string[]) =>
  spawnSync("systemd-analyze", ["--no-pager", ...args], { encoding: "utf8" });

const verify = (file: string) => {
  const { status, stderr } = analyze("verify", "--man=no", file);
  return { status, stderr };
};

const isHardened = (file: string) =>
  analyze("security", "--offline=true", `--threshold=${mostExposed}`, file).status === 0;

test("the guide shows the unit of the service", () => {
  const shown = nodesOf(readPage("docs/how-to/operate.md"), "code").map(({ value }) => `${value}\n`);
  assert.ok(shown.includes(readFileSync(join(units, "shop.service"), "utf8")));
});

test("both units forbid the same", () => {
  const [service, backup] = names.map((name) =>
    readFileSync(join(units, name), "utf8")
      .split("\n")
      .filter((line) =>
        /^(?:Capab|Ambient|NoNew|Protect|Private|Proc|Remove|Lock|Restrict|SystemCall)/.test(line),
      ),
  );
  assert.ok((service?.length ?? 0) > 20);
  assert.deepEqual(backup, service);
});

describe("systemd", { skip: noSystemd }, () => {
  for (const name of names) {
    test(`accepts ${name} without a warning`, async () => {
      assert.deepEqual(verify(await copyOf(name)), { status: 0, stderr: "" });
      const misspelt = await copyOf(name, (text) => text.replace("ProtectHome=", "ProtectHomes="));
      assert.match(verify(misspelt).stderr, /ProtectHomes/);
    });

    test(`finds that ${name} is well protected`, async () => {
      assert.ok(isHardened(await copyOf(name)));
      const open = await copyOf(name, (text) => text.replace(/^(?:SystemCall|Restrict).*\n/gm, ""));
      assert.ok(!isHardened(open));
    });
  }
});

describe("with the system calls that the units allow", { skip: noSystemd || whyNoTrace() }, () => {
  test("the service serves, and a backup is made", async (t) => {
    const place = makeFolder();
    const store = join(place, "shop.db");
    const trace = join(place, "trace");
    const program = await startProgram(store, tracingAll(trace));
    t.after(() => end(program, "SIGKILL"));
    const client = createClient(program.port);
    for (let number = 0; number < 20; number++) await client.send("POST", "/topics", { number });
    assert.equal((await client.send("GET", "/topics?number=3"))?.status, 200);
    const backup = [process.execPath, "--conditions=holdfast-source", "bin/holdfast.js", "backup"];
    const backupTrace = join(place, "backup-trace");
    const [command = "", ...args] = tracingAll(backupTrace);
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^HOLDFAST_/.test(key)));
    execFileSync(command, [...args, ...backup, `${store}.copy`, "--store", `sqlite:${store}`], { env });
    client.close();
    await end(program, "SIGTERM");
    const allowed = allowedCalls(readFileSync(join(units, "shop.service"), "utf8"));
    assert.ok(allowed.size > 200 && !allowed.has("mount"), `${allowed.size} calls are allowed`);
    for (const file of [trace, backupTrace]) {
      const used = callsOf(readFileSync(file, "utf8"));
      used.delete("fchown"); // SQLite calls it only as root, and the units run as another user
      assert.ok(used.has("openat") && used.has("mmap"), "the trace is complete");
      assert.deepEqual(
        [...used].filter((call) => !allowed.has(call)),
        [],
      );
    }
  });
});

/** The command that traces all system calls of a program. */
const tracingAll = (file: string) => ["strace", "-D", "-f", "-o", file];

/** The names of the system calls in a trace. */
function callsOf(trace: string): Set<string> {
  return new Set([...trace.matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = ""]) => name));
}

/** The system calls that the filters of a unit allow: those of the first filter without those of the next ones. */
function allowedCalls(unit: string): Set<string> {
  const allowed = new Set<string>();
  for (const [, not, list = ""] of unit.matchAll(/^SystemCallFilter=(~?)(.+)$/gm))
    for (const call of list.split(" ").flatMap(callsIn))
      if (not === "~") allowed.delete(call);
      else allowed.add(call);
  return allowed;
}

/** The system calls of a group such as `@system-service`, with those of the groups in it. */
function callsIn(name: string): string[] {
  if (!name.startsWith("@")) return [name];
  const members = analyze("syscall-filter", name)
    .stdout.split("\n")
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return members.flatMap(callsIn);
}
