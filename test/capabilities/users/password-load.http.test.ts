/** Many wrong passwords at once, at the whole program: they wait, and nothing else does. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { availableParallelism } from "node:os";
import { type TestContext, test } from "node:test";
import { configuration, serve } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { type Request, sendRequest } from "../../http/service.ts";
import { readExposition } from "../../metrics/exposition.ts";
import { until } from "../../until.ts";
import { goodPassword, problemOf } from "./http/people.ts";

const skip = process.platform === "linux" ? false : "reads the memory of a process from /proc";

/** What the hashes take that are made at the same moment, in MiB. */
const hashesMiB = 19 * (availableParallelism() < 4 ? 1 : 2);

/** What 100 requests and the reads besides may take, in MiB. If all hashes were made at once, it would be 1,200 or more. */
const requestsMiB = 120;

/** A value of `/proc/<pid>/status`, in MiB. */
async function memoryOf(pid: number, name: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const [, kB] = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return Number(kB) / 1024;
}

/** A service behind a proxy, so that each request can come from another network. */
async function start(t: TestContext) {
  const collections = {
    users: { access: { read: "public" } },
    notes: { access: { read: "public", write: "public" } },
  };
  const settings = {
    auth: { users: { collection: "users" } },
    trustProxy: ["127.0.0.1"],
    publicUrl: "https://shop.example",
    mail: { from: "noreply@shop.example", smtp: "smtp://127.0.0.1:1" },
    metrics: "127.0.0.1:0",
  };
  const cwd = makeFolder(configuration(collections, settings));
  const env = { HOLDFAST_SECRET: Buffer.alloc(32, 7).toString("base64") };
  const service = await serve(t, [], { cwd, env });
  const [, metrics = ""] = /(http:\/\/\S+\/metrics)/.exec(service.output().stdout) ?? [];
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const port = Number(new URL(service.origin).port);
  const send = (request: Request) => sendRequest(port, agent, request);
  const wrong = (n: number) =>
    send({
      method: "POST",
      path: "/api/v1/_auth/sign-in",
      content: { email: `person${n}@example.org`, password: goodPassword },
      headers: { "x-forwarded-for": `192.0.2.${n}` },
    });
  const waiting = async () =>
    readExposition(await (await fetch(metrics)).text()).value("holdfast_password_waiting") ?? Number.NaN;
  return { service, pid: Number(service.process.pid), send, wrong, waiting };
}

/** So many reads must be answered while passwords wait. */
const enough = 50;

test("while 64 wrong passwords wait, reads and health go on, and the memory is that of the hashes in work", {
  skip,
}, async (t) => {
  const { service, pid, send, wrong, waiting } = await start(t);
  const note = await send({ method: "POST", path: "/api/v1/notes", content: { text: "read" } });
  const { location = "" } = note.headers;
  const read = async () => {
    assert.equal((await send({ path: location })).status, 200);
    assert.equal((await send({ path: "/readyz" })).status, 200);
  };
  await wrong(200); // the thread of the hashes starts
  for (let n = 0; n < 100; n++) await read();
  await writeFile(`/proc/${pid}/clear_refs`, "5"); // the peak starts again
  const before = await memoryOf(pid, "VmRSS");
  const answers: string[] = [];
  const all = Array.from({ length: 64 }, async (_, n) => answers.push(problemOf(await wrong(n))));
  const settled = Promise.allSettled(all);
  await until("passwords wait", async () => (await waiting()) >= 10);
  let during = 0;
  while (answers.length < all.length && during < enough) {
    await read();
    if (answers.length < all.length) during++;
  }
  assert.equal(during, enough, "reads are answered while passwords wait");
  await until("some passwords are checked", () => answers.length >= 5);
  const grown = (await memoryOf(pid, "VmHWM")) - before;
  assert.ok(grown <= hashesMiB + requestsMiB, `the memory has grown by ${grown} MiB`);
  assert.deepEqual(new Set(answers), new Set(["401 SIGN_IN_FAILED"]));
  service.process.kill("SIGKILL"); // the rest would take long, because reads go first
  await settled;
});
