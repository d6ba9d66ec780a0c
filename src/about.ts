/** Reads the facts that package.json states about this package. */
import { readFileSync } from "node:fs";

/** The version, and a description in one line. */
export const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
  description: string;
};
