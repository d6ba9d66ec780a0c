/** Writes the types of the package's modules. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { options } from "../../src/config/options.ts";
import type { Option } from "../../src/option.ts";
import { moduleFiles } from "./bundle.ts";

/** Writes the declarations that the modules need to a folder, and no others. */
export function writeTypes(outdir: string): void {
  const compiler = "node_modules/typescript/bin/tsc";
  execFileSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { stdio: "inherit" });
  const index = join(outdir, "index.d.ts");
  writeFileSync(index, withOptions(readFileSync(index, "utf8")));
  const needed = new Set<string>();
  for (const file of moduleFiles) follow(join(outdir, file.replace(/js$/, "d.ts")), needed);
  for (const file of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
    const path = join(outdir, file);
    if (needed.has(path)) makeOptional(path);
    else if (path.endsWith(".d.ts")) rmSync(path);
  }
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
