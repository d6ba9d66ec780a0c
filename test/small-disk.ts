/** Small disks, for tests of what happens when a disk is full. */
import { execFileSync } from "node:child_process";
import { makeFolder } from "./folder.ts";

/** Why tests with a small disk are skipped. */
export const noDisk = "needs the right to mount a small disk: run the tests as root on Linux";

/** Mounts a disk of 2 MB; `undefined` if this is not allowed. */
export function mountSmallDisk(): { folder: string; remove(): void } | undefined {
  const folder = makeFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return {
    folder,
    remove() {
      execFileSync("umount", ["--lazy", folder]);
    },
  };
}
