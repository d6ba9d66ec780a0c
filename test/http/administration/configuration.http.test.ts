/** The path `_configuration`, and who can use it. `test/config/shown-options` checks what it contains. */
import { test } from "node:test";
import { auth, sendWith } from "../access/callers.ts";
import { check } from "../check.ts";
import { startFor, startServiceForFile } from "../service.ts";
import { refusesWithoutTlsAndTooOften } from "./refusals.ts";

const path = "/api/v1/_configuration";
const ops = { sub: "olga", roles: ["ops"] };
const administrators = [{ role: "ops" }];

const service = await startServiceForFile({ auth: { ...auth, administrators }, collections: {} });

test("administrators read the configuration", async () => {
  const options = [
    { name: "port", value: 0, source: "default" },
    { name: "openCollections", value: false, source: "default" },
  ];
  const json = { file: null, options };
  const headers = { "Cache-Control": "no-store" };
  check(await sendWith(service, ops, { path }), { status: 200, json, headers });
  check(await sendWith(service, ops, { method: "HEAD", path }), { status: 200, headers });
});

test("for other callers, the path does not exist", async (t) => {
  for (const method of ["GET", "POST", "DELETE"]) {
    check(await service.send({ method, path }), { status: 404 });
    check(await sendWith(service, { sub: "ada", roles: ["admin"] }, { method, path }), { status: 404 });
    check(await sendWith(service, { ...ops, scope: "a:read" }, { method, path }), { status: 404 });
  }
  const without = await startFor(t, { auth, collections: {} });
  check(await sendWith(without, ops, { path }), { status: 404 });
});

test("requests that do not fit are refused", async (t) => {
  check(await sendWith(service, ops, { path: `${path}?a=1` }), { status: 400, problem: "INVALID_PARAMETER" });
  check(await sendWith(service, ops, { path, headers: { Accept: "image/png" } }), { status: 406 });
  check(await service.send({ path, headers: { Authorization: "Bearer x" } }), { status: 401 });
  check(await sendWith(service, ops, { method: "POST", path, content: {} }), {
    status: 405,
    headers: { Allow: "GET, HEAD, OPTIONS" },
  });
  await refusesWithoutTlsAndTooOften(t, { path });
});
