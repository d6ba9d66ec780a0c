/** Many clients that write by one unique key at once. `by-unique-key.both.test.ts` has few. */
import { test } from "node:test";
import { batchesMakeOne, clientsMakeOne, clientsMeetNoConflict } from "./key-races.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({
  collections: {
    people: {
      schema: {
        properties: { email: { type: "string", maxLength: 100 }, visits: { type: "integer" } },
      },
      unique: [{ attribute: "email", ignoreCase: true }],
    },
  },
});

test("200 clients with one key make one resource, and no change is lost", () => clientsMakeOne(service, 200));

test("200 batches with one key make one resource", () => batchesMakeOne(service, 200));

test("16 clients that create, change, rename and delete one key meet no 409 and no second resource", () =>
  clientsMeetNoConflict(service, { clients: 16, requests: 10 }));
