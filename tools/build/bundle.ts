/**
 * Bundles the sources. A bundle starts faster than many files, and the single executable needs one, with all packages. In the
 * package that npm installs, the packages of `dependencies` stay outside, so that an audit sees them.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";

/** What is in the bundles, as esbuild describes it. */
export type Contents = Metafile;

/** The threads that need only a part of the program. Each has its own bundle. */
export const threads = [
  "store/sqlite/writer/thread",
  "store/sqlite/list/query-thread",
  "store/sqlite/upkeep/check-thread",
  "store/sqlite/upkeep/checkpoint-thread",
  "capabilities/users/password-thread",
  "capabilities/code/hooks/hook-thread",
  "capabilities/code/calls/code-thread",
];

const entry = "tools/build/program.ts";

/** The files of the threads. */
export const threadFiles = threads.map((thread) => `${thread}.cjs`);

/** The thread that needs almost the whole program. Its file loads the program, so that the package contains it only once. */
export const servingThreadFile = "server/thread.cjs";

/** The module that configuration files and other programs import from the package. */
export const moduleFile = "index.js";

/** All modules that can be imported from the package. Tests do not run in the single executable, so it has only the first one. */
export const moduleFiles = [moduleFile, "testing.js"];

/** The file of the program. */
export const programFile = "holdfast.cjs";

/** Every start needs these packages. The bundle contains them even in the package that npm installs, because a start is then faster. */
const neededAtStart = ["commander", "uuid"];

/** The packages that the built files import from `node_modules`, in the package that npm installs. */
export function packagesOutside(): string[] {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
  return Object.keys(dependencies).filter((name) => !neededAtStart.includes(name));
}

/** CommonJS has no import.meta. */
const fileUrl = 'const __fileUrl = require("node:url").pathToFileURL(__filename).href;';

/** Sources load some packages with `require`, when they need them. esbuild bundles only a plain `require`. */
const plainRequire: Plugin = {
  name: "plain-require",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replaceAll(
        /createRequire\(import\.meta\.url\)(?=\(\s*")/g,
        "require",
      ),
    }));
  },
};

/** The modules of the package are small: they load the program only for an application that embeds it, and for tests. */
const programOutside: Plugin = {
  name: "program-outside",
  setup({ onResolve }) {
    onResolve({ filter: /\/(?:server\/plugin|testing\/start)\.ts$/ }, () => ({
      path: `./${programFile}`,
      external: true,
    }));
  },
};

/** Which file of a package a bundle contains. The client is built later, so a bundle contains its sources. */
const conditions = ["module", "holdfast-source"];

const common = {
  bundle: true,
  platform: "node",
  conditions,
  target: "node24",
  metafile: true,
  write: false,
  logLevel: "warning",
  legalComments: "none", // all licences are in one file
} as const;

const commonJs = {
  ...common,
  format: "cjs",
  banner: { js: fileUrl },
  define: { "import.meta.url": "__fileUrl" },
  outExtension: { ".js": ".cjs" },
  supported: { "dynamic-import": false }, // the program in the single executable has no `import`
} as const;

/** Writes the program and its threads to a folder. `external` names packages that stay outside. */
export async function bundleProgram(outdir: string, external: string[]): Promise<Contents> {
  const plugins = [plainRequire];
  const [main, parts] = await Promise.all([
    build({ ...commonJs, plugins, entryPoints: [entry], outfile: `${outdir}/${programFile}`, external }),
    build({
      ...commonJs,
      plugins,
      entryPoints: threads.map((thread) => `src/${thread}.ts`),
      outbase: "src",
      outdir,
      external,
    }),
  ]);
  return write([main, parts]);
}

/** Writes the modules that other programs import from the package. */
export async function bundleModules(outdir: string): Promise<Contents> {
  return write([
    await build({
      ...common,
      format: "esm",
      entryPoints: moduleFiles.map((file) => `src/${file.replace(/js$/, "ts")}`),
      outdir,
      plugins: [programOutside],
    }),
  ]);
}

type Built = Awaited<ReturnType<typeof build<{ metafile: true; write: false }>>>;

function write(builds: readonly Built[]): Contents {
  const all: Contents = { inputs: {}, outputs: {} };
  for (const { outputFiles, metafile } of builds) {
    for (const { path, text } of outputFiles) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, toAscii(text));
    }
    Object.assign(all.inputs, metafile.inputs);
    Object.assign(all.outputs, metafile.outputs);
  }
  return all;
}

/**
 * Node reads ASCII about ten times faster than other text. esbuild escapes the characters of strings. Only comments and regular
 * expressions remain.
 */
function toAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Adds a file that is published beside a bundle to its contents. */
export function addFile(contents: Contents, path: string): void {
  contents.inputs[path] = { bytes: statSync(path).size, imports: [] };
  contents.inputs[entry]?.imports.push({ path, kind: "import-statement" });
  for (const output of Object.values(contents.outputs))
    if (output.entryPoint === entry) output.inputs[path] = { bytesInOutput: 0 };
}
