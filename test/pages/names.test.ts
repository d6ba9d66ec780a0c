/** The names in code on the pages exist: options, variables, flags, error codes and header fields. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createCommands } from "../../src/commands/command-table.ts";
import { options } from "../../src/config/options.ts";
import { problems } from "../../src/errors.ts";
import { pathsBelow } from "../project.ts";
import { lineOf, nodesOf, pageFiles, parsePage, readPage } from "./markdown.ts";
import { allLiterals } from "./messages.ts";

/** Flags of Node, of the benchmark and of the program that runs the tests. */
const flagsOfOthers = new Set([
  "--conditions",
  "--import",
  "--only",
  "--quick",
  "--require",
  "--times",
  "--together",
]);
/** Environment variables of other programs that look like error codes. */
const variablesOfOthers = new Set(["OTEL_EXPORTER_OTLP_ENDPOINT"]);
/** Header fields that the service does not know. */
const headersOfOthers = new Set(["X-Forwarded-Host", "Message-ID"]);

const commands = createCommands({}).flatMap((command) => [command, ...command.commands]);
const flags = new Set([
  "--help",
  "--version",
  ...commands.flatMap((command) => command.options.map(({ long }) => long)),
]);
const literals = allLiterals();
const headers = new Set(
  literals.flatMap((text) => text.toLowerCase().split(/[^a-z0-9-]+/)).filter((word) => word.includes("-")),
);
const testVariables = new Set(
  ["test", "bench"].flatMap((folder) =>
    pathsBelow(folder)
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => readFileSync(name, "utf8").match(/(?<=process\.env\.)HOLDFAST_[A-Z_]+/g) ?? []),
  ),
);
const variables = new Set([
  "HOLDFAST_CONFIG",
  "HOLDFAST_TOKEN",
  "HOLDFAST_SECRET",
  "HOLDFAST_SMTP_PASSWORD",
  ...Object.values(options).flatMap((option) => ("env" in option ? [option.env] : [])),
  ...testVariables,
]);

/** The faults of the names in a piece of code; empty if there are none. */
const checks: readonly ((code: string) => string | undefined)[] = [
  (code) => {
    const option = /^limits\.[A-Za-z]+/.exec(code)?.[0];
    return option === undefined || option in options ? undefined : `there is no option ${option}`;
  },
  (code) => {
    const unknown = code.match(/\bHOLDFAST_[A-Z_]+\b/g)?.find((name) => !variables.has(name));
    return unknown && `there is no variable ${unknown}`;
  },
  (code) => {
    const unknown = code
      .match(/(?<![\w-])--[a-z][a-z-]*/g)
      ?.find((flag) => !flags.has(flag) && !flagsOfOthers.has(flag));
    return unknown && `no command has the flag ${unknown}`;
  },
  (code) => {
    if (!/^[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+$/.test(code) || code.startsWith("HOLDFAST_")) return undefined;
    return code in problems || variablesOfOthers.has(code) ? undefined : `there is no error code ${code}`;
  },
  (code) => {
    const header = /^([A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+)(?::.*)?$/.exec(code)?.[1];
    if (header === undefined || headers.has(header.toLowerCase()) || headersOfOthers.has(header))
      return undefined;
    return `the service knows no header ${header}`;
  },
];

test("every option, variable, flag, error code and header field that a page names in code exists", () => {
  const pages = pageFiles.map(readPage);
  const found = pages.flatMap((page) =>
    nodesOf(page, "inlineCode").flatMap((node) =>
      faultsOf(node.value).map((fault) => `${page.file}:${lineOf(node)}: ${fault}`),
    ),
  );
  assert.deepEqual(found, []);
});

test("names that do not exist are found", () => {
  const wrong =
    "`limits.pages` `limits.x: 3` `HOLDFAST_PROT` `--prot` `serve --prot 1` `NOT_FOUND` `If-Macht` `X-Total: 3`";
  const codes = nodesOf(parsePage("a page", wrong), "inlineCode").map((node) => node.value);
  assert.deepEqual(
    codes.map((code) => faultsOf(code).length),
    codes.map(() => 1),
  );
});

function faultsOf(code: string): string[] {
  return checks.map((check) => check(code)).filter((fault) => fault !== undefined);
}
