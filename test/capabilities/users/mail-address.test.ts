import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readMailAddress } from "../../../src/capabilities/users/mail-address.ts";

describe("an address", () => {
  for (const [text, key, domain] of [
    ["ada@example.org", "ada@example.org", "example.org"],
    ["Ada.Lovelace@Example.ORG", "ada.lovelace@example.org", "example.org"],
    ["ada+holdfast@example.org", "ada+holdfast@example.org", "example.org"],
    [".!#$%&'*+/=?^_`{|}~-@example.org", ".!#$%&'*+/=?^_`{|}~-@example.org", "example.org"],
    ["0@0.example", "0@0.example", "0.example"],
    ["a@1-2.x--y.example", "a@1-2.x--y.example", "1-2.x--y.example"],
    ["ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["ada@XN--BCHER-KVA.example", "ada@xn--bcher-kva.example", "xn--bcher-kva.example"],
    [`${"a".repeat(64)}@example.org`, `${"a".repeat(64)}@example.org`, "example.org"],
    [`a@${"b".repeat(63)}.org`, `a@${"b".repeat(63)}.org`, `${"b".repeat(63)}.org`],
  ] as const)
    test(`can be ${text.slice(0, 40)}`, () =>
      assert.deepEqual(readMailAddress(text), { address: text, key, domain }));

  for (const [text, address, key] of [
    [" ada@example.org\u00a0", "ada@example.org", "ada@example.org"],
    ["ada@example.org\r\n", "ada@example.org", "ada@example.org"],
    ["Ada@Bücher.example", "Ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"],
    ["ada@BÜCHER.EXAMPLE", "ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"],
    ["ada@bu\u0308cher.example", "ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"],
    ["ada@straße.example", "ada@xn--strae-oqa.example", "ada@xn--strae-oqa.example"],
    ["ada@日本語。example", "ada@xn--wgv71a119e.example", "ada@xn--wgv71a119e.example"],
    ["ada@ｅｘａｍｐｌｅ.org", "ada@example.org", "ada@example.org"],
    ["ada@exa\u212Aple.org", "ada@exakple.org", "ada@exakple.org"], // the Kelvin sign
    ["ada@exam\u00adple.org", "ada@example.org", "ada@example.org"],
  ] as const)
    test(`can be written as ${JSON.stringify(text)}`, () =>
      assert.deepEqual(readMailAddress(text), { address, key, domain: key.slice(4) }));

  test("has at most 254 bytes, also after its domain is in ASCII", () => {
    const long = `ada@${`${"a".repeat(53)}ü.`.repeat(4)}example`;
    assert.ok(long.length < 254);
    assert.deepEqual(readMailAddress(long), { fault: "A mail address has at most 254 characters." });
  });

  test("says that letters beyond ASCII before the @ are not supported", () => {
    const read = readMailAddress("jürgen@example.org");
    assert.match("fault" in read ? read.fault : "", /beyond ASCII before the @ is not supported/);
  });

  test("has at most 254 bytes", () => {
    const accepted = `a@${"b.".repeat(124)}orgs`;
    assert.ok("key" in readMailAddress(accepted));
    assert.deepEqual(readMailAddress(`a${accepted}`), {
      fault: "A mail address has at most 254 characters.",
    });
  });
});

/** What a sentence says: about the @, the part before it, or the part after it. */
const about = { at: /one @/, local: /before the @/, domain: /after the @/ };

describe("no address is", () => {
  for (const [text, what] of [
    ["", "at"],
    ["ada", "at"],
    ["ada@@example.org", "at"],
    ["ada@evil.example@example.org", "at"],
    ["ada@example.org,eve@example.com", "at"],
    ["<ada@example.org>,<eve@example.com>", "at"],
    ["@example.org", "local"],
    ['"ada"@example.org', "local"],
    ["Ada <ada@example.org", "local"],
    ["ada(comment)@example.org", "local"],
    ["eve,ada@example.org", "local"],
    ["eve;ada@example.org", "local"],
    ["eve:ada@example.org", "local"],
    ["ada\\@example.org", "local"],
    ["a da@example.org", "local"],
    ["\r\nBcc:eve@example.com", "local"],
    ["ada\n@example.org", "local"],
    ["ada\0@example.org", "local"],
    ["adä@example.org", "local"],
    ["аda@example.org", "local"], // the first letter is Cyrillic
    ["\u212Aim@example.org", "local"], // the Kelvin sign
    ["ada\ud800@example.org", "local"],
    ["ada%0d%0abcc\r\n@example.org", "local"],
    [`${"a".repeat(65)}@example.org`, "local"],
    ["ada@", "domain"],
    ["ada@example", "domain"],
    ["ada@localhost", "domain"],
    ["ada@example.org.", "domain"],
    ["ada@.example.org", "domain"],
    ["ada@example..org", "domain"],
    ["ada@-example.org", "domain"],
    ["ada@example-.org", "domain"],
    ["ada@exa_mple.org", "domain"],
    ["ada@exam ple.org", "domain"],
    ["ada@example.org>", "domain"],
    ["ada@example.org(comment)", "domain"],
    ["ada@example.org\r\nBcc: eve", "domain"],
    ["ada@example.org%", "domain"],
    ["ada@example.org/x", "domain"],
    ["ada@example.org:25", "domain"],
    ["ada@192.0.2.7", "domain"],
    ["ada@0x7f.1", "domain"],
    ["ada@1.2", "domain"],
    ["ada@[192.0.2.7]", "domain"],
    ["ada@[IPv6:2001:db8::1]", "domain"],
    ["ada@１９２.0.2.7", "domain"],
    ["ada@a\u200bb.\u2060", "domain"],
    ["ada@1.0x7f", "domain"], // browsers read it as an IPv4 address
    ["ada@xn--example-.org", "domain"],
    [`a@${"b".repeat(64)}.org`, "domain"],
    ["ada@\u200b", "domain"],
  ] as const)
    test(JSON.stringify(text).slice(0, 40), () => {
      const read = readMailAddress(text);
      assert.ok("fault" in read, JSON.stringify(read));
      assert.match(read.fault, about[what]);
    });
});
