/** Writes the types of the package's modules. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { options } from "../../src/config/options.ts";
import type { Option } from "../../src/option.ts";
import { moduleFiles } from "./bundle.ts";

/** Writes the declarations that the modules need to a folder, and no others. */
export function writeTypes(outdir: string): void {
  compile("-p", "tsconfig.build.json");
  compile("-p", "client/tsconfig.build.json", "--emitDeclarationOnly", "--outDir", join(outdir, "client"));
  const index = join(outdir, "index.d.ts");
  writeFileSync(index, withOptions(readFileSync(index, "utf8")));
  for (const path of declarationsIn(outdir)) nameClientHere(path, join(outdir, "client/index.ts"));
  const needed = new Set<string>();
  for (const file of moduleFiles) follow(join(outdir, file.replace(/js$/, "d.ts")), needed);
  for (const path of declarationsIn(outdir)) {
    if (needed.has(path)) makeOptional(path);
    else rmSync(path);
  }
}

function compile(...args: string[]): void {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", ...args], { stdio: "inherit" });
}

function declarationsIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".d.ts")).map((file) => join(folder, file));
}

/** The code of a configuration has clients, also in a project without the package of the client. So its declarations are in `client/`. */
function nameClientHere(path: string, client: string): void {
  const here = relative(dirname(path), client).split(sep).join("/");
  const text = readFileSync(path, "utf8");
  const named = text.replaceAll(
    'from "holdfast-client"',
    `from "${here.startsWith(".") ? here : `./${here}`}"`,
  );
  if (named !== text) writeFileSync(path, named);
}

/** Lists the options of a configuration file one by one, with the texts of their table, so that editors show them. */
export function withOptions(declarations: string): string {
  const groups = Map.groupBy(Object.entries<Option<unknown>>(options), ([name]) =>
    name.includes(".") ? name.replace(/\..*/, "") : name,
  );
  const members = Array.from(groups, ([group, rows]) => {
    const texts = rows.map(([name, row]) => memberOf(name, row)).join("\n");
    return rows[0]?.[0] === group ? texts : `${group}?: {\n${texts}\n};`;
  });
  const inherited = "export interface HoldfastConfig extends GivenOptions {";
  if (!declarations.includes(inherited)) throw new Error("HoldfastConfig has no GivenOptions any more.");
  return declarations.replace(inherited, `export interface HoldfastConfig {\n${members.join("\n")}`);
}

function memberOf(name: string, { about, shownDefault }: Option<unknown>): string {
  const text = `${about.charAt(0).toUpperCase()}${about.slice(1)}. @default ${shownDefault}`;
  return `/** ${text} */\n${name.replace(/.*\./, "")}?: import("./config/options.ts").Given<"${name}">;`;
}

function follow(path: string, needed: Set<string>): void {
  if (needed.has(path)) return;
  needed.add(path);
  for (const [, target] of readFileSync(path, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g))
    follow(join(dirname(path), (target as string).replace(/\.[jt]s$/, ".d.ts")), needed);
}

/**
 * Only an application that embeds the service has Fastify. Without it, its types are `any` instead of an error in a project that
 * checks the types of its packages.
 */
function makeOptional(path: string): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/^(import|export) .*from "(?!\.|node:)[^"]+";$/gm, "// @ts-ignore\n$&"));
}
