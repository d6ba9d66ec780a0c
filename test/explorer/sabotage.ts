/** Copies of the program with a fault in them, to see whether the explorer finds it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";

/** What follows in the line becomes a comment. */
const noFlush = ["pragma synchronous = ", "pragma synchronous = NORMAL; -- "] as const;

/** Texts of the sources, and what replaces each of them. */
const replacements = {
  /** Commits are not flushed: only checkpoints are. */
  "no flush": [noFlush],
  /** The log is flushed only after the responses have left. */
  "late flush": [
    noFlush,
    [
      'this.#database.exec("commit");',
      `this.#database.exec("commit");
      const { closeSync, fsyncSync, openSync } = process.getBuiltinModule("node:fs");
      setTimeout(() => {
        const log = openSync(this.#database.location() + "-wal");
        fsyncSync(log);
        closeSync(log);
      }, 50);`,
    ],
  ],
  /** The head rows are written in a separate transaction. */
  "separate heads": [
    ["this.#heads.write();", ""],
    [
      'this.#database.exec("commit");',
      `this.#database.exec("commit");
      this.#database.exec("begin immediate");
      this.#heads.write();
      this.#database.exec("commit");`,
    ],
  ],
  /** The start does not flush what an earlier process wrote to the log. */
  "no flush at the start": [["flushLog(settings.path);", ""]],
} as const satisfies Record<string, readonly (readonly [string, string])[]>;

/** A fault that the explorer must find. */
export type Sabotage = keyof typeof replacements;

export const sabotages = Object.keys(replacements) as Sabotage[];

/** The sources in which the texts are, each once. */
const room = "src/store/sqlite/writer";

/** Copies the program into `folder` with a fault. Throws Error if a text does not occur exactly once in the sources. */
export async function copySabotaged(sabotage: Sabotage, folder: string): Promise<void> {
  for (const part of ["bin", "src", "package.json"]) await cp(part, join(folder, part), { recursive: true });
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  const files = readdirSync(room).map((name) => join(folder, room, name));
  for (const [text, replacement] of replacements[sabotage]) {
    const [file, ...others] = files.filter((each) => readFileSync(each, "utf8").includes(text));
    if (file === undefined || others.length > 0)
      throw new Error(`"${sabotage}" does not fit the sources: ${text} must occur in one file of ${room}.`);
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(text, () => replacement),
    );
  }
}
