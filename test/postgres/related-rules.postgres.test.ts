/** Two instances that write at the same time, under a rule that looks at what the other one writes. */
import { test } from "node:test";
import { type Service, type ServiceOptions, startFor } from "../http/service.ts";
import { requireNoSkew, type Send, switches } from "../http/write-skew.ts";
import { openDatabase } from "./databases.ts";

/** `HOLDFAST_TEST_ROUNDS` tries more. */
const pairs = Number(process.env.HOLDFAST_TEST_ROUNDS ?? 40);

const sendBy =
  (service: Service): Send =>
  (method, path, content) =>
    service.send({ method, path, ...(content && { content }) });

test("no two writes are allowed that exclude each other, by two instances", async (t) => {
  const database = await openDatabase();
  const store = { kind: "postgres", url: database.url } as const;
  const options: ServiceOptions = { auth: { keys: true, jwt: undefined }, collections: switches, store };
  const [one, other] = [await startFor(t, options), await startFor(t, options)];
  database.releaseLater();
  await requireNoSkew([sendBy(one), sendBy(other)], pairs);
});
