/**
 * The last part of `npm ci` and `npm install` in the clone. It links Node 26, which npm leaves out for packages of a workspace,
 * and builds what projects that install the clone import. Plain JavaScript, since the Node that npm runs on may be older.
 */
import { execSync } from "node:child_process";

/** All output goes to standard error: what npm itself writes to standard output stays readable. */
const run = (command) => execSync(command, { stdio: ["ignore", 2, 2] });

run("npm rebuild --silent --ignore-scripts");
run("npm run --silent build");
run("npm run --silent build --workspace client");
