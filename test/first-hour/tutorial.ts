/** Follows the steps of a page exactly: types its commands, writes its files, and compares the output. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { environmentOfTheMachine } from "../commands/stranger.ts";
import { until } from "../until.ts";
import { type Served, serve, Terminal } from "./terminal.ts";

/**
 * Does all steps of the page, beginning in the folder of the clone. `project` is the folder that the page makes. `preparations`: what each
 * terminal needs first.
 */
export async function follow(
  t: TestContext,
  page: string,
  { clone, project, preparations = [] }: { clone: string; project: string; preparations?: readonly string[] },
): Promise<void> {
  const blocks = [...page.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms)];
  assert.ok(blocks.length > 10);
  const reader = new Reader(t, clone, project);
  if (preparations.length > 0) await reader.prepare("each terminal", preparations.join("\n"));
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
      else await typeUntil(this.#terminal, this.#here(command), this.#here(output));
    }
  }

  /** Writes a file, or puts lines into one behind the line that the page names. */
  async write(about: string, text: string): Promise<void> {
    const [, name = "", after] = /^(\S+)(?: after (.+))?$/.exec(about) ?? [];
    const file = join(this.#project, name);
    if (after === undefined) return writeFile(file, this.#here(text));
    await writeFile(file, putBehind(await readFile(file, "utf8"), after, text));
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

/** The file of a page that writes one file in several steps. */
export function fileOf(page: string): string {
  const steps = [...page.matchAll(/^```ts \S+(?: after ([^\n]+))?\n(.*?)^```$/gms)];
  return steps.reduce(
    (before, [, after, text = ""]) => (after === undefined ? text : putBehind(before, after, text)),
    "",
  );
}

/** Puts lines into a file, behind the line that a page names. */
function putBehind(before: string, line: string, text: string): string {
  assert.equal(before.split(`${line}\n`).length, 2, `"${line}" is in the file once`);
  return before.replace(`${line}\n`, () => `${line}\n${text}`);
}

/** Types a command that prints this text. What other threads do is in a list a moment later, so it types a read again until then. */
export async function typeUntil(terminal: Terminal, command: string, expected: string): Promise<void> {
  const pattern = new RegExp(`^${likeOf(expected)}$`, "s");
  let output = await terminal.type(command);
  if (/^curl (?!.*-[dX])/.test(command) && !pattern.test(output))
    await until(`${command} prints ${expected} and not ${output}`, async () => {
      output = await terminal.type(command);
      return pattern.test(output);
    });
  assert.match(output, pattern, command);
}

/** The source of a pattern for printed text, in which `…` is any text. */
function likeOf(text: string): string {
  return text
    .split("…")
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join(".*");
}
