/** A log without a reader must not block the service. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { Agent, request } from "node:http";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { nodeFlags } from "../node.ts";
import { ceilingMs, until } from "../until.ts";

const binary = resolve("bin/holdfast.js");

/** The service with its log going to an open file. */
async function serveTo(
  t: TestContext,
  cwd: string,
  stderr: number,
): Promise<{ child: ChildProcess; base: string }> {
  const args = [...nodeFlags, binary, "serve", "--port", "0", "--log", "requests"];
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", stderr] });
  t.after(() => child.kill("SIGKILL"));
  let stdout = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  let base: string | undefined;
  await until("it listens", () => {
    [, base] = /listens on +(\S+)/.exec(stdout) ?? [];
    assert.equal(child.exitCode, null);
    return base !== undefined;
  });
  return { child, base: String(base) };
}

/** Sends this many requests over a few connections. Fails if one gets no response. */
async function get(url: string, times: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const one = () =>
    new Promise<void>((answered, reject) => {
      const outgoing = request(url, { agent, timeout: ceilingMs }, (answer) => {
        answer.resume().once("end", answered);
      });
      outgoing.once("timeout", () => outgoing.destroy(new Error("no answer")));
      outgoing.once("error", reject).end();
    });
  try {
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let n = 0; n < times / 8; n++) await one();
      }),
    );
  } finally {
    agent.destroy();
  }
}

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill("SIGTERM");
  const [exitCode] = await once(child, "exit");
  return exitCode;
}

/** Both ends of a named pipe. Only `reader` reads from it. */
async function openPipe(cwd: string): Promise<{ reader: number; writer: number }> {
  const path = join(cwd, "log");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY) };
}

/** Another program that writes there. A Node that ends makes the pipe again what it found: one that is waited for. */
async function startOther(t: TestContext, stderr: number): Promise<{ end(): Promise<void> }> {
  const program = "process.stdin.resume(); console.log('here')";
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", stderr] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout as Readable, "data");
  return {
    async end() {
      child.stdin?.end();
      await once(child, "exit");
    },
  };
}

/** All that is in the pipe now. */
function readPipe(reader: number): string {
  const chunk = Buffer.alloc(65_536);
  let text = "";
  try {
    for (let length = -1; length !== 0; text += chunk.toString("latin1", 0, length))
      length = readSync(reader, chunk);
  } catch {} // nothing there now
  return text;
}

/** What comes through the pipe until all of that is so. */
async function drain(reader: number, what: string, isAll: (text: string) => boolean): Promise<string> {
  let text = "";
  await until(what, () => {
    text += readPipe(reader);
    return isAll(text);
  });
  return text;
}

const unixOnly = {
  skip: process.platform === "win32" && "needs pipes with names: run the tests on Linux or macOS",
};

test(
  "a service whose log goes to a pipe that nobody reads answers, and stops in order",
  unixOnly,
  async (t) => {
    const cwd = makeFolder();
    const { reader, writer } = await openPipe(cwd);
    const other = await startOther(t, writer);
    const { child, base } = await serveTo(t, cwd, writer);
    await other.end();
    await get(`${base}/things`, 8_000);
    assert.equal(await stop(child), 0);
    closeSync(reader);
    closeSync(writer);
  },
);

test(
  "when the log is read again, whole lines come, and how many are missing is said",
  unixOnly,
  async (t) => {
    const cwd = makeFolder();
    const { reader, writer } = await openPipe(cwd);
    const { child, base } = await serveTo(t, cwd, writer);
    await get(`${base}/things`, 10_000);
    const late = await drain(reader, "it is said how many lines are missing", (text) =>
      /were dropped/.test(text),
    );
    await get(`${base}/again`, 8);
    const isLogged = (text: string) => text.split("/api/v1/again").length > 8;
    const afterwards = await drain(reader, "the last requests are logged", isLogged);
    assert.equal(await stop(child), 0);
    const lines = (late + afterwards + readPipe(reader))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const dropped = lines.flatMap(
      ({ msg }) => /^(\d+) log lines were dropped because they could not be written$/.exec(msg)?.[1] ?? [],
    );
    const requests = lines.filter(({ msg }) => msg === "request");
    assert.equal(dropped.length, 1);
    assert.equal(requests.length + Number(dropped[0]), 10_008);
    assert.equal(requests.filter(({ path }) => path === "/api/v1/again").length, 8);
    closeSync(reader);
    closeSync(writer);
  },
);

test("a service whose log goes to a full disk answers, and stops in order", {
  ...unixOnly,
  skip: process.platform !== "linux" && "needs /dev/full: run the tests on Linux",
}, async (t) => {
  const full = openSync("/dev/full", "w");
  const { child, base } = await serveTo(t, makeFolder(), full);
  await get(`${base}/things`, 1_000);
  assert.equal(await stop(child), 0);
  closeSync(full);
});
