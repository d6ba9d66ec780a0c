/** The size of the sources. The numbers here are bounds that fall with the code. A capability may raise them in its own commit. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { test } from "node:test";
import { pathsBelow } from "./project.ts";

/** The most lines of each room: its folder, and the file beside it with its name. A bound is a multiple of 50. */
const bounds: Readonly<Record<string, number>> = {
  program: 150,
  about: 50,
  errors: 500,
  json: 1_100,
  counters: 50,
  clock: 50,
  collection: 4_650,
  query: 4_600,
  store: 23_100,
  "store/sqlite": 6_650,
  "store/postgres": 5_500,
  import: 1_450,
  rewind: 400,
  access: 2_150,
  changes: 900,
  webhooks: 2_650,
  http: 22_150,
  config: 2_950,
  fit: 300,
  server: 1_850,
  commands: 5_050,
  cli: 50,
  index: 100,
  observe: 1_200,
  records: 200,
  users: 6_300,
  secrets: 150,
  lease: 100,
  expiry: 500,
  tasks: 550,
};

/** The most files in `src`. */
const mostFiles = 525;

/** How far a room can be below its bound before the bound must fall. */
const slack = 150;

/** The base names of several files, by the number of the files. A name can move to a smaller number, and then leave. */
const shared: Readonly<Record<number, string>> = {
  2: "about background batch commit commits connections declarations engine failures first-key keys lists messages migrate options parse store tables thread verify webhooks",
  3: "figures",
};

const files = pathsBelow("src")
  .filter((path) => path.endsWith(".ts"))
  .map((path) => relative("src", path).replaceAll("\\", "/"));

const engine = /^store\/(?:sqlite|postgres)(?=\/)/;

/** The rows of `bounds` that count a file: its room, and its engine. */
function rowsOf(file: string): string[] {
  const [room = ""] = file.split("/");
  return [room.replace(/\.ts$/, ""), ...(engine.exec(file) ?? [])];
}

function countLines(): Map<string, number> {
  const lines = new Map<string, number>();
  for (const file of files) {
    const count = readFileSync(`src/${file}`, "utf8").split("\n").length - 1;
    for (const row of rowsOf(file)) lines.set(row, (lines.get(row) ?? 0) + count);
  }
  return lines;
}

const raise = "Remove as much. A capability may raise the bound in test/size.test.ts, in its own commit.";

test("no room has more lines than its bound, or so few that the bound must fall", () => {
  const lines = countLines();
  assert.deepEqual([...lines.keys()].sort(), Object.keys(bounds).sort(), "Each room has one bound.");
  const wrong = [...lines].flatMap(([room, count]) => {
    const bound = bounds[room] ?? 0;
    if (count > bound) return [`src/${room} is ${count - bound} lines over its bound of ${bound}. ${raise}`];
    if (count >= bound - slack) return [];
    const lower = Math.ceil(count / 50) * 50;
    return [
      `src/${room} is ${bound - count} lines below its bound. Lower it to ${lower}, to keep what was gained.`,
    ];
  });
  assert.ok(wrong.length === 0, wrong.join("\n"));
});

test("src has no more files than the bound", () => {
  assert.ok(
    files.length <= mostFiles,
    `src has ${files.length} files, and the bound is ${mostFiles}. ${raise}`,
  );
});

test("a base name exists once in src, and the list of exceptions only shrinks", () => {
  const allowed = new Map(
    Object.entries(shared).flatMap(([count, names]) => names.split(" ").map((name) => [name, Number(count)])),
  );
  const all = Map.groupBy(files, (file) => basename(file, ".ts"));
  const wrong = [...new Set([...all.keys(), ...allowed.keys()])].flatMap((name) => {
    const found = all.get(name) ?? [];
    const most = allowed.get(name) ?? 1;
    if (found.length > most) return [`Find another name for one of these: ${found.join(", ")}.`];
    if (!allowed.has(name) || found.length === most) return [];
    const place =
      found.length > 1 ? `Move it to the names of ${found.length} files` : "Take it from the list";
    return [`The name "${name}" has ${found.length} files now. ${place} in test/size.test.ts.`];
  });
  assert.ok(wrong.length === 0, wrong.join("\n"));
});
