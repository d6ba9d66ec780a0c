/**
 * The files, threads and processes of this program. A clone has its files in `src/`, the package in `dist/`, and the single
 * executable contains them.
 */
import type { ChildProcess, ForkOptions } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire, registerHooks } from "node:module";
import { getPriority, setPriority } from "node:os";
import { extname } from "node:path";
import { getAsset, getRawAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Whether this program is a single executable: Node and Holdfast in one file. */
export const isSingleFile = isSea();

/** The argument of `cli.ts` in a process that another process of the program starts. It is not a command of the user. */
export const processArguments = {
  watchedService: "--internal-watched-service",
  syntaxCheck: "--internal-syntax-check",
} as const;

/** The extension of the program's own files: `.ts` in a clone, `.cjs` in the package. */
const extension = extname(import.meta.url);

const urlOf = (path: string) => new URL(path, import.meta.url);

/** The text of a file in `dist/`; `undefined` if it does not exist, as in a clone without a build. */
export function readProgramFile(path: string): string | undefined {
  if (isSingleFile) return getAsset(path, "utf8");
  const file = urlOf(path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** The text of a file in `dist/`, also from a clone; `undefined` if it does not exist. */
export function readBuiltText(path: string): string | undefined {
  return readProgramFile(isSingleFile ? path : `../dist/${path}`);
}

/** The bytes of a file in `dist/`, also from a clone; `undefined` if it does not exist. */
export async function readBuiltFile(path: string): Promise<Buffer | undefined> {
  if (isSingleFile) return Buffer.from(getRawAsset(path));
  const file = urlOf(`../dist/${path}`);
  return existsSync(file) ? readFile(file) : undefined;
}

/** Starts a thread. Its file is a path in `src/`, without the extension. */
export function startThread(file: string, options: WorkerOptions): Worker {
  if (isSingleFile) return new Worker(getAsset(`${file}.cjs`, "utf8"), { ...options, eval: true });
  return new Worker(urlOf(file + extension), options);
}

/**
 * Gives the calling thread a lower priority than the thread that answers requests. Does this on Linux only: elsewhere it
 * would change the whole process (setpriority(2)).
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(19, getPriority() + 10)); // nice(2): 19 is the lowest
  } catch {
    // A sandbox can forbid it. Then reads wait a little longer.
  }
}

/** Starts another process of this program, with a channel for messages. */
export function forkProgram(argument: string, options: ForkOptions): ChildProcess {
  const { fork } = process.getBuiltinModule("node:child_process"); // few commands need it
  return isSingleFile
    ? fork(argument, options)
    : fork(fileURLToPath(urlOf(`cli${extension}`)), [argument], options);
}

/** Whether a URL is a file of this program. */
export function isProgramFile(href: string): boolean {
  return !isSingleFile && ["../src/", "../dist/"].some((folder) => href.startsWith(urlOf(folder).href));
}

/** Imports a module of the user. A bundle has no `import`: it is also the main module of the single executable, which cannot have it. */
export async function importFile(href: string): Promise<unknown> {
  return isSingleFile || extension === ".cjs" ? importOutside()(href) : import(href);
}

/** Returns the `import` of a small module outside the bundle. */
function importOutside(): (href: string) => Promise<unknown> {
  const url = `${ownProtocol}import`;
  const source = "module.exports = (href) => import(href);";
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === url ? { url, format: "commonjs", shortCircuit: true } : next(specifier, context),
    load: (loaded, context, next) =>
      loaded === url ? { source, format: "commonjs", shortCircuit: true } : next(loaded, context),
  });
  try {
    return createRequire(import.meta.url)(url);
  } finally {
    hooks.deregister();
  }
}

const ownProtocol = "holdfast:";

/** The module of the package `holdfast` in the single executable. Configuration files import it. */
const ownModule = `${ownProtocol}index.js`;

/** The URL of a module of the package that the single executable contains; `undefined` for every other specifier. */
export function resolveOwnModule(specifier: string): string | undefined {
  return isSingleFile && specifier === "holdfast" ? ownModule : undefined;
}

/** The source of a module that `resolveOwnModule` found; `undefined` for every other URL. */
export function loadOwnModule(url: string): string | undefined {
  return url === ownModule ? readProgramFile("index.js") : undefined;
}
