/** What the vault encrypts, and how secrets are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { StartError } from "../../src/errors.ts";
import { nameOfSecret, newSecret, readSecrets, Vault } from "../../src/secrets.ts";

const [one, two, three] = [newSecret(), newSecret(), newSecret()];
const vaultOf = (...secrets: string[]) => new Vault(readSecrets(secrets.join(",")));

test("a new secret is 32 random bytes in base64", () => {
  assert.match(newSecret(), /^[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(newSecret(), newSecret());
});

test("what is sealed can be opened with the same purpose and place, after a restart too", () => {
  for (const text of ["", "K7QF-29MX", "snø ☃ 🦉", "x".repeat(100_000)]) {
    const sealed = vaultOf(one).seal("mail", "_mail/1", text);
    assert.equal(vaultOf(one).open("mail", "_mail/1", sealed), text);
    assert.ok(text.length < 9 || !Buffer.from(sealed.split(".")[1] ?? "", "base64url").includes(text));
  }
});

test("the same text is sealed differently each time", () => {
  const vault = vaultOf(one);
  const all = Array.from({ length: 100 }, () => vault.seal("mail", "_mail/1", "same"));
  assert.equal(new Set(all).size, 100);
});

test("a sealed text of another place, purpose or secret cannot be opened", () => {
  const vault = vaultOf(one);
  const sealed = vault.seal("mail", "_mail/1", "text");
  assert.throws(() => vault.open("mail", "_mail/2", sealed), /belongs to another place/);
  assert.throws(() => vault.open("seed", "_mail/1", sealed), /belongs to another place/);
  assert.throws(() => vaultOf(two).open("mail", "_mail/1", sealed), /No secret in HOLDFAST_SECRET/);
});

test("a sealed text with any changed byte, or cut anywhere, cannot be opened", () => {
  const vault = vaultOf(one);
  const [name, content = ""] = vault.seal("mail", "_mail/1", "text").split(".");
  const bytes = Buffer.from(content, "base64url");
  const open = (changed: Uint8Array) =>
    vault.open("mail", "_mail/1", `${name}.${Buffer.from(changed).toString("base64url")}`);
  assert.equal(open(bytes), "text");
  for (const n of bytes.keys()) {
    assert.throws(() => open(bytes.with(n, (bytes[n] as number) ^ 1)), /was changed/);
    assert.throws(() => open(bytes.subarray(0, n)), /was changed/);
  }
  for (const text of ["", ".", "x", `${name}`, `${name}.`])
    assert.throws(() => vault.open("mail", "p", text), Error);
});

test("a sealed text has one spelling", () => {
  const vault = vaultOf(one);
  for (const text of ["", "a", "ab", "abc"]) {
    const sealed = vault.seal("mail", "_mail/1", text);
    const [name = "", content = ""] = sealed.split(".");
    const replaced = [...sealed].flatMap((was, n) =>
      [..."AQgw-_+/=. \nÄ"]
        .filter((other) => other !== was)
        .map((other) => sealed.slice(0, n) + other + sealed.slice(n + 1)),
    );
    const others = [
      ...["=", "==", "\n", " ", ".", ".x", "A", "\0"].flatMap((more) => [sealed + more, more + sealed]),
      ...[1, 7, name.length + 1, name.length + 9].map((n) => `${sealed.slice(0, n)}\n${sealed.slice(n)}`),
      `${name}.${Buffer.from(content, "base64url").toString("base64")}`.replace(/(?<![+/=].*)$/, "="),
      `${sealed}.${content}`,
    ];
    for (const other of [...replaced, ...others])
      assert.throws(() => vault.open("mail", "_mail/1", other), Error, JSON.stringify(other));
  }
});

test("the first secret encrypts, and all decrypt", () => {
  const before = vaultOf(one).seal("mail", "_mail/1", "before");
  const rotated = vaultOf(three, two, one);
  assert.equal(rotated.open("mail", "_mail/1", before), "before");
  assert.equal(rotated.isCurrent(before), false);
  const after = rotated.seal("mail", "_mail/1", "after");
  assert.equal(rotated.isCurrent(after), true);
  assert.equal(vaultOf(three).open("mail", "_mail/1", after), "after");
  assert.throws(() => vaultOf(one).open("mail", "_mail/1", after), /No secret/);
});

test("a mac depends on the purpose, the text and the first secret", () => {
  const mac = vaultOf(one).mac("tries", "ann@example.org");
  assert.match(mac, /^[\w-]{43}$/);
  assert.equal(vaultOf(one, two).mac("tries", "ann@example.org"), mac);
  const others = [
    vaultOf(one).mac("mail", "ann@example.org"),
    vaultOf(one).mac("tries", "bob@example.org"),
    vaultOf(two, one).mac("tries", "ann@example.org"),
  ];
  assert.equal(new Set([mac, ...others]).size, 4);
});

test("spaces around a secret do not matter", () => {
  assert.deepEqual(
    readSecrets(` ${one} , ${two}\n`).map(nameOfSecret),
    [one, two].flatMap((each) => readSecrets(each).map(nameOfSecret)),
  );
});

test("a wrong secret is refused, and no message and no inspection shows it", () => {
  const short = Buffer.alloc(31, 7).toString("base64");
  const wrong = [
    "",
    ",",
    `${one},`,
    "password",
    short,
    one.slice(0, -1),
    `${one.slice(0, -2)}!=`,
    one.repeat(2),
  ];
  for (const text of [...wrong, [one, two, three, newSecret()].join(",")])
    assert.throws(
      () => readSecrets(text),
      (error) => {
        assert.ok(error instanceof StartError, String(error));
        assert.match(error.message, /^HOLDFAST_SECRET must be .* 32 bytes in base64/);
        for (const part of text.split(",")) assert.ok(part === "" || !error.message.includes(part));
        return true;
      },
    );
  const shown = inspect([readSecrets(one), vaultOf(one)], { depth: 9, showHidden: true });
  assert.ok(
    !shown.includes(one.slice(0, 10)) && !shown.includes(Buffer.from(one, "base64").toString("hex", 0, 4)),
  );
});
