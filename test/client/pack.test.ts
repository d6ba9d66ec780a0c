/** The published form of the client: packed, installed in an empty folder, and used there. Takes about ten seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder } from "../commands/cli.ts";
import { npm, type Packed, strangersEnvironment } from "../commands/stranger.ts";
import { startService } from "../http/service.ts";

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

test("the package, installed in an empty folder, works in plain Node and brings nothing along", async (t) => {
  const service = await startService();
  t.after(() => service.stop());
  const cwd = await folder(t, {
    "package.json": '{"name":"stranger","private":true,"type":"module"}',
    "program.ts": program,
    "use.ts": use,
  });
  const output = await npm(["pack", "--json", "--pack-destination", cwd], resolve("client"));
  const [packed] = JSON.parse(output) as Packed[];
  assert.ok(packed);
  const foreign = packed.files.filter(({ path }) => !/^dist\/[a-z-]+(\.js|\.d\.ts)$/.test(path));
  assert.deepEqual(foreign.map(({ path }) => path).sort(), ["LICENSE", "README.md", "package.json"]);

  await npm(["install", "--offline", "--no-audit", "--no-fund", `./${packed.filename}`], cwd);
  const installed = await readdir(join(cwd, "node_modules"));
  assert.deepEqual(
    installed.filter((name) => !name.startsWith(".")),
    ["holdfast-client"],
  );
  for (const name of await readdir(join(cwd, "node_modules/holdfast-client/dist"))) {
    const text = await readFile(join(cwd, "node_modules/holdfast-client/dist", name), "utf8");
    const imported = [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map(([, from]) => from);
    for (const from of imported)
      assert.match(String(from), /^\.\/[a-z-]+\.(js|ts)$/, `${name} imports ${from}`);
  }
  // Without skipLibCheck: what the declarations import must be there too.
  const flags = ["--strict", "--noEmit", "--module", "nodenext", "--allowImportingTsExtensions"];
  await promisify(execFile)(resolve("node_modules/.bin/tsc"), [...flags, "--lib", "es2022,dom", "use.ts"], {
    cwd,
  }).catch(({ stdout }: { stdout: string }) => assert.fail(stdout));

  const { stdout } = await promisify(execFile)(process.execPath, ["program.ts", `${service.origin}/api/v1`], {
    cwd,
    env: strangersEnvironment(),
  });
  assert.equal(stdout, "true Two\n");
});
