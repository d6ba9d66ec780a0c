/** A clean clone of this project in an empty folder. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";
import { copyProject } from "../project.ts";
import { type Served, serve } from "./terminal.ts";

/** A clone that was set up by the first command of the README, whose service is running. */
export interface Clone {
  path: string;
  service: Served;
  /** From the beginning of the clone until the service listened. */
  seconds: number;
}

/** The variable that has the first hour run `npm ci` itself, as `npm run prove first-hour` does. */
export const fullVariable = "FIRST_HOUR_IN_FULL";

/** Whether it does. */
export const isFull = process.env[fullVariable] !== undefined;

/**
 * What `npm ci` does, with the packages of this checkout in place of those of the registry: most of its time, npm unpacks them. CI
 * runs `npm ci` in a clean clone before the tests.
 */
const installation = `mkdir node_modules && (${copyOf(resolve("node_modules"))}) && npm run dependencies`;

/** Copies all packages, and leaves out `.cache`, which other tests fill. Makes links in place of copies if `cp` can. */
function copyOf(packages: string): string {
  const files = ["[!.]*", ".[!c]*"].map((pattern) => `'${packages}'/${pattern}`).join(" ");
  return `cp -al ${files} node_modules || cp -R ${files} node_modules`;
}

const isOffline = /npm error code (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ENOTCACHED)/;

/** Clones the last commit, or copies the files without a repository, and starts the service. Returns the reason if it cannot. */
export async function setUpClone(t: TestContext): Promise<Clone | { why: string }> {
  const path = join(makeFolder(), "holdfast");
  const started = performance.now();
  const how = await cloneTo(path);
  if (how !== undefined) t.diagnostic(how);
  const [, written = ""] =
    /^ {4}(npm ci && npm start)\b/m.exec(await readFile(join(path, "README.md"), "utf8")) ?? [];
  const command = isFull ? written : written.replace("npm ci", installation);
  try {
    const service = await serve(t, path, ["export npm_config_prefer_offline=true", command]);
    return { path, service, seconds: (performance.now() - started) / 1_000 };
  } catch (error) {
    if (!isOffline.test(String(error))) throw error;
    return { why: "the registry of npm cannot be reached, so the first hour is NOT RUN" };
  }
}

/** The facts that a reader of the result should know. */
async function cloneTo(path: string): Promise<string | undefined> {
  const git = async (...args: string[]) => (await promisify(execFile)("git", args)).stdout;
  try {
    const changed = await git("status", "--porcelain");
    await git("clone", "--quiet", resolve("."), path);
    return changed === "" ? undefined : "the clone is of the last commit: changes since then are not in it";
  } catch {
    await copyProject(path);
    return "there is no repository here: the files were copied";
  }
}
