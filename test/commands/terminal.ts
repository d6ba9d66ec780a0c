/** Runs the program in a terminal, which `script` of util-linux provides. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { TestContext } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { node } from "../node.ts";

const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux");
/** Why tests in a terminal cannot run here; `false` if they can. */
export const skip = !hasScript && "needs script of util-linux: on Debian apt-get install bsdutils";

/** A program in a terminal. */
export interface Terminal {
  type(text: string): void;
  /** Waits until the output matches, and returns the match. */
  shows(what: RegExp): Promise<RegExpExecArray>;
  ended: Promise<{ exitCode: number; shown: string }>;
}

/** Runs the program in a terminal. */
export function atTerminal(t: TestContext, cwd: string, args: readonly string[]): Terminal {
  const words = [...node, resolve("bin/holdfast.js"), ...args];
  const command = `exec ${words.map((word) => `'${word}'`).join(" ")}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd,
    env: { ...process.env, SHELL: "/bin/sh", TERM: "xterm" },
    stdio: "pipe",
  });
  t.after(() => child.kill("SIGTERM")); // which script hands on
  return follow(child);
}

function follow(child: ChildProcessWithoutNullStreams): Terminal {
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([exitCode]) => ({ exitCode: Number(exitCode), shown }));
  const shows = async (what: RegExp) => {
    for (;;) {
      const match = what.exec(stripVTControlCharacters(shown));
      if (match !== null) return match;
      if (child.exitCode !== null) throw new Error(`it ended without showing ${what}: ${shown}`);
      await Promise.race([once(child.stdout, "data"), ended]);
    }
  };
  return { type: (text) => child.stdin.write(text), shows, ended };
}
