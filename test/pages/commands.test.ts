/** Everything that a page tells its reader to type exists: commands, options, npm scripts and files. */
import assert from "node:assert/strict";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createCommands } from "../../src/commands/command-table.ts";
import { commandsOf, headerOf, type ShellCommand, simpleCommands } from "./shell.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const commands = createCommands({});

/** Programs of the machine, or programs that the page requires. */
const ofTheMachine = new Set(
  "bash cd cp curl cut docker export git grep head journalctl mkdir mv pg_dump pg_restore psql sleep sudo tee zcat".split(
    " ",
  ),
);
/** Packages of the registry that a reader can install. Holdfast is not published. */
const published = new Set([
  "react-admin",
  "ra-data-simple-rest",
  "fastify",
  "axios",
  "standardwebhooks",
  "@opentelemetry/sdk-trace-node@2",
  "@opentelemetry/resources@2",
  "@opentelemetry/exporter-trace-otlp-http@0.223",
]);
/** How pages name the folder of the clone. */
const clone = /^(?:\$clone|\.\.\/holdfast)(?=\/|$)/;
/** The path of the package in a project. */
const installed = /^node_modules\/holdfast\//;

const files = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
const pages = [
  ...readdirSync(".").filter((name) => name.endsWith(".md")),
  ...["docs", "examples"].flatMap(files).filter((name) => name.endsWith(".md")),
  "client/README.md",
  "react-admin/README.md",
];
const examples = files("examples").filter((name) => /\.(ts|sh|html)$/.test(name));

test("every command on every page exists, with its options", () => {
  const found = pages.flatMap((page) => commandsOf(page, readFileSync(page, "utf8")));
  assert.ok(found.length > 100, `${found.length} commands`);
  assert.deepEqual(found.flatMap(faultsOf), []);
});

test("the first lines of every example say how to run it, with commands that exist", () => {
  assert.ok(examples.length > 5);
  for (const page of examples) {
    const lines = headerOf(readFileSync(page, "utf8"));
    assert.ok(lines.length > 0, page);
    const found = lines.flatMap((line) => simpleCommands(line).map((words) => ({ page, line, words })));
    assert.deepEqual(found.flatMap(faultsOf), []);
  }
});

test("the page of the examples lists each one with the commands of its first lines", () => {
  const page = readFileSync("examples/README.md", "utf8");
  const rows = [...page.matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \| .+ \| (.+) \|$/gm)];
  const listed = rows.map(([, file, run = ""]) => [
    file,
    [...run.matchAll(/`([^`]+)`/g)].map(([, line]) => line),
  ]);
  const there = examples.map((file) => [
    file.replace(/^examples\//, ""),
    headerOf(readFileSync(file, "utf8")),
  ]);
  assert.deepEqual(listed.sort(), there.sort());
});

test("every example but the demo has fewer than 40 lines, and an application fewer than 110", () => {
  for (const file of examples.filter((name) => !name.startsWith("examples/demo"))) {
    const lines = readFileSync(file, "utf8").split("\n").length - 1;
    const isApplication = /^examples\/(?:digest|names|shop)\/holdfast/.test(file);
    assert.ok(lines < (isApplication ? 110 : 40), `${file}: ${lines}`);
  }
});

test("an unknown command is found in each place where a page can name it", () => {
  const wrong = [
    "```sh\nnpm ci && npx holdfast serv\n```",
    "```console\n$ KEY=$(npx holdfast keys make --name ada)\n```",
    "    npx holdfast export topics | holdfast import topics -\n",
    "Use `npx holdfast export topics --outptu topics.csv` for this.",
    "Use `npm run holdfast` for this.",
    "`holdfast rollback` makes a backup.",
    "```sh\nnpm install holdfast\n```",
    "```sh\nnpx node examples/nothing.ts\n```",
  ];
  for (const text of wrong) assert.equal(commandsOf("a page", text).flatMap(faultsOf).length, 1, text);
});

/** The faults of a command, each as a sentence. */
function faultsOf({ page, line, words }: ShellCommand): string[] {
  const why = faultOf(page, words);
  return why === undefined ? [] : [`${page}: ${line}: ${why}`];
}

function faultOf(page: string, [program = "", ...args]: readonly string[]): string | undefined {
  if (program === "npx") return faultOfNpx(page, args);
  if (program === "npm") return faultOfNpm(args);
  if (program === "node") return faultOfNode(page, args);
  if (ofTheMachine.has(program)) return undefined;
  return program.includes("/") && isProgram(program) ? undefined : `there is no ${program} on the path`;
}

function faultOfNpx(page: string, [program, ...args]: readonly string[]): string | undefined {
  if (program === "node") return faultOfNode(page, args);
  return program === "holdfast" ? faultOfHoldfast(args) : `npx would download ${program}`;
}

function faultOfHoldfast([name = "", ...args]: readonly string[]): string | undefined {
  if (/^(?:--help|--version|<command>|)$/.test(name)) return undefined;
  const command = commands.find((each) => each.name() === name);
  if (command === undefined) return `holdfast has no command "${name}"`;
  const part = command.commands.find((each) => each.name() === args[0]);
  if (command.commands.length > 0 && part === undefined && args.length > 0)
    return `holdfast ${name} has no command "${args[0]}"`;
  const known = [command, ...(part === undefined ? [] : [part])].flatMap((each) => each.options);
  const unknown = args
    .filter((arg) => /^--?[a-z]/.test(arg))
    .find((arg) => !known.some(({ short, long }) => [short, long].includes(arg.split("=")[0])));
  return unknown === undefined ? undefined : `holdfast ${name} has no option ${unknown}`;
}

function faultOfNpm([name = "", ...args]: readonly string[]): string | undefined {
  if (["audit", "ci", "exec", "init", "pkg", "publish", "sbom"].includes(name)) return undefined;
  if (name === "install") return args.map(faultOfInstalled).find((fault) => fault !== undefined);
  const script = name === "run" ? (args[0] ?? "") : name;
  return script in scripts ? undefined : `package.json has no script "${script}"`;
}

function faultOfInstalled(name: string): string | undefined {
  if (clone.test(name)) {
    const folder = join(".", name.replace(clone, ""));
    return existsSync(join(folder, "package.json")) ? undefined : `${folder} is no package`;
  }
  return published.has(name) || name.startsWith("-") ? undefined : `${name} is not published`;
}

function faultOfNode(page: string, [file = "."]: readonly string[]): string | undefined {
  if (file.startsWith("-") || existsSync(file.replace(installed, ""))) return undefined;
  const text = existsSync(page) ? readFileSync(page, "utf8") : "";
  const isWritten = ["ts", "js"].some((language) => text.includes(`\`\`\`${language} ${file}\n`));
  return isWritten ? undefined : `there is no ${file}`;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
