/** Who can use the path `_code`, and how it refuses wrong requests. */
import { test } from "node:test";
import { auth, sendWith } from "../../http/access/callers.ts";
import { refusesWithoutTlsAndTooOften } from "../../http/administration/refusals.ts";
import { check } from "../../http/check.ts";
import { startServiceForFile } from "../../http/service.ts";

const path = "/api/v1/_code";
const ops = { sub: "olga", roles: ["ops"] };

const service = await startServiceForFile({
  auth: { ...auth, administrators: [{ role: "ops" }] },
  collections: {},
});

test("administrators see the functions, and for other callers, the path does not exist", async () => {
  const json = { functions: [], failures: [] };
  check(await sendWith(service, ops, { path }), {
    status: 200,
    json,
    headers: { "Cache-Control": "no-store" },
  });
  for (const method of ["GET", "POST", "DELETE"]) {
    check(await service.send({ method, path }), { status: 404 });
    check(await sendWith(service, { sub: "ada", roles: ["admin"] }, { method, path }), { status: 404 });
  }
});

test("requests that do not fit are refused", async (t) => {
  check(await sendWith(service, ops, { path: `${path}?a=1` }), { status: 400, problem: "INVALID_PARAMETER" });
  check(await sendWith(service, ops, { path, headers: { Accept: "image/png" } }), { status: 406 });
  check(await service.send({ path, headers: { Authorization: "Bearer x" } }), { status: 401 });
  const headers = { Allow: "GET, HEAD, OPTIONS" };
  check(await sendWith(service, ops, { method: "POST", path, content: {} }), { status: 405, headers });
  await refusesWithoutTlsAndTooOften(t, { path });
});
