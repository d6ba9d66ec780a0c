/** The API reference, which the page at /docs loads. It is one file of a package, which users do not install. */
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { addFile, type Contents } from "./bundle.ts";

const source = "node_modules/@scalar/api-reference/dist/browser/standalone.js";

/** The path of the copy in `dist/`. */
export const docsPageFile = "docs-page/standalone.js";

/** Copies the API reference, and adds it to the contents of the bundles. */
export function copyDocsPage(outdir: string, contents: Contents): void {
  const target = join(outdir, docsPageFile);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, target);
  addFile(contents, source);
}
