/** The single executable, in a folder without Node. Takes about ten seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { bundleProgram } from "../../tools/build/bundle.ts";
import { followApplications } from "../examples/applications.ts";
import { makeFolder } from "../folder.ts";
import { checkThreads } from "../threads/served.ts";
import { until } from "../until.ts";
import { listening, type RunningService, runProgram, serve, start, stop } from "./cli.ts";
import { checkConsole } from "./console.ts";
import { checkInventory } from "./inventory.ts";

const files = {
  "holdfast.config.ts": `
    import { firstYear } from "years";
    import { defineConfig, owner } from "holdfast";
    import { text } from "./schema.ts";
    const year: { type: "integer"; minimum: number } = { type: "integer", minimum: firstYear };
    export default defineConfig({
      collections: {
        topics: { schema: { type: "object", required: ["title"], properties: { title: text, year } }, search: ["title"] },
      },
    });
    owner("author");
  `,
  "schema.ts": `export const text = { type: "string", maxLength: 20 } as const;`,
  "topics.ndjson": '{"title":"Łódź","year":1951}\n{"title":"The Sea","year":1955}\n',
};

/** Overwrites a page in the middle of a SQLite file. */
function damage(path: string): void {
  const page = Math.floor(statSync(path).size / 8_192);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(4_096, 0x55), 0, 4_096, page * 4_096);
  closeSync(file);
}

test("the single executable,", async (t) => {
  const parts = makeFolder();
  await promisify(execFile)(process.execPath, ["tools/build/binary.ts", parts]);
  const program = join(parts, process.platform === "win32" ? "holdfast.exe" : "holdfast");
  const cwd = makeFolder(files);
  await mkdir(join(cwd, "node_modules/years"), { recursive: true });
  await writeFile(join(cwd, "node_modules/years/package.json"), '{"name":"years","main":"index.js"}');
  await writeFile(join(cwd, "node_modules/years/index.js"), "exports.firstYear = 1900;");
  const options = { cwd, program };

  /** Runs a command that must succeed, and returns its standard output. */
  const run = async (...args: string[]) => {
    const outcome = await runProgram(t, args, options);
    assert.equal(outcome.exitCode, 0, `${args.join(" ")}: ${outcome.stderr}`);
    assert.doesNotMatch(outcome.stderr, /warning/i, args.join(" "));
    return outcome.stdout;
  };
  let service: RunningService;
  const titles = async () => {
    const topics = (await (await fetch(`${service.base}/topics?sort=title`)).json()) as { title: string }[];
    return topics.map(({ title }) => title);
  };

  await t.test("says its version, and helps", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    assert.equal(await run("--version"), `${version}\n`);
    for (const command of ["serve", "backup", "keys"]) assert.match(await run("--help"), RegExp(command));
    assert.match(await run("help", "serve"), /^ {2}holdfast serve --port/m);
    const { stderr } = await runProgram(t, ["import"], options);
    assert.match(stderr, /\(see holdfast import --help\)/);
  });

  await t.test("reads a configuration that imports holdfast, a file and a package", async () => {
    assert.match(await run("check"), /holdfast\.config\.ts/);
    assert.match(await run("openapi"), /"maxLength": 20/);
    assert.match(await run("types"), /title/);
  });

  await t.test("names the place of an error in a configuration", async () => {
    const broken: [string, RegExp][] = [
      ["const a = 1;\nlet b = = 3;\nexport default {};", /Unexpected token '=' \(line 2\)/],
      ["export default {\n  port: nothing\n};", /nothing is not defined \(line 2, column 9\)/],
    ];
    for (const [source, message] of broken) {
      await writeFile(join(cwd, "broken.js"), source);
      const { stderr } = await runProgram(t, ["check", "--config", "broken.js"], options);
      assert.match(stderr, message);
    }
  });

  await t.test("imports, and makes keys", async () => {
    await run("import", "topics", "topics.ndjson");
    await run("keys", "create", "--name", "editor", "--role", "editor");
    assert.match(await run("keys", "list"), /editor/);
  });

  await t.test("serves, and is served again after it was killed", async () => {
    for (const title of ["One", "Two"]) {
      service = await serve(t, [], options);
      const created = await fetch(`${service.base}/topics`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ title }),
      });
      assert.equal(created.status, 201);
      service.process.kill("SIGKILL");
      await service.ended;
    }
    service = await serve(t, [], options);
    assert.deepEqual(await titles(), ["One", "The Sea", "Two", "Łódź"]);
  });

  await t.test("searches, aggregates, and shows its documents", async () => {
    const { base, origin } = service;
    const found = await (await fetch(`${base}/topics?q=lodz`)).json();
    assert.equal((found as object[]).length, 1);
    const figures = await fetch(`${base}/topics?aggregate=max(year)`);
    assert.match(await figures.text(), /1955/);
    const csv = await fetch(`${base}/topics?sort=title`, { headers: { accept: "text/csv" } });
    assert.match(await csv.text(), /The Sea/);
    for (const path of ["docs", "docs/standalone.js", "docs/page.css", "openapi.json", "asyncapi.json"])
      assert.equal((await fetch(`${origin}/${path}`)).status, 200, path);
    await checkConsole(origin);
  });

  await t.test("exports and backs up beside the service, and restores", async () => {
    assert.equal((await run("export", "topics")).trim().split("\n").length, 4);
    await run("backup", "backup.db");
    assert.equal((await stop(service)).exitCode, 0);
    await run("restore", "backup.db", "--store", "sqlite:restored.db");
    assert.match(await run("export", "topics", "--store", "sqlite:restored.db"), /The Sea/);
  });

  await t.test("restarts when the configuration changes", async (t) => {
    const running = start(t, ["serve", "--port", "0", "--watch"], options);
    const origin = await listening(running);
    const schema = files["schema.ts"].replace("20", "2");
    await writeFile(join(cwd, "schema.ts"), schema);
    await until("the stored topics do not fit", () =>
      running.output().stderr.includes("at most 2 characters"),
    );
    await writeFile(join(cwd, "schema.ts"), files["schema.ts"]);
    assert.equal((await fetch(`${origin}/readyz`)).status, 200);
    assert.equal((await stop(running)).exitCode, 0);
  });

  await t.test("answers in several threads", (t) => checkThreads(t, program, { cwd }));

  await t.test("runs the code of configurations:", (t) =>
    followApplications(t, { cwd: makeFolder(), holdfast: [program] }),
  );

  await t.test("finds damage in its store", async (t) => {
    damage(join(cwd, "backup.db"));
    const damaged = start(t, ["serve", "--port", "0", "--store", "sqlite:backup.db"], options);
    const { exitCode, stderr } = await damaged.ended; // at the start, or soon after it
    assert.equal(exitCode, 1);
    assert.match(stderr, /backup\.db is damaged/);
  });

  await t.test("has licences of all that it contains, Node too, and a valid SBOM", async () => {
    const bundles = makeFolder();
    await bundleProgram(bundles, []);
    checkInventory(parts, bundles, { atLeast: 50 });
    assert.match(await readFile(join(parts, "LICENCES.txt"), "utf8"), /OpenSSL/);
  });
});
