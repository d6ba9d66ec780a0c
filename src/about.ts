/** What the package says about itself. */
import { readFileSync } from "node:fs";

/** Version and one-line description of this program. */
export const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
  description: string;
};
