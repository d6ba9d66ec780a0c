/**
 * The API reference, which the page at /docs loads. It is one file of a package. The package names 205 others, 280 MB, which
 * this file already contains, so npm must not install them: the build downloads only the package itself.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { addFile, type Contents } from "./bundle.ts";

/** The package. `package.json` does not name it. */
export const docsPagePackage = "@scalar/api-reference";

const version = "1.72.1";
/** The checksum of the package, as in a `package-lock.json`. */
const integrity =
  "sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==";
const folder = `node_modules/${docsPagePackage}`;
const source = `${folder}/dist/browser/standalone.js`;

/** The path of the copy in `dist/`. */
export const docsPageFile = "docs-page/standalone.js";

/** Copies the API reference, and adds it to the contents of the bundles. */
export function copyDocsPage(outdir: string, contents: Contents): void {
  if (installedVersion() !== version) download();
  const target = join(outdir, docsPageFile);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, target);
  addFile(contents, source);
}

function installedVersion(): string | undefined {
  if (!existsSync(source)) return undefined;
  return (JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as { version: string }).version;
}

/** Puts the package into its folder. Throws an Error if the registry cannot be reached, or has other contents. */
function download(): void {
  mkdirSync(dirname(folder), { recursive: true });
  const own = mkdtempSync(`${dirname(folder)}/.download-`);
  try {
    const options = ["--json", "--silent", "--pack-destination", own];
    const packed = execFileSync("npm", ["pack", `${docsPagePackage}@${version}`, ...options], {
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    const [{ filename, integrity: found }] = JSON.parse(packed) as [{ filename: string; integrity: string }];
    if (found !== integrity)
      throw new Error(`${docsPagePackage}@${version} has the checksum ${found}, not ${integrity}`);
    const parts = ["package.json", "dist/browser/standalone.js"].map((part) => `package/${part}`);
    execFileSync("tar", ["-xzf", join(own, filename), "-C", own, ...parts]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(own, "package"), folder);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
