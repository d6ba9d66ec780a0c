/** The package of this folder: what the project itself does not need, installed when a measurement first needs it. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const folder = "bench/opponents";
let tried: string | undefined | false = false;

/** Installs the package where it is not there. Gives one line that says why it cannot be used; undefined where it can. */
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
