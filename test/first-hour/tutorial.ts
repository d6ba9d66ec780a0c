/** Follows the steps of a page exactly: types its commands, writes its files, and compares the output. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { environmentOfTheMachine } from "../commands/stranger.ts";
import { type Served, serve, Terminal } from "./terminal.ts";

/** Does all steps of the page, beginning in the folder of the clone. `project` is the folder that the page makes. */
export async function follow(t: TestContext, page: string, clone: string, project: string): Promise<void> {
  const blocks = [...page.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms)];
  assert.ok(blocks.length > 10);
  const reader = new Reader(t, clone, project);
  for (const [, language, about = "", text = ""] of blocks) {
    if (language === "sh" && (about === "" || (await hasOlderNode()))) await reader.prepare(about, text);
    if (language === "ts") await reader.write(about, text);
    if (language === "console") await reader.type(text);
  }
}

class Reader {
  readonly #t: TestContext;
  readonly #project: string;
  readonly #terminal: Terminal;
  /** What each terminal needs first. */
  readonly #preparations: string[] = [];
  #service: Served | undefined;

  constructor(t: TestContext, clone: string, project: string) {
    this.#t = t;
    this.#project = project;
    this.#terminal = new Terminal(t, clone);
  }

  async prepare(about: string, text: string): Promise<void> {
    for (const line of text.trimEnd().split("\n")) {
      await this.#terminal.type(line);
      if (about !== "") this.#preparations.push(line);
    }
  }

  /** Each command prints the text below it. The service runs in another terminal. */
  async type(text: string): Promise<void> {
    for (const step of text.split(/^\$ /m).slice(1)) {
      const [command = "", ...expected] = step.trim().split("\n");
      const output = expected.join("\n");
      if (command === "npx holdfast serve") await this.#serve(command, output);
      else
        assert.match(
          await this.#terminal.type(this.#here(command)),
          new RegExp(`^${likeOf(output)}$`, "s"),
          command,
        );
    }
  }

  /** Writes a file, or puts lines into one behind the line that the page names. */
  async write(about: string, text: string): Promise<void> {
    const [, name = "", after] = /^(\S+)(?: after (.+))?$/.exec(about) ?? [];
    const file = join(this.#project, name);
    if (after === undefined) return writeFile(file, this.#here(text));
    const before = await readFile(file, "utf8");
    assert.equal(before.split(`${after}\n`).length, 2, `"${after}" is in ${name} once`);
    await writeFile(
      file,
      before.replace(`${after}\n`, () => `${after}\n${text}`),
    );
  }

  async #serve(command: string, output: string): Promise<void> {
    await this.#service?.stop();
    this.#service = await serve(this.#t, this.#project, [...this.#preparations, command]);
    await this.#service.prints(new RegExp(`(?:^|\\n)${likeOf(this.#here(output))}`, "s")); // npm may warn first
  }

  /** The text with the address that the service has here. */
  #here(text: string): string {
    const { host } = new URL(this.#service?.origin ?? "http://localhost:3000");
    return text.replaceAll(/(?:localhost|127\.0\.0\.1):3000/g, host);
  }
}

/** Whether the Node of this machine is older than what a project needs. */
async function hasOlderNode(): Promise<boolean> {
  const { stdout } = await promisify(execFile)("node", ["--version"], { env: environmentOfTheMachine() });
  return Number.parseInt(stdout.slice(1), 10) < 24;
}

/** The source of a pattern for printed text, in which `…` is any text. */
export function likeOf(text: string): string {
  return text
    .split("…")
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join(".*");
}
