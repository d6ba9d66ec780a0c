/**
 * npm runs this file before it publishes a package (`prepublishOnly`). It stops the publication while the package does not name its
 * repository and the place for reports: SECURITY.md sends readers there.
 */
import { readFileSync } from "node:fs";

const { name, repository, bugs } = JSON.parse(readFileSync("package.json", "utf8"));
const missing = Object.entries({ repository, bugs })
  .filter(([, value]) => !value?.url)
  .map(([member]) => `"${member}": { "url": "https://…" }`);

if (missing.length > 0) {
  console.error(`${name} cannot be published yet. Add to its package.json: ${missing.join(" and ")}.`);
  process.exitCode = 1;
}
