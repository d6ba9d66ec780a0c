/** Installs the packages that only measurements need, when a measurement first needs them. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const folder = "bench/opponents";
let tried: string | undefined | false = false;

/** Installs the packages if they are missing. Returns the reason in one line if that fails; otherwise `undefined`. */
export function installOpponents(): string | undefined {
  if (tried === false)
    tried = existsSync(`${folder}/node_modules/.package-lock.json`) ? undefined : install();
  return tried;
}

function install(): string | undefined {
  process.stderr.write(`bench: installing the programs to compare with (npm ci --prefix ${folder})\n`);
  const { status, stderr, error } = spawnSync("npm", ["ci", "--prefix", folder], { encoding: "utf8" });
  if (status === 0) return undefined;
  const reason = error?.message ?? /npm error (?!code)(.*)/.exec(stderr)?.[1] ?? `npm ended with ${status}`;
  return `npm ci --prefix ${folder} failed: ${reason}`;
}

/** A package of the folder, or of the project, with the version that is installed. */
export function versionOf(name: string): string {
  const file = [`${folder}/node_modules`, "node_modules"]
    .map((path) => `${path}/${name}/package.json`)
    .find(existsSync);
  if (file === undefined) return `${name} (not installed)`;
  return `${name} ${(JSON.parse(readFileSync(file, "utf8")) as { version: string }).version}`;
}
