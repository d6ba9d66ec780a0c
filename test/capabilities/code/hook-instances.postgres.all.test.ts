/** Several instances on one database run hooks for the same resource. */
import { test } from "node:test";
import { startFor } from "../../http/service.ts";
import { databaseFor } from "../../postgres/databases.ts";
import { counters, requireCounts } from "./counters.ts";

test("64 clients that count through before of two instances lose no count", async (t) => {
  const store = { kind: "postgres", url: await databaseFor(t) } as const;
  const module = `export default { collections: {${counters}\n} };`;
  await requireCounts([await startFor(t, { store, module }), await startFor(t, { store, module })]);
});
