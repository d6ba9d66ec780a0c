/** The published form: packed, installed in an empty folder, and used there. Takes about twenty seconds. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { followApplications } from "../examples/applications.ts";
import { makeFolder } from "../folder.ts";
import { checkThreads } from "../threads/served.ts";
import { checkConsole } from "./console.ts";
import { checkInventory } from "./inventory.ts";
import { npm, type Packed, strangersEnvironment } from "./stranger.ts";

/** Starts `npx holdfast serve` and returns its base address. The whole process group ends with the test. */
async function npxServe(t: TestContext, cwd: string): Promise<string> {
  const child = spawn("npx", ["--no-install", "holdfast", "serve", "--port", "0"], {
    cwd,
    env: strangersEnvironment(),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  t.after(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    await closed;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  for await (const text of child.stdout.setEncoding("utf8")) {
    output += text;
    const [, base] = /listens on +(\S+)\n/.exec(output) ?? [];
    if (base !== undefined) return base;
  }
  throw new Error(`it ended: ${output}`);
}

/** Uses the service inside an application. */
const application = `
  import { fastify } from "fastify";
  import { holdfast } from "holdfast";
  const app = fastify();
  app.register(holdfast, { store: "sqlite:embedded.db", collections: { topics: {} } });
  // @ts-expect-error: the application decides the port
  if (process.argv.length > 5) app.register(holdfast, { port: 3000 });
  const { statusCode, body } = await app.inject("/api/v1/topics");
  console.log(statusCode, body);
  await app.close();
`;

/** Tests a configuration, without the package of the client. */
const ownTest = `
  import { start } from "holdfast/testing";
  import config from "./holdfast.config.ts";
  const service = await start(config);
  const { topics } = service.client();
  await topics.create({ title: "Ice" });
  const { status } = await service.fetch("/api/v1/topics", { method: "POST", body: "{}" });
  console.log(status, await (await service.fetch("/api/v1/topics?fields=title")).text());
  await service.stop();
`;

/** Compiles as strictly as a project can: also the declarations of its packages. */
async function compile(files: readonly string[], cwd: string): Promise<void> {
  const args = [
    "--strict",
    "--noEmit",
    "--allowImportingTsExtensions",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--types",
    "node",
    ...files,
  ];
  const compiled = promisify(execFile)(resolve("node_modules/.bin/tsc"), args, { cwd });
  await compiled.catch(({ stdout }: { stdout: string }) => assert.fail(stdout));
}

test("the package, installed in an empty folder, serves and keeps resources", async (t) => {
  const cwd = makeFolder({
    "package.json": '{"name":"stranger","private":true,"type":"module"}',
    "holdfast.config.ts": `
      import { defineConfig } from "holdfast";
      const title: { type: "string"; maxLength: number } = { type: "string", maxLength: 5 };
      export default defineConfig({ collections: { topics: { schema: { type: "object", properties: { title } } } } });
    `,
  });
  await writeFile(join(cwd, "application.ts"), application);
  await writeFile(join(cwd, "own-test.ts"), ownTest);
  // The scripts would build `dist` again, whose files other tests use at this moment. `npm ci` has built it.
  const options = ["--json", "--ignore-scripts", "--pack-destination", cwd];
  const [packed] = JSON.parse(await npm(["pack", ...options], process.cwd())) as Packed[];
  assert.ok(packed);
  const { scripts } = JSON.parse(await readFile("package.json", "utf8")) as { scripts: object };
  assert.deepEqual(
    Object.entries(scripts).find(([name]) => name === "prepack"),
    ["prepack", "npm run build"],
  );

  await t.test("the package holds the program, its documents, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      "package.json",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "bin/holdfast.js",
      "dist/holdfast.cjs",
      "dist/index.js",
      "dist/index.d.ts",
      "dist/testing.js",
      "dist/testing.d.ts",
    ])
      assert.ok(paths.includes(path), path);
    const foreign = paths.filter((path) => !/^(bin|dist|docs)\/|^(package\.json|[A-Z]+(\.md)?)$/.test(path));
    assert.deepEqual(foreign, []);
    const inConsole = paths.filter((path) => path.startsWith("dist/console/_console/"));
    for (const end of [".js", ".js.br", ".js.gzip", ".css", ".woff2"])
      assert.ok(
        inConsole.some((path) => path.endsWith(end)),
        end,
      );
    const others = paths.filter(
      (path) => path.startsWith("dist/") && !path.endsWith(".d.ts") && !inConsole.includes(path),
    );
    assert.deepEqual(others.sort(), [
      "dist/LICENCES.txt",
      "dist/capabilities/code/calls/code-thread.cjs",
      "dist/capabilities/code/hooks/hook-thread.cjs",
      "dist/capabilities/users/password-thread.cjs",
      "dist/cli.cjs",
      "dist/common-passwords.txt",
      "dist/console/files.json",
      "dist/console/index.html",
      "dist/console/sign-in.html",
      "dist/docs-page/standalone.js",
      "dist/holdfast.cjs",
      "dist/index.js",
      "dist/sbom.json",
      "dist/server/thread.cjs",
      "dist/store/sqlite/list/query-thread.cjs",
      "dist/store/sqlite/upkeep/check-thread.cjs",
      "dist/store/sqlite/upkeep/checkpoint-thread.cjs",
      "dist/store/sqlite/writer/thread.cjs",
      "dist/testing.js",
    ]);
  });

  await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", `./${packed.filename}`], cwd);
  const installed = join(cwd, "node_modules/holdfast");

  await t.test("it answers in several threads", (t) =>
    checkThreads(t, process.execPath, { args: [join(installed, "bin/holdfast.js")], cwd }),
  );

  await t.test("it runs the code of configurations:", (t) =>
    followApplications(t, { cwd, holdfast: [process.execPath, join(installed, "bin/holdfast.js")] }),
  );

  await t.test("it installs only the dependencies that the package names", async () => {
    const { dependencies = {} } = JSON.parse(await readFile("package.json", "utf8"));
    const names = (await readdir(join(cwd, "node_modules"))).filter((name) => !name.startsWith("."));
    const needed = new Set([
      "holdfast",
      ...Object.keys(dependencies).map((name) => name.replace(/\/.*/, "")),
    ]);
    assert.ok(names.includes("holdfast"));
    if (needed.size === 1) assert.deepEqual(names, ["holdfast"]);
    for (const name of needed) assert.ok(names.includes(name), name);
  });

  await t.test("every package in it has its licence in one file, and is in a valid SBOM", () =>
    checkInventory(join(installed, "dist"), join(installed, "dist"), { atLeast: 2 }),
  );

  await t.test("it has types, with and without Fastify", async () => {
    const config = join(cwd, "holdfast.config.ts");
    await mkdir(join(cwd, "node_modules/@types"));
    await symlink(resolve("node_modules/@types/node"), join(cwd, "node_modules/@types/node"));
    await symlink(resolve("node_modules/undici-types"), join(cwd, "node_modules/undici-types"));
    await compile([config, join(cwd, "own-test.ts")], cwd);
    await compile([join(cwd, "examples/shop/holdfast.config.ts")], cwd); // its code has clients, without their package
    await symlink(resolve("node_modules/fastify"), join(cwd, "node_modules/fastify"));
    await compile([config, join(cwd, "application.ts")], cwd);
  });

  await t.test("an application of Fastify can embed it", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["application.ts"], {
      cwd,
      env: strangersEnvironment(),
    });
    assert.equal(stdout, "200 []\n");
  });

  await t.test("a test of its configuration runs in memory", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["own-test.ts"], {
      cwd,
      env: strangersEnvironment(),
    });
    assert.match(stdout, /^415 \[\{"id":"[^"]+","title":"Ice"\}\]\n$/);
  });

  await t.test("npx holdfast --version says the version", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    const { stdout } = await promisify(execFile)("npx", ["--no-install", "holdfast", "--version"], {
      cwd,
      env: strangersEnvironment(),
    });
    assert.equal(stdout, `${version}\n`);
  });

  await t.test("npx holdfast serve reads holdfast.config.ts, and creates and reads", async (t) => {
    const base = await npxServe(t, cwd);
    const headers = { "content-type": "application/json" };
    const create = (content: object) =>
      fetch(`${base}/topics`, { method: "POST", headers, body: JSON.stringify(content) });
    const created = await create({ title: "Hello" });
    assert.equal(created.status, 201);
    const read = await fetch(new URL(created.headers.get("location") ?? "", base));
    assert.equal(read.status, 200);
    assert.deepEqual(await read.json(), await created.json());
    assert.equal((await create({ title: "Hello!" })).status, 400, "the configuration's schema holds");
    assert.equal((await fetch(`${base}/others`)).status, 404);
    for (const file of ["docs", "docs/standalone.js", "docs/page.css", "docs/start.js", "openapi.json"])
      assert.equal((await fetch(new URL(`/${file}`, base))).status, 200, file);
    await checkConsole(new URL(base).origin);
  });
});
