/** Reads the facts that package.json states about this package. */
import { readProgramFile } from "./program.ts";

/** The version, and a description in one line. */
export const about = JSON.parse(readProgramFile("../package.json") as string) as {
  version: string;
  description: string;
};
