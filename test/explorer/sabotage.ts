/** Faults of the program that the explorer must find. */
import type { Replacements } from "../faults/copy.ts";

/** A fault that the explorer must find. */
export interface Sabotage {
  name: string;
  /** What is wrong, in one sentence. */
  what: string;
  replacements: Replacements;
}

/** What follows in the line becomes a comment. */
const noFlush = ["pragma synchronous = $", "pragma synchronous = NORMAL; -- $"] as const;

const commit = "this.#isCommitting = true;\n    this.#commit.run();";

export const sabotages: readonly Sabotage[] = [
  {
    name: "no flush",
    what: "Commits are not flushed. Only checkpoints are.",
    replacements: [noFlush],
  },
  {
    name: "late flush",
    what: "The log is flushed only after the responses have left.",
    replacements: [
      noFlush,
      [
        commit,
        `${commit}
      const { closeSync, fsyncSync, openSync } = process.getBuiltinModule("node:fs");
      setTimeout(() => {
        const log = openSync(this.#database.location() + "-wal");
        fsyncSync(log);
        closeSync(log);
      }, 50);`,
      ],
    ],
  },
  {
    name: "separate heads",
    what: "The head rows are written in a separate transaction.",
    replacements: [
      ["this.#heads.write();", ""],
      [
        commit,
        `${commit}
      this.#database.exec("begin immediate");
      this.#heads.write();
      this.#database.exec("commit");`,
      ],
    ],
  },
  {
    name: "no flush at the start",
    what: "The start does not flush what an earlier process wrote to the log.",
    replacements: [["flushLog(settings.path);", ""]],
  },
];
