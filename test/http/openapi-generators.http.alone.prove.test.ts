/** Generators of code understand the OpenAPI documents: they have no complaint, and their code compiles. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { openToAll } from "../capabilities/users/http/people.ts";
import { makeFolder } from "../folder.ts";
import { startDescribed, unusual } from "./openapi-services.ts";
import { startService } from "./service.ts";

/** What a program prints, on both outputs. Fails with it if the program fails. */
async function printed(command: string, args: readonly string[], cwd?: string): Promise<string> {
  const run = promisify(execFile)(command, args, { cwd, maxBuffer: 1e9 });
  return run.then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr, message }) => assert.fail(`${message}\n${stdout}${stderr}`),
  );
}

const nodeModules = resolve("test/node_modules");
const whyNoPython =
  spawnSync("openapi-python-client", ["--version"]).status === 0
    ? false
    : "needs openapi-python-client: python3 -m venv <folder> && <folder>/bin/pip install openapi-python-client, then put <folder>/bin into PATH";

describe("the documents of a service are understood by", () => {
  const folder = makeFolder({
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        ...{ strict: true, noEmit: true, module: "esnext", moduleResolution: "bundler", target: "es2022" },
        ...{ lib: ["es2023", "dom", "dom.iterable"], types: [] },
      },
      include: ["made"],
    }),
    "python.yaml": "post_hooks: []\n",
  });
  const documents: string[] = [];
  before(async () => {
    const users = {
      collections: { users: {} },
      auth: { keys: false, jwt: undefined, administrators: [{ role: "ops" }], users: openToAll },
    };
    const services = {
      ...(await startDescribed()),
      unusual: await startService(unusual),
      users: await startService(users),
    };
    for (const [name, service] of Object.entries(services)) {
      for (const version of ["openapi", "openapi-3.2"]) {
        await writeFile(
          join(folder, `${name}-${version}.json`),
          (await service.send({ path: `/${version}.json` })).text,
        );
        documents.push(`${name}-${version}`);
      }
      await service.stop();
    }
  });
  after(() => assert.equal(documents.length, 10));

  test("openapi-typescript and @hey-api/openapi-ts", async () => {
    for (const name of documents) {
      const input = join(folder, `${name}.json`);
      const types = join(folder, "made", `${name}.ts`);
      const cli = (path: string) => join(nodeModules, path);
      const said = await printed(process.execPath, [
        cli("openapi-typescript/bin/cli.js"),
        input,
        "--output",
        types,
      ]);
      assert.doesNotMatch(said, /warn|error|⚠|✘/i, name);
      const heard = await printed(process.execPath, [
        cli("@hey-api/openapi-ts/bin/run.js"),
        ...["--input", input, "--output", join(folder, "made", name), "--client", "@hey-api/client-fetch"],
        "--no-log-file",
      ]);
      assert.doesNotMatch(heard, /warn|error|⚠|✘/i, name);
    }
    await printed(resolve("node_modules/.bin/tsc"), ["-p", folder]);
  });

  test("openapi-python-client", { skip: whyNoPython }, async () => {
    for (const name of documents.filter((each) => each.endsWith("-openapi"))) {
      const made = join(folder, `python-${name}`);
      const said = await printed("openapi-python-client", [
        ...["generate", "--path", join(folder, `${name}.json`), "--output-path", made],
        ...["--config", join(folder, "python.yaml")],
      ]);
      // It knows no NDJSON and CSV in bodies, so the generated imports send JSON.
      const complaints = said.match(/^(?:WARNING|ERROR|Unable|Cannot|Could|Un|In).*$/gm) ?? [];
      const others = complaints.filter(
        (each) =>
          !/^WARNING parsing POST \S+\/_import within \w+\.$/.test(each) &&
          !/^Unsupported content type (?:application\/x-ndjson|text\/csv)$/.test(each),
      );
      assert.deepEqual(others, [], said);
      assert.equal(await printed("python3", ["-m", "compileall", "-q", made]), "");
    }
  });
});
