/** Writes the types of the package's module. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Writes the declarations that the module needs to a folder, and no others. */
export function writeTypes(outdir: string): void {
  const compiler = "node_modules/typescript/bin/tsc";
  execFileSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { stdio: "inherit" });
  const needed = new Set<string>();
  follow(join(outdir, "index.d.ts"), needed);
  for (const file of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
    const path = join(outdir, file);
    if (needed.has(path)) makeOptional(path);
    else if (path.endsWith(".d.ts")) rmSync(path);
  }
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
