/** Installs the packages that only tests need, if they are missing or old. `npm ci` of the clone does not install them. */
import { execSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const wanted = "test/package-lock.json";
const installed = "test/node_modules/.package-lock.json";

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(wanted).mtimeMs) {
  process.stderr.write("Installing the packages of the tests (npm ci --prefix test)\n");
  execSync("npm ci --prefix test --silent --no-audit --no-fund", { stdio: ["ignore", 2, 2] });
}
