/** The common passwords that nobody can choose (`src/users/password-rules.ts`). They come from a package with passwords of breaches. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addFile, type Contents } from "./bundle.ts";

/** The package of the list. */
export const commonPasswordsPackage = "@zxcvbn-ts/language-common";

const source = `node_modules/${commonPasswordsPackage}/src/passwords.json`;

/** The path of the list in `dist/`. */
export const commonPasswordsFile = "common-passwords.txt";

/** Shorter passwords are refused anyway. */
const shortest = 8;

/** The fewest passwords that are worth a list (OWASP ASVS 6.2.4). */
const fewest = 3_000;

/** The lines of the list: the passwords of eight characters or more, in lower case. Throws an Error if they are too few. */
export function commonPasswords(found: readonly unknown[]): string[] {
  const texts = found.filter((each) => typeof each === "string").map((each) => each.toLowerCase());
  const all = [...new Set(texts)].filter((text) => [...text].length >= shortest && !text.includes("\n"));
  if (all.length >= fewest) return all;
  throw new Error(`${source} has ${all.length} passwords of ${shortest} characters or more, not ${fewest}.`);
}

/** Writes the list, and adds its package to the contents of the bundles. */
export function writeCommonPasswords(outdir: string, contents: Contents): void {
  const found = JSON.parse(readFileSync(source, "utf8")) as unknown[];
  writeFileSync(join(outdir, commonPasswordsFile), commonPasswords(found).join("\n"));
  addFile(contents, source);
}
