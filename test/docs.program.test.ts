import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { reservedIds } from "../src/collection/ids.ts";
import { createCommands } from "../src/commands/command-table.ts";
import { processMetrics } from "../src/observe/families.ts";
import { commonPasswordsPackage } from "../tools/build/common-passwords.ts";
import { docsPagePackage } from "../tools/build/docs-page.ts";
import { outdatedPages } from "../tools/reference.ts";
import { pathsBelow } from "./project.ts";

test("the reference has the error codes, options and metrics of the code", () => {
  const outdated = [...outdatedPages().keys()];
  assert.ok(outdated.length === 0, `${outdated.join(", ")} is not up to date: run npm run reference`);
});

test("the reference of resources lists the ids that are reserved", () => {
  const reference = readFileSync("docs/reference/resources.md", "utf8");
  const [, text = ""] = /An id is never one of the names ([^.]+)\./.exec(reference) ?? [];
  const listed = [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  assert.deepEqual(listed, [...reservedIds]);
});

test("the metrics reference lists every metric of the process, and no other", () => {
  const reference = readFileSync("docs/reference/metrics.md", "utf8");
  const ofProcess = [...reference.matchAll(/^\| `((?:process|nodejs)_\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(ofProcess, Object.keys(processMetrics));
});

test("the command line reference has a section for every command, and for no other", () => {
  const reference = readFileSync("docs/reference/command-line.md", "utf8");
  const sections = [...reference.matchAll(/^## `holdfast ([a-z]+)/gm)].map(([, name]) => name);
  assert.deepEqual(
    sections,
    createCommands({}).map((command) => command.name()),
  );
});

test("the dependencies that are explained are those of the package, and the reasons are in the right table", () => {
  const { dependencies = {}, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const { optionalDependencies } = JSON.parse(readFileSync("tools/node/package.json", "utf8"));
  const { dependencies: ofTests } = JSON.parse(readFileSync("test/package.json", "utf8"));
  const console = Object.keys(JSON.parse(readFileSync("console/package.json", "utf8")).devDependencies);
  const explained = readFileSync("docs/explanation/dependencies.md", "utf8").split(
    /## (?:In the console|For development)/,
  );
  const named = explained.map((part) =>
    [...part.matchAll(/^\| (`.+?`.*?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    ),
  );
  const all = [dependencies, devDependencies, optionalDependencies, ofTests]
    .flatMap(Object.keys)
    .concat(docsPagePackage);
  const used = packagesOf("src").add(docsPagePackage).add(commonPasswordsPackage);
  const onPage = packagesOf("console/src");
  const known = [
    all.filter((name) => used.has(name)),
    console.filter((name) => onPage.has(name)),
    [...all.filter((name) => !used.has(name)), ...console.filter((name) => !onPage.has(name))],
  ];
  assert.deepEqual(
    named.map((names) => names.sort()),
    known.map((names) => names.sort()),
  );
});

/** The packages that the files of a folder import. */
function packagesOf(folder: string): Set<string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const specifiers = files.flatMap((file) => [
    ...readFileSync(join(folder, file), "utf8").matchAll(
      /(?:from |import |\()"((?:@[^/"]+\/)?[^@./":\s]+[^/"\s]*)/g,
    ),
  ]);
  return new Set(specifiers.map(([, name]) => String(name)));
}

test("every file and folder that is named by the documents about the code is there", () => {
  const paths = ["src", "test", "bench", "docs", "client/src", "react-admin/src", "tools"].flatMap((folder) =>
    pathsBelow(folder).map((path) => `/${path}`),
  );
  for (const file of ["CONTRIBUTING.md", "docs/explanation/architecture.md", "docs/explanation/store.md"])
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/`([\w./-]+(?:\.ts|\/))`/g)) {
      const end = `/${name.replace(/\/$/, "")}`;
      assert.ok(existsSync(name) || paths.some((path) => path.endsWith(end)), `${file}: ${name}`);
    }
});

test("the contributor's order of the rooms is the one that the code is held to", () => {
  const [, order = ""] = / {4}(errors < .+)/.exec(readFileSync("CONTRIBUTING.md", "utf8")) ?? [];
  const [, held = ""] = /"(program about errors .+)"/.exec(readFileSync("test/rooms.test.ts", "utf8")) ?? [];
  const there = held.split(" ").filter((room) => existsSync(`src/${room}`) || existsSync(`src/${room}.ts`));
  assert.deepEqual(
    order.split(/ < |, /),
    there.filter((room) => !["program", "about"].includes(room)),
  );
});

// The single executable is a copy of the Node that runs the tests.
test("the guide to the single executable names every library that it needs", {
  skip: process.platform !== "linux" && "the libraries differ",
}, () => {
  const guide = readFileSync("docs/how-to/install.md", "utf8");
  const loaded = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  const names = [...loaded.matchAll(/^\s*(lib\S+) => /gm)].map(([, name = ""]) => name);
  assert.ok(names.length > 0, loaded);
  const ofGlibc = /^lib(?:c|m|dl|pthread|rt)\.so/;
  for (const name of names.filter((each) => !ofGlibc.test(each)))
    assert.ok(guide.includes(`\`${name}\``), name);
});
