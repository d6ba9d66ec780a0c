/** A person at a shell: types lines, and runs a service in another terminal. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { environmentOfTheMachine } from "../commands/stranger.ts";

/** The environment. Only the port differs from the pages: each program uses a free one. */
const env = { ...environmentOfTheMachine(), HOLDFAST_PORT: "0", PORT: "0" };
/** The mark after the output of a line, before its exit code. */
const mark = "=== done:";

/** The longest time of one line, such as `npm ci` on a busy machine. */
const longestLineMs = 600_000;

/** A shell that keeps its folder and its variables from one line to the next. */
export class Terminal {
  readonly #shell: Shell;

  /** The shell and everything that it has started is killed when the test ends. */
  constructor(t: TestContext, cwd: string) {
    this.#shell = new Shell(t, ["--noprofile", "--norc"], cwd);
  }

  /** Runs a line. Returns its output without the warnings of npm. Throws if its exit code is not 0. */
  async type(line: string): Promise<string> {
    this.#shell.output = "";
    this.#shell.write(`{ ${line}\n} </dev/null 2>&1; printf "\\n${mark} $?\\n"\n`);
    const [, written = "", exitCode] = await this.#shell.until(/^(.*)\n=== done: (\d+)\n$/s, line);
    assert.equal(exitCode, "0", `${line}\n${written}`);
    return written.replaceAll(/^npm (?:warn|notice).*\n/gm, "").trim();
  }
}

/** A program that runs until Ctrl+C and has printed its address. */
export interface Served {
  /** Such as `http://127.0.0.1:49152`. */
  origin: string;
  /** Waits until the output matches the pattern. Throws with the output if the program ends first. */
  prints(pattern: RegExp): Promise<void>;
  /** Presses Ctrl+C, and waits until everything that was started has ended. */
  stop(): Promise<void>;
}

/** Types lines, of which the last starts a service. Throws with the whole output if the program ends instead. */
export async function serve(t: TestContext, cwd: string, lines: readonly string[]): Promise<Served> {
  const shell = new Shell(t, ["-c", `{ ${lines.join("\n")}\n} </dev/null 2>&1`], cwd);
  const address = /(http:\/\/(?:127\.0\.0\.1|localhost):\d+)[/\s]/;
  const [, origin = ""] = await shell.until(address, lines.join("; "));
  return {
    origin,
    prints: async (pattern) => void (await shell.until(pattern, lines.join("; "))),
    stop: () => shell.interrupt(),
  };
}

/** A shell with its own process group, as in a terminal. */
class Shell {
  output = "";
  readonly #process: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(t: TestContext, args: readonly string[], cwd: string) {
    const shell = spawn("bash", args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "inherit"] });
    shell.stdout.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    this.#process = shell;
    this.#closed = once(shell, "close");
    t.after(() => this.#signal("SIGKILL"));
  }

  write(text: string): void {
    this.#process.stdin?.write(text);
  }

  /** Waits until the output matches the pattern. Throws with the output if the shell ends first. */
  async until(pattern: RegExp, what: string): Promise<RegExpExecArray> {
    let isOver = false;
    const signal = AbortSignal.timeout(longestLineMs);
    const over = Promise.race([this.#closed, once(signal, "abort")]).then(() => (isOver = true));
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      assert.ok(!isOver, `${what}\n${this.output}`);
      await Promise.race([once(this.#process.stdout as NodeJS.ReadableStream, "data"), over]);
    }
  }

  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    await this.#closed;
  }

  #signal(name: NodeJS.Signals): void {
    try {
      process.kill(-Number(this.#process.pid), name);
    } catch {} // all of them have ended
  }
}
