/** Requirements of OWASP ASVS 5.0 that no other test shows, and the table of `holdfast check --asvs`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Cookies } from "../../../src/capabilities/users/cookies.ts";
import {
  asvsLines,
  configured,
  deviations,
  notApplicable,
  notPromised,
  onlyEncrypted,
  promised,
  yours,
} from "../../../src/commands/asvs.ts";
import type { Config } from "../../../src/config.ts";
import { pathsBelow } from "../../project.ts";
import { testFileOf } from "../../runner/names.ts";
import { machineTime } from "../../until.ts";
import { bodyOf, goodPassword, startPeople } from "./http/people.ts";

const page = readFileSync("docs/explanation/asvs.md", "utf8");

test("3.3.1 and 3.3.3: the cookies of a service that others reach are secure, and its host alone can set them", () => {
  const cookies = new Cookies({
    identity: () => "a1b2c3",
    publicUrl: () => "https://shop.example",
    isLocal: false,
    origins: [],
    sessionMs: 60_000,
  });
  const set = [...cookies.ofSession({ token: "t", device: "d" }), ...cookies.end(), cookies.nameBrowser("b")];
  assert.equal(set.length, 4);
  for (const value of set) {
    assert.match(value, /^__Host-holdfast-a1b2c3(?:-device|-browser)?=/);
    assert.match(value, /; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    assert.doesNotMatch(value, /domain/i);
  }
});

test("6.2.10: a password has no end", async (t) => {
  let now = machineTime();
  const { join, post } = await startPeople(t, { now: () => now });
  await join("ada@example.org");
  now += 10 * 365 * 24 * 3_600_000;
  bodyOf(await post("sign-in", { email: "ada@example.org", password: goodPassword }));
});

/** The sources, by path. */
const sources = pathsBelow("src")
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

test("6.5.3: nothing that makes secrets uses Math.random, but for a wait", () => {
  const rooms = sources.filter(({ path }) => /^src\/(?:capabilities|access|secrets|open-vault)\b/.test(path));
  assert.ok(rooms.length > 40);
  const lines = rooms.flatMap(({ text }) => text.split("\n").filter((line) => line.includes("Math.random")));
  assert.deepEqual(
    // The other one decides how long the next attempt of a mail or of a delivery waits.
    lines.filter((line) => !line.includes("await sleep(") && line.trim() !== "random: Math.random,"),
    [],
  );
});

test("11.1.2: the page lists every algorithm of node:crypto that the sources name", () => {
  const call =
    /\b(?:createCipheriv|createDecipheriv|createHmac|hash|hkdfSync|createHash|argon2)\(\s*"([^"]+)"|"((?:aes|chacha20)-[^"]+|argon2\w+)"/g;
  const found = new Set(
    sources.flatMap(({ text }) => [...text.matchAll(call)].map(([, a, b]) => a ?? b ?? "")),
  );
  const named: Record<string, string> = {
    argon2id: "argon2id",
    "aes-256-gcm": "AES-256-GCM",
    "aes-128-ecb": "AES-128-ECB",
    sha1: "SHA-1",
    sha256: "SHA-256",
  };
  assert.deepEqual([...found].sort(), Object.keys(named).sort());
  const [, inventory = ""] = page.split("### What is encrypted and signed");
  for (const name of Object.values(named)) assert.ok(inventory.includes(name), name);
});

/** The rows of the page by heading: the numbers, what they ask for, and the rest. */
function rowsOf(text: string): Map<string, string[][]> {
  const sections = text.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const rows = [...section.matchAll(/^\| (\d[\d., ]+?)(?: \(level 3\))? \| (.*) \|$/gm)];
      return [
        section.split("\n")[0] ?? "",
        rows.map(([, numbers = "", rest = ""]) => [numbers, ...rest.split(" | ")]),
      ];
    }),
  );
}

test("the command and the page have the same requirements", () => {
  const sections = rowsOf(page);
  const take = (name: string) => {
    const rows = sections.get(name) ?? [];
    sections.delete(name);
    assert.ok(rows.length > 0, name);
    return rows.map(([numbers = "", asks = "", rest = ""]) => ({
      numbers,
      asks: asks.replaceAll("`", ""),
      rest,
    }));
  };
  const asked = (name: string) => Object.fromEntries(take(name).map(({ numbers, asks }) => [numbers, asks]));
  assert.deepEqual(asked("Not promised"), notPromised);
  assert.deepEqual(asked("Deviations"), deviations);
  const numbersOf = (rows: readonly { numbers: string }[]) =>
    rows.flatMap(({ numbers }) => numbers.split(", ")).sort();
  assert.deepEqual(numbersOf(take("Not applicable")), [...notApplicable].sort());
  const options = take("With your configuration");
  assert.deepEqual(numbersOf(options), [...Object.keys(configured), ...Object.keys(yours)].sort());
  for (const { numbers, asks, rest } of options) {
    assert.equal(asks, configured[numbers]?.asks ?? yours[numbers]);
    assert.ok(rest.includes(configured[numbers]?.option ?? ""), `${numbers}: ${rest}`);
  }
  const others = [...sections.keys()].flatMap(take);
  assert.deepEqual(numbersOf(others), [...promised].sort());
  for (const number of onlyEncrypted) assert.ok(promised.includes(number));
  for (const { numbers, rest } of others) assert.doesNotMatch(rest, /no test/, numbers);
});

test("every test that the page names exists", () => {
  const named = [...page.matchAll(/`([a-z][\w-]*(?:\/[\w-]+)+)`/g)].map(([, subject = ""]) => subject);
  assert.ok(named.length > 80);
  for (const subject of named) testFileOf(`test/${subject}`);
});

test("the list says what a configuration meets", () => {
  const users = { password: { words: [], breached: false }, secondFactor: "optional" };
  const config = (more: object = {}) =>
    ({
      isLocal: false,
      http: { rate: undefined, hstsIncludesSubDomains: false },
      users,
      tokens: undefined,
      ...more,
    }) as unknown as Config;
  const met = (given: Config) =>
    asvsLines(given).flatMap((line) => /^met by this configuration: ([\d.]+), /.exec(line)?.[1] ?? []);
  assert.deepEqual(met(config()), ["9.2.2"]);
  assert.deepEqual(met(config({ tokens: { onlyAccessTokens: false } })), []);
  const strict = {
    users: { password: { breached: true }, secondFactor: "required" },
    tokens: { onlyAccessTokens: true },
  };
  const all = config({ http: { rate: {}, hstsIncludesSubDomains: true }, ...strict });
  assert.deepEqual(met(all), Object.keys(configured));
  const [first = "", ...others] = asvsLines(config({ isLocal: true }));
  for (const number of onlyEncrypted) {
    assert.ok(!first.split(/[ ,]+/).includes(number));
    assert.ok(others.some((line) => line.startsWith(`not met by a local service: ${number}`)));
    assert.ok(asvsLines(config())[0]?.split(/[ ,]+/).includes(number));
  }
});
