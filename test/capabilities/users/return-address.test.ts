/** Where a browser can go after a sign-in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { returnAddress } from "../../../src/capabilities/users/providers.ts";

const parts = { publicUrl: "https://shop.example", origins: ["https://app.shop.example"] };
const addressOf = (text: string) => returnAddress(text, parts);

test("a path of the service and an address of its other origins are taken", () => {
  assert.equal(addressOf("/"), "https://shop.example/");
  assert.equal(addressOf("/orders?page=2#top"), "https://shop.example/orders?page=2#top");
  assert.equal(addressOf("https://app.shop.example/a"), "https://app.shop.example/a");
});

test("everything else is refused", () => {
  const wrong = [
    "",
    "orders",
    "//evil.example",
    "///evil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "https://app.shop.example//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    " //evil.example",
    "/a b",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "https://evil.example",
    "https://shop.example@evil.example",
    "https://app.shop.example@evil.example/",
    "https://user@app.shop.example/",
    "https://app.shop.example.evil.example",
    "http://app.shop.example/",
    "https:evil.example",
    "https:/evil.example",
    "blob:https://app.shop.example/x",
    `/${"a".repeat(2_000)}`,
  ];
  for (const text of wrong) assert.equal(addressOf(text), undefined, JSON.stringify(text));
});
