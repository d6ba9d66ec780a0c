/** What a person does at a shell: types lines, and has a service run in another terminal. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { environmentOfTheMachine } from "../commands/stranger.ts";

/** Only the port is not the one that pages name: each program takes a free one. */
const env = { ...environmentOfTheMachine(), HOLDFAST_PORT: "0", PORT: "0" };
/** Stands behind what a line has written, with its exit code. */
const mark = "=== done:";

/** How long one line may take at most, `npm ci` on a busy machine among them. */
const longestLineMs = 600_000;

/** A shell that keeps its folder and its variables from one line to the next. */
export class Terminal {
  readonly #shell: Shell;

  /** It is killed when the test ends, with everything that it has started. */
  constructor(t: TestContext, cwd: string) {
    this.#shell = new Shell(t, ["--noprofile", "--norc"], cwd);
  }

  /** Gives what the line writes, without npm's own warnings. Throws where its exit code is not 0. */
  async type(line: string): Promise<string> {
    this.#shell.output = "";
    this.#shell.write(`{ ${line}\n} </dev/null 2>&1; printf "\\n${mark} $?\\n"\n`);
    const [, written = "", exitCode] = await this.#shell.until(/^(.*)\n=== done: (\d+)\n$/s, line);
    assert.equal(exitCode, "0", `${line}\n${written}`);
    return written.replaceAll(/^npm (?:warn|notice).*\n/gm, "").trim();
  }
}

/** A program that runs until Ctrl+C, and has said where it listens. */
export interface Served {
  /** Such as `http://127.0.0.1:49152`. */
  origin: string;
  /** Waits until the output is like this. Throws with the output if the program ends first. */
  prints(pattern: RegExp): Promise<void>;
  /** Presses Ctrl+C, and waits for the end of everything that was started. */
  stop(): Promise<void>;
}

/** Types a line that starts a service, after others that prepare it. Throws with its whole output where it ends instead. */
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

/** A shell with a process group of its own, as a terminal gives to what runs in it. */
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

  /** Waits until the output is like this. Throws with the output where the shell ends before. */
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
