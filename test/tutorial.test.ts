/** The tutorial, step by step, as it stands there; only the port is another. Takes about a minute. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { folder, type RunningService, serve, stop } from "./commands/cli.ts";

interface Block {
  kind: string;
  /** What stands behind the language. */
  about: string;
  text: string;
}

/** A folder with the packages in it as npm would install them, and an npx that runs this clone's program. */
async function prepare(t: TestContext): Promise<string> {
  const cwd = await folder(t, { "package.json": '{"type":"module"}' });
  await mkdir(join(cwd, "node_modules"));
  await symlink(resolve("."), join(cwd, "node_modules/holdfast"), "junction");
  await symlink(resolve("client"), join(cwd, "node_modules/holdfast-client"), "junction");
  await mkdir(join(cwd, "bin"));
  const npx = join(cwd, "bin/npx");
  await writeFile(npx, `#!/bin/sh\nshift\nexec node "${resolve("bin/holdfast.js")}" "$@"\n`);
  await chmod(npx, 0o755);
  return cwd;
}

/** Runs the lines of a console, and keeps what they export for those after them. */
class Console {
  readonly #t: TestContext;
  readonly #cwd: string;
  #service: RunningService | undefined;

  constructor(t: TestContext, cwd: string) {
    this.#t = t;
    this.#cwd = cwd;
  }

  /** The text with the address that the service has here. */
  here(text: string): string {
    return text.replaceAll("localhost:3000", new URL(this.#service?.origin ?? "http://localhost:3000").host);
  }

  async run(command: string): Promise<string> {
    if (command === "npx holdfast serve") return this.#serve();
    const script = `touch exports; . ./exports; ${this.here(command)}; export -p | grep ' KEY=' > exports`;
    const path = [join(this.#cwd, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
    const { NODE_TEST_CONTEXT: _, ...others } = process.env;
    const env = { ...others, PATH: path, NODE_OPTIONS: "--conditions=holdfast-source" };
    const { stdout } = await promisify(execFile)("bash", ["-c", `${script}; true`], { cwd: this.#cwd, env });
    return stdout.trim();
  }

  async #serve(): Promise<string> {
    if (this.#service !== undefined) await stop(this.#service);
    this.#service = await serve(this.#t, [], { cwd: this.#cwd });
    return "";
  }
}

/** Writes a file of the tutorial, or puts lines into one behind the line that it names. */
async function write(cwd: string, about: string, text: string): Promise<void> {
  const [, name = "", after] = /^(\S+)(?: after (.+))?$/.exec(about) ?? [];
  const file = join(cwd, name);
  if (after === undefined) return writeFile(file, text);
  const before = await readFile(file, "utf8");
  assert.equal(before.split(`${after}\n`).length, 2, `"${after}" stands in ${name} once`);
  await writeFile(
    file,
    before.replace(`${after}\n`, () => `${after}\n${text}`),
  );
}

/** `…` stands for whatever there is. */
function requireLike(actual: string, expected: string, command: string): void {
  const parts = expected.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  assert.match(actual, new RegExp(`^${parts.join(".*")}$`, "s"), command);
}

test("the tutorial leads where it says", async (t) => {
  const cwd = await prepare(t);
  const shell = new Console(t, cwd);
  const tutorial = await readFile("docs/tutorial/first-service.md", "utf8");
  const found = tutorial.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms);
  const blocks = [...found].map(([, kind = "", about = "", text = ""]): Block => ({ kind, about, text }));
  assert.ok(blocks.length > 10);
  for (const { kind, about, text } of blocks) {
    if (kind === "ts") await write(cwd, about, shell.here(text));
    if (kind !== "console") continue;
    for (const step of text.split(/^\$ /m).slice(1)) {
      const [command = "", ...expected] = step.trim().split("\n");
      requireLike(await shell.run(command), expected.join("\n"), command);
    }
  }
});
