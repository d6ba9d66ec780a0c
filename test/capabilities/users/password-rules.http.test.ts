import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import {
  isBreached,
  type PasswordContext,
  refusedPassword,
} from "../../../src/capabilities/users/password-rules.ts";
import { commonPasswords } from "../../../tools/build/common-passwords.ts";

const context: PasswordContext = {
  title: "Ocean Library",
  address: "ada.lovelace@engines.example",
  texts: ["Augusta", "King of Codes", "a text that is much too long to be a part of a password ".repeat(2)],
  words: ["Babbage"],
};

const codeOf = (password: string) => refusedPassword(password, context)?.code;

describe("a password", () => {
  for (const password of [
    "qzvkwmtx",
    "a b c d e",
    "        ",
    "😀".repeat(8),
    "x".repeat(8).concat("y".repeat(248)),
    "😀".repeat(256),
    "oceanXqzvkw7",
    "Bäbbage-kiste",
    "zvke\u0301q".repeat(50), // 250 characters in the form that is stored
    "is ad ok", // parts of two letters do not count
  ])
    test(`can be ${password.slice(0, 20)}`, () =>
      assert.equal(refusedPassword(password, context), undefined));

  for (const [password, code] of [
    ["", "length"],
    ["qzvkwmt", "length"],
    ["😀".repeat(7), "length"],
    ["x".repeat(257), "length"],
    ["😀".repeat(257), "length"],
    ["x".repeat(1_000_000), "length"],
    ["qzvkwmt\ud800", "length"],
    ["e\u0301q".repeat(3), "length"],
    ["qzvk\twmtxu", "control"],
    ["qzvkwmtxu\n", "control"],
    ["ocean\u00a0library", "personal"],
    ["password", "common"],
    ["PassWord", "common"],
    ["1234567890", "common"],
    ["qwertyuiop", "common"],
    ["ocean library", "personal"],
    ["OceanLibrary", "personal"],
    ["ocean12345", "personal"],
    ["12OCEAN345", "personal"],
    ["ada.lovelace", "personal"],
    ["Lovelace2026", "personal"],
    ["engines!engines", "personal"],
    ["example-2026", "personal"],
    ["ada.lovelace@engines.example", "personal"],
    ["augusta1", "personal"],
    ["king of codes", "personal"],
    ["codes-king", "personal"],
    ["babbage12345", "personal"],
    ["oceanbabbageaugusta", "personal"],
  ] as const)
    test(`cannot be ${JSON.stringify(password).slice(0, 20)}: ${code}`, () =>
      assert.equal(codeOf(password), code));

  test("is not in the sentence that refuses it", () => {
    for (const password of ["qwertyuiop", "ocean12345", "qzvkwmt"])
      assert.doesNotMatch(refusedPassword(password, context)?.detail ?? password, new RegExp(password, "i"));
  });
});

test("the build fails if the package has fewer than 3,000 passwords of eight characters or more", () => {
  const many = Array.from({ length: 3_000 }, (_, n) => `Password${n}`);
  assert.equal(commonPasswords([...many, "short", 7, "password1"]).length, 3_000);
  assert.throws(() => commonPasswords([...many.slice(1), "short"]), /2999 passwords/);
});

/** A list of known passwords, and what it was asked. */
async function openList(t: TestContext, answer: RequestListener) {
  const asked: { path: string | undefined; padding: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url, padding: request.headers["add-padding"] as string });
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const failures: unknown[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`;
  const ask = (password: string) =>
    isBreached(password, fetch, { url, onFailure: (error) => failures.push(error) });
  return { ask, asked, failures };
}

/** The SHA-1 of `password` is 5BAA6 and this. */
const suffix = "1E4C9B93F3F0682250B6CF8331B7EE68FD8";

describe("the list of known passwords", () => {
  test("gets five digits of the hash, and finds the others", async (t) => {
    const { ask, asked, failures } = await openList(t, (_, response) =>
      response.end(`0018A45C4D1DEF81644B54AB7F969B88D65:1\r\n${suffix}:3861493\r\nFFFF${suffix.slice(4)}:2`),
    );
    assert.equal(await ask("password"), true);
    assert.equal(await ask("a password that nobody has"), false);
    assert.deepEqual(asked[0], { path: "/range/5BAA6", padding: "true" });
    assert.match(asked[1]?.path ?? "", /^\/range\/[0-9A-F]{5}$/);
    assert.deepEqual(failures, []);
  });

  test("can contain padding, which is not a known password", async (t) => {
    const { ask } = await openList(t, (_, response) => response.end(`${suffix}:0\r\n${suffix.slice(1)}0:5`));
    assert.equal(await ask("password"), false);
  });

  for (const [what, answer] of [
    ["an error", (_, response) => response.writeHead(503).end(`${suffix}:5`)],
    [
      "a redirect",
      ({ url }, response) =>
        url === "/other"
          ? response.end(`${suffix}:5`)
          : response.writeHead(302, { location: "/other" }).end(),
    ],
    ["an endless text", (_, response) => void fill(response)],
    [
      "half of a response",
      (_, response) =>
        response.writeHead(200, { "content-length": "100" }).write(suffix, () => response.destroy()),
    ],
    ["nothing in time", () => {}],
  ] as const satisfies [string, RequestListener][])
    test(`that answers with ${what} refuses no password, and the failure is told`, async (t) => {
      const { ask, failures } = await openList(t, answer);
      assert.equal(await ask("password"), false);
      assert.equal(failures.length, 1);
    });
});

/** Writes until the client closes the connection. */
function fill(response: Parameters<RequestListener>[1]): void {
  if (response.destroyed) return;
  response.write("x".repeat(10_000), () => setImmediate(fill, response));
}
