/** The errors of the database and of its connection become errors of the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { failureOf } from "../../src/store/postgres/connection/failures.ts";
import { declaration } from "../store/contract/fixture.ts";
import { openDatabase, query } from "./databases.ts";

test("an error of the system is one of the connection, also where its code looks like one of the database", () => {
  for (const code of ["EPIPE", "ECONNRESET", "EBADF", "ETIMEDOUT"])
    assert.equal(failureOf(Object.assign(new Error(code), { code, errno: -1, syscall: "write" })), "lost");
  for (const [code, failure] of [
    ["40001", "conflict"],
    ["42P07", "conflict"],
    ["42710", "conflict"],
    ["53100", "full"],
    ["57P01", "lost"],
    ["HV00R", "other"],
  ])
    assert.equal(failureOf(Object.assign(new Error("?"), { code })), failure);
});

test("an error of a cluster that lost the connection to one of its nodes is one of the connection", () => {
  for (const message of [
    "server closed the connection unexpectedly",
    "SSL SYSCALL error: EOF detected",
    "could not receive data from server: Connection reset by peer",
  ])
    assert.equal(failureOf(Object.assign(new Error(message), { code: "XX000" })), "lost");
  assert.equal(failureOf(Object.assign(new Error("cache lookup failed"), { code: "XX000" })), "other");
});

const cut = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

test("who wants an integer id, or shows an API key, hears nothing of a connection that was cut before", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const store = await openStore({ kind: "postgres", url });
  t.after(async () => {
    await store.close();
    releaseLater();
  });
  await store.migrate([declaration("orders", { idKind: "integer" })]);
  for (let round = 0; round < 10; round++) {
    let isCut = false;
    const cutting = query(url, cut).then(() => {
      isCut = true;
    });
    for (let after = 0; after < 5; after += isCut ? 1 : 0) {
      assert.ok(await store.reserveIds("orders", 1));
      assert.equal(await store.keys.find("hf_none"), undefined);
    }
    await cutting;
  }
});
