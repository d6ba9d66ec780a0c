/** The examples, as they stand there. Takes about fifteen seconds. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { folder, serve, stop } from "./commands/cli.ts";
import { startService } from "./http/service.ts";

const node = [process.execPath, "--conditions=holdfast-source"];

async function run([command = "", ...args]: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await promisify(execFile)(command, args);
  assert.equal(stderr, "");
  return stdout.trimEnd().split("\n");
}

test("every example but the demo has fewer than 40 lines", () => {
  for (const name of readdirSync("examples", { recursive: true, encoding: "utf8" })) {
    if (!/\.\w+$/.test(name) || name.startsWith("demo")) continue;
    const lines = readFileSync(join("examples", name), "utf8").split("\n").length - 1;
    assert.ok(lines < 40, `${name}: ${lines}`);
  }
});

test("the example with curl does what it says", async (t) => {
  const service = await startService();
  t.after(() => service.stop());
  const lines = await run(["bash", "examples/curl.sh", `${service.origin}/api/v1`]);
  const answers = lines.filter((line) => !line.startsWith("#") && line !== "");
  const [created, again, etag, patched, stale, list, refused, ...gone] = answers;
  assert.equal(again, created);
  assert.match(etag ?? "", /^etag: "1"/i);
  const { id } = JSON.parse(created ?? "") as { id: string };
  assert.deepEqual(JSON.parse(patched ?? ""), { id, title: "Hello", views: 2 });
  assert.equal(stale, "412");
  assert.deepEqual(JSON.parse(list ?? ""), [{ id, title: "Hello" }]);
  assert.match(refused ?? "", /Did you mean \\?"gte/);
  assert.deepEqual(gone, ["205", "404"]);
});

test("the example with react-admin does what it says", async (t) => {
  const service = await startService();
  t.after(() => service.stop());
  const lines = await run([...node, "examples/react-admin.ts", `${service.origin}/api/v1`]);
  assert.deepEqual(lines, ["[ 'Spring 20', 'Winter 10' ] 2", "2"]);
});

test("the example with TypeBox and the typed client does what it says", async (t) => {
  const cwd = await folder(t);
  const service = await serve(t, ["--config", resolve("examples/typebox/holdfast.config.ts")], { cwd });
  const lines = await run([...node, "examples/typebox/client.ts", service.base]);
  assert.deepEqual(lines, ["draft", "true", "Solaris", "Lavinia"]);
  await stop(service);
});

/** Starts the example in a folder of its own, and gives the address that it writes. */
async function startFastify(t: TestContext): Promise<string> {
  const [command = "", ...args] = [...node, resolve("examples/fastify.ts")];
  const cwd = await folder(t);
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  for await (const text of child.stdout.setEncoding("utf8")) return String(text).trim();
  throw new Error("it ended");
}

test("the example with Fastify does what it says", async (t) => {
  const origin = await startFastify(t);
  assert.deepEqual(await (await fetch(origin)).json(), { articles: "/data/articles" });
  const create = (headers: Record<string, string>, content: object) =>
    fetch(`${origin}/data/articles`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(content),
    });
  assert.equal((await create({}, { name: "Pen", price: 2 })).status, 403);
  assert.equal((await create({ "x-shop": "one" }, { name: "Pen", price: -2 })).status, 400);
  assert.equal((await create({ "x-shop": "one" }, { name: "Pen", price: 2 })).status, 201);
  const list = (await (await fetch(`${origin}/data/articles?price:lt=3`)).json()) as object[];
  assert.equal(list.length, 1);
});
