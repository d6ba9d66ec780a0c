/** Finds the place of a syntax error in another process. Only a process that ends because of the error prints the place. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { importFile, isSingleFile, processArguments } from "../program.ts";

/** The output of a syntax check of a module, which names the place of the error `[stdin]:<line>`. The module does not run. */
export function checkSyntax(source: string, format: string): string {
  const args = isSingleFile ? [processArguments.syntaxCheck, format] : [`--input-type=${format}`, "--check"];
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  return spawnSync(process.execPath, args, { encoding: "utf8", input: source }).stderr;
}

/** A character that JavaScript does not know. With it at its end, a module never runs. */
const invalid = "\n\u0000";

/** Does the work of `node --check` in the single executable, which has no such option: fails with the first syntax error. */
export async function failWithSyntaxError(format: string): Promise<void> {
  const url = "file:///[stdin]";
  const source = readFileSync(process.stdin.fd, "utf8") + invalid;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === url ? { url, shortCircuit: true } : next(specifier, context),
    load: (loaded, context, next) =>
      loaded === url ? { source, format, shortCircuit: true } : next(loaded, context),
  });
  await importFile(url);
}
