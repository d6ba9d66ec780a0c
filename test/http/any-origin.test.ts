import { after, before, test } from "node:test";
import { check } from "./check.ts";
import { type Service, startService } from "./service.ts";

let service: Service;
before(async () => {
  service = await startService({ corsOrigins: ["*"] });
});
after(() => service.stop());

test("where every origin may read, an answer says so and does not vary with the origin", async () => {
  const { path } = await service.create("topics", {});
  const headers = { "Access-Control-Allow-Origin": "*", Vary: "Accept, Accept-Encoding" };
  for (const origin of ["https://a.example", "http://localhost:3000", "null"])
    check(await service.send({ path, headers: { Origin: origin } }), { status: 200, headers });
  check(await service.send({ path }), { status: 200, headers: { Vary: "Accept, Accept-Encoding" } });
});
