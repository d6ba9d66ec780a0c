/** Which sources a long proof is about. */
import { execFileSync } from "node:child_process";

/** The version of the committed files in these folders. */
export function sourceVersion(...folders: readonly string[]): string {
  const versions = folders.map((folder) =>
    execFileSync("git", ["rev-parse", "--short", `HEAD:${folder}`], { encoding: "utf8" }).trim(),
  );
  return versions.join("-");
}
