import { test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ corsOrigins: ["*"] });

test("where every origin may read, an answer says so and does not vary with the origin", async () => {
  const { path } = await service.create("topics", {});
  const headers = { "Access-Control-Allow-Origin": "*", Vary: "Accept, Accept-Encoding" };
  for (const origin of ["https://a.example", "http://localhost:3000", "null"])
    check(await service.send({ path, headers: { Origin: origin } }), { status: 200, headers });
  check(await service.send({ path }), { status: 200, headers: { Vary: "Accept, Accept-Encoding" } });
});
