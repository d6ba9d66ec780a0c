/**
 * The last step of `npm ci` and `npm install` in the clone. It links Node 26, which npm does not do in a workspace, and
 * builds the packages that other projects install. This file is JavaScript because the Node that runs npm may be old.
 */
import { execSync } from "node:child_process";

/** Runs a command. Its output goes to standard error, so that standard output has only what npm writes. */
const run = (command) => execSync(command, { stdio: ["ignore", 2, 2] });

run("npm rebuild --silent --ignore-scripts");
run("npm run --silent build");
run("npm run --silent build --workspace client --workspace react-admin");
