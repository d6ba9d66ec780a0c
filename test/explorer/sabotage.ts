/** Faults of the program that the explorer must find. */
import type { Replacements } from "../faults/replacements.ts";
import type { Life } from "./recording.ts";

/** A fault that the explorer must find. */
export interface Sabotage {
  name: string;
  /** What is wrong, in one sentence. */
  what: string;
  replacements: Replacements;
  /** What the session must have, so that the fault loses something. @default one life with requests only */
  lives?: readonly Partial<Life>[];
  keepChanges?: number;
  /** @default false */
  hasWebhook?: boolean;
  /** The images besides those right after responses and other messages. @default 100 */
  images?: number;
  starts?: number;
  /** Whether `npm run test:all` also tries it. */
  isInShortForm?: true;
}

const flush = `const { closeSync, fsyncSync, openSync } = process.getBuiltinModule("node:fs");
      const log = openSync(this.#database.location() + "-wal");
      fsyncSync(log);
      closeSync(log);`;

/** What follows in the line becomes a comment. */
const noFlush = ["pragma synchronous = $", "pragma synchronous = NORMAL; -- $"] as const;

const commit = "this.#isCommitting = true;\n    this.#commit.run();";

export const sabotages: readonly Sabotage[] = [
  {
    name: "no flush",
    what: "Commits are not flushed. Only checkpoints are.",
    replacements: [noFlush],
    isInShortForm: true,
  },
  {
    name: "late flush",
    what: "The log is flushed only after the responses have left.",
    replacements: [
      noFlush,
      [
        commit,
        `${commit}
      setTimeout(() => { if (this.#database.isOpen) { ${flush} } }, 50);`,
      ],
    ],
  },
  {
    name: "early reads",
    what: "Other clients and receivers see a commit before it is flushed.",
    replacements: [
      noFlush,
      [
        commit,
        `${commit}
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      ${flush}`,
      ],
    ],
    lives: [{ requests: 80 }],
    hasWebhook: true,
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
    isInShortForm: true,
  },
  {
    name: "no flush at the start",
    what: "The start does not flush what an earlier process wrote to the log.",
    replacements: [["flushLog(settings.path);", ""]],
    // A long flush makes it certain that the kill comes before its end.
    lives: [
      { requests: 20, flushDelayMs: 200 },
      { requests: 12, flushDelayMs: 30, isHeldOpen: true },
    ],
    images: 0,
    isInShortForm: true,
  },
  {
    name: "checkpoint without a flush at the start",
    what: "The start moves the log into the file without a flush. Only a power cut during a start shows it.",
    replacements: [
      [
        "requireNotLost(path);\n  const database = openDatabase(path);",
        `requireNotLost(path);
  const isOld = (statOf(path)?.size ?? 0) > 0;
  const database = openDatabase(path);
  if (isOld) database.exec("pragma synchronous = off");`,
      ],
    ],
    images: 0,
    starts: 5,
  },
  {
    name: "no rollback journal at the start",
    what: "The start removes the rollback journal of an interrupted creation.",
    replacements: [
      [
        "requireNotLost(path);\n  const database",
        `requireNotLost(path);
  process.getBuiltinModule("node:fs").rmSync(path + "-journal", { force: true });
  const database`,
      ],
    ],
    lives: [{ requests: 1 }],
    images: 5_000,
  },
  {
    name: "keys without a flush",
    what: "The command for API keys does not flush its commit.",
    replacements: [['"pragma synchronous = full"', '"pragma synchronous = off"']],
    lives: [{ beside: ["key"] }],
    images: 0,
  },
  {
    name: "backup without a name",
    what: "A backup does not flush its folder.",
    replacements: [["    sync(dirname(path));\n", ""]],
    lives: [{ requests: 12, beside: ["backup"] }],
    images: 0,
  },
  {
    name: "copy without a flush",
    what: "A copy does not flush what it writes.",
    replacements: [
      ["pragma synchronous = full; pragma cache_size", "pragma synchronous = off; pragma cache_size"],
    ],
    lives: [{ requests: 12 }, { requests: 6, before: ["copy"] }],
    images: 0,
  },
  {
    name: "erased text",
    what: "An erasure does not rewrite the file.",
    replacements: [['database.exec("vacuum");', ""]],
    lives: [{}, { requests: 6, before: ["erase"] }],
    images: 0,
  },
  {
    name: "holes in the history",
    what: "Trimming removes one change of those that it should remove.",
    replacements: [["where sequence <= $1::bigint`", "where sequence = $1::bigint`"]],
    lives: [{}, { requests: 12, signal: "SIGTERM" }],
    keepChanges: 5,
    images: 0,
  },
  {
    name: "webhook ahead",
    what: "The place of a webhook moves before its events are sent.",
    replacements: [
      ["return this.#tried;", "return this.#reading;"],
      [
        "for (const each of due) this.#attempts.start(each);",
        `await this.#journal.storePosition(this.#reader.position);
    for (const each of due) this.#attempts.start(each);`,
      ],
    ],
    hasWebhook: true,
    images: 0,
  },
];
