/** The published form of the packages for clients: packed, installed in an empty folder, and used there. Takes about fifteen seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { npm, type Packed, strangersEnvironment } from "../commands/stranger.ts";
import { makeFolder } from "../folder.ts";
import { startFor } from "../http/service.ts";

const program = `
  import { createClient } from "holdfast-client";
  const client = createClient({ baseUrl: process.argv[2] });
  const made = await client.topics.create({ title: "One" });
  await client.topics.patch(made, { title: "Two" });
  for await (const { id, title } of client.topics.list()) console.log(id === made.id, title);
`;

const use = `
  import { createClient } from "holdfast-client";
  const collections = { topics: { schema: { type: "object", properties: { title: { type: "string" } } } } } as const;
  const client = createClient<{ collections: typeof collections }>({ baseUrl: "" });
  export const title: Promise<string | undefined> = client.topics.get("1").then((topic) => topic.title);
  // @ts-expect-error: a number is no title
  client.topics.create({ title: 1 });
`;

/** What runs JavaScript outside of browsers, and how; those that are not on this machine are skipped. */
const runtimes = [
  { name: "Node", command: process.execPath, flags: [], from: "nodejs.org" },
  { name: "Bun", command: "bun", flags: ["run"], from: "bun.com" },
  { name: "Deno", command: "deno", flags: ["run", "--allow-net"], from: "deno.com" },
];

/** Packs a package of this clone, and installs it in a new folder with these files. */
async function install(name: string, files: Record<string, string>) {
  const cwd = makeFolder({
    "package.json": '{"name":"stranger","private":true,"type":"module"}',
    ...files,
  });
  const output = await npm(["pack", "--json", "--pack-destination", cwd], resolve(name));
  const [packed] = JSON.parse(output) as Packed[];
  assert.ok(packed);
  await npm(["install", "--offline", "--no-audit", "--no-fund", `./${packed.filename}`], cwd);
  return { cwd, packed };
}

/** Fails if the package contains anything but what was built, or needs another package. */
async function requireNothingElse({ cwd, packed }: Awaited<ReturnType<typeof install>>, name: string) {
  const foreign = packed.files.filter(({ path }) => !/^dist\/[a-z-]+(\.js|\.d\.ts)$/.test(path));
  assert.deepEqual(foreign.map(({ path }) => path).sort(), ["LICENSE", "README.md", "package.json"]);
  const installed = await readdir(join(cwd, "node_modules"));
  assert.deepEqual(
    installed.filter((name) => !name.startsWith(".")),
    [name],
  );
  for (const { path } of packed.files) {
    const text = await readFile(join(cwd, "node_modules", name, path), "utf8");
    if (path.endsWith(".js"))
      for (const [, from] of text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g))
        assert.match(String(from), /^\.\/[a-z-]+\.js$/, `${path} imports ${from}`);
  }
}

/** Compiles `use.ts` without skipLibCheck, so that the imports of the declarations must also exist. */
async function compile(cwd: string): Promise<void> {
  const args = ["--strict", "--noEmit", "--module", "nodenext", "--lib", "es2022,dom", "use.ts"];
  const compiled = promisify(execFile)(resolve("node_modules/.bin/tsc"), args, { cwd });
  await compiled.catch(({ stdout }: { stdout: string }) => assert.fail(stdout));
}

test("the client, installed in an empty folder,", async (t) => {
  const installed = await install("client", { "program.ts": program, "use.ts": use });
  const { cwd } = installed;

  await t.test("is what was built and nothing else, and brings nothing along", () =>
    requireNothingElse(installed, "holdfast-client"),
  );

  await t.test("has types", () => compile(cwd));

  for (const { name, command, flags, from } of runtimes)
    await t.test(`works in ${name}`, async (t) => {
      const runs = await promisify(execFile)(command, ["--version"]).catch(() => undefined);
      if (runs === undefined) return t.skip(`needs ${command}: get it from ${from}`);
      const service = await startFor(t);
      const args = [...flags, "program.ts", `${service.origin}/api/v1`];
      // The test runner asks for colours where its own output is a terminal.
      const { FORCE_COLOR: _, ...env } = process.env;
      const { stdout } = await promisify(execFile)(command, args, { cwd, env: { ...env, NO_COLOR: "1" } });
      assert.equal(stdout, "true Two\n");
    });
});

const useInReactAdmin = `
  import { holdfastDataProvider } from "holdfast-react-admin";
  declare const base: Parameters<typeof holdfastDataProvider>[0] & { close(): void };
  holdfastDataProvider(base, { url: "", httpClient: async () => ({}) }).close();
  // @ts-expect-error: the provider has no such method
  holdfastDataProvider(base, { url: "", httpClient: async () => ({}) }).open();
`;

test("the package for react-admin, installed in an empty folder,", async (t) => {
  const installed = await install("react-admin", { "use.ts": useInReactAdmin });
  const { cwd } = installed;

  await t.test("is what was built and nothing else, and brings nothing along", () =>
    requireNothingElse(installed, "holdfast-react-admin"),
  );

  await t.test("has types, also without react-admin", () => compile(cwd));

  await t.test("loads nothing but its own file", async () => {
    const check = `
      const { holdfastDataProvider } = await import("holdfast-react-admin");
      const { data } = await holdfastDataProvider({}, { url: "", httpClient: null }).getMany("topics", { ids: [] });
      console.log(JSON.stringify(data));
    `;
    const files = [
      "package.json",
      "node_modules/holdfast-react-admin/package.json",
      "node_modules/holdfast-react-admin/dist/index.js",
    ];
    const allowed = files.map((file) => `--allow-fs-read=${join(cwd, file)}`);
    const args = ["--permission", ...allowed, "--input-type=module", "--eval", check];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd,
      env: strangersEnvironment(),
    });
    assert.equal(stdout, "[]\n");
  });
});
