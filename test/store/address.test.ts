import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { readAddress } from "../../src/store/address.ts";

const read = (address: string) => readAddress(address, { cwd: "/home", as: "--store" });
const database = (parameters: string) => `postgres://u:secret@h/d${parameters}`;

describe("the address of a database", () => {
  for (const parameters of [
    "",
    "?sslmode=disable",
    "?sslmode=no-verify",
    "?sslmode=verify-full&sslrootcert=/etc/ca.pem&sslcert=a&sslkey=b",
    "?host=/run/postgresql&application_name=shop&options=-csearch_path%3Dshop",
  ])
    test(`is taken with ${parameters || "no parameters"}`, () => {
      assert.deepEqual(read(database(parameters)), { kind: "postgres", url: database(parameters) });
    });

  for (const asked of ["require", "verify-ca"])
    test(`is checked in full where ${asked} asks for less`, () => {
      const url = database("?sslmode=verify-full&user=a");
      assert.deepEqual(read(database(`?sslmode=${asked}&user=a`)), { kind: "postgres", url });
    });

  const wrong: [parameters: string, message: RegExp][] = [
    ["?sslmod=verify-full", /has an unknown parameter "sslmod"\. Did you mean "sslmode"\?$/],
    ["?channel_binding=x", /unknown parameter "channel_binding"\. Known parameters: sslmode, sslrootcert, /],
    ["?statement_timeout=1", /unknown parameter "statement_timeout"/],
    ["?sslmode=verifyfull", /must have one of these values for sslmode: disable, no-verify, verify-full\.$/],
    ["?sslmode=prefer", /must have one of these values for sslmode: /],
    ["?sslmode=", /must have one of these values for sslmode: /],
    ["?sslmode=verify-full&sslmode=disable", /has the parameter "sslmode" twice\.$/],
  ];
  for (const [parameters, message] of wrong)
    test(`is refused with ${parameters}, and not shown`, () => {
      assert.throws(
        () => read(database(parameters)),
        (error: Error) => {
          assert.ok(error instanceof StartError);
          assert.match(error.message, message);
          assert.match(error.message, /^--store: /);
          assert.doesNotMatch(error.message, /secret/);
          return true;
        },
      );
    });
});

test("the address of a file may leave out what kind it is", () => {
  for (const address of ["sqlite:a.db", "sqlite://a.db", "a.db"])
    assert.deepEqual(read(address), { kind: "sqlite", path: "/home/a.db" });
});
