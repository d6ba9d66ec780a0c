import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

/**
 * A process that opens a file of the database and closes it again drops every lock that SQLite holds on it (POSIX),
 * and a committed write may vanish. So nothing in src/ may do more than look at their metadata.
 */
const harmless = new Set([
  "accessSync",
  "constants",
  "existsSync",
  "lstatSync",
  "realpathSync",
  "stat",
  "statSync",
  "Stats",
]);

/** Files that open others to flush them. */
const flushing = new Map([
  // The log and the folder, on which SQLite holds no lock.
  ["store/sqlite/file/log-state.ts", new Set(["closeSync", "existsSync", "fsyncSync", "openSync"])],
  // The new file of a backup. It is closed when SQLite has closed it.
  ["store/sqlite/copy/backup.ts", new Set(["closeSync", "fdatasyncSync", "openSync"])],
]);

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);

/** The names that a source file imports from node:fs; `*` for all of them. */
function takenFromFs(source: string): string[] {
  const lists = [...source.matchAll(/import ([^;]*?) from "(?:node:)?fs(?:\/promises)?"/g)];
  const others = /(?:import|require)\(\s*"(?:node:)?fs/.test(source) ? ["*"] : [];
  return [
    ...others,
    ...lists.flatMap(([, names = ""]) => {
      if (!names.includes("{")) return ["*"];
      return names
        .replace(/[{}]/g, "")
        .split(",")
        .map((name) => name.replace(/^\s*type\b/, "").trim())
        .filter(Boolean);
    }),
  ];
}

test("the store's room only ever looks at the metadata of files", () => {
  const sources = files.filter((file) => file.startsWith("store/"));
  assert.ok(sources.length > 10);
  const taken = sources.flatMap((file) =>
    takenFromFs(readFileSync(`src/${file}`, "utf8")).map((name) => ({ file, name })),
  );
  assert.ok(taken.length > 3, "the pattern finds the imports");
  assert.deepEqual(
    taken.filter(({ file, name }) => !harmless.has(name) && flushing.get(file)?.has(name) !== true),
    [],
  );
});

test("no other room opens, reads or copies the files of the store's address", () => {
  const opening =
    /\b(?:open|read|write|append|copy|cp|create\w+Stream|truncate)\w*\(\s*[^;]{0,80}\bstore\.path\b/;
  assert.match("await copyFile(config.store.path, target)", opening);
  assert.match("createReadStream(`$" + "{store.path}-wal`)", opening);
  assert.deepEqual(
    files.filter((file) => !file.startsWith("store/") && opening.test(readFileSync(`src/${file}`, "utf8"))),
    [],
  );
});
