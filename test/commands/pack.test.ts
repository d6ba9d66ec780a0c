/** The published form: packed, installed in an empty folder, and used there. Takes about twenty seconds. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { folder } from "./cli.ts";
import { npm, type Packed, strangersEnvironment } from "./stranger.ts";

/** Starts `npx holdfast serve` and gives its base address; the whole process group is ended with the test. */
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

test("the package, installed in an empty folder, serves and keeps resources", async (t) => {
  const cwd = await folder(t, {
    "package.json": '{"name":"stranger","private":true,"type":"module"}',
    "holdfast.config.ts": `
      import { defineConfig } from "holdfast";
      const title: { type: "string"; maxLength: number } = { type: "string", maxLength: 5 };
      export default defineConfig({ collections: { topics: { schema: { type: "object", properties: { title } } } } });
    `,
  });
  const [packed] = JSON.parse(
    await npm(["pack", "--json", "--pack-destination", cwd], process.cwd()),
  ) as Packed[];
  assert.ok(packed);

  await t.test("the package holds the program, its documents, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      "package.json",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "bin/holdfast.js",
      "dist/cli.js",
      "dist/index.js",
      "dist/index.d.ts",
      "dist/react-admin.js",
      "dist/react-admin.d.ts",
    ])
      assert.ok(paths.includes(path), path);
    const foreign = paths.filter((path) => !/^(bin|dist|docs)\/|^(package\.json|[A-Z]+(\.md)?)$/.test(path));
    assert.deepEqual(foreign, []);
    assert.deepEqual(
      paths.filter((path) => path.startsWith("dist/") && !/\.(js|d\.ts|js\.map)$/.test(path)),
      ["dist/docs-page/LICENSE"],
    );
  });

  await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", `./${packed.filename}`], cwd);

  await t.test("it brings no Node and no tools for development", async () => {
    const { dependencies, devDependencies } = JSON.parse(await readFile("package.json", "utf8")) as Record<
      string,
      object
    >;
    for (const name of Object.keys(dependencies ?? {}))
      assert.ok(existsSync(join(cwd, "node_modules", name)), name);
    for (const name of Object.keys(devDependencies ?? {}))
      assert.ok(!existsSync(join(cwd, "node_modules", name)), name);
    assert.deepEqual(
      (await readdir(join(cwd, "node_modules"))).filter((name) => /^node-(bin|linux|darwin|win)/.test(name)),
      [],
    );
  });

  await t.test("npx holdfast --version says the version", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    const { stdout } = await promisify(execFile)("npx", ["--no-install", "holdfast", "--version"], {
      cwd,
      env: strangersEnvironment(),
    });
    assert.equal(stdout, `${version}\n`);
  });

  await t.test("holdfast/react-admin loads, and loads nothing else of the package", async () => {
    const check = `
      const { holdfastDataProvider } = await import("holdfast/react-admin");
      const { data } = await holdfastDataProvider({}, { url: "", httpClient: null }).getMany("topics", { ids: [] });
      console.log(JSON.stringify(data));
    `;
    const args = ["--permission", `--allow-fs-read=${cwd}/package.json`];
    const files = ["package.json", "dist/react-admin.js"].map(
      (file) => `${cwd}/node_modules/holdfast/${file}`,
    );
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...args, ...files.map((file) => `--allow-fs-read=${file}`), "--input-type=module", "--eval", check],
      { cwd, env: strangersEnvironment() },
    );
    assert.equal(stdout, "[]\n");
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
  });
});
