/** The store on PostgreSQL under random clients, apart from the rest of its contract since it takes long. */
import { describe } from "node:test";
import { interleavingContract } from "./contract/interleavings.ts";
import { killContract } from "./contract/kills.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

describe("PostgreSQL", () => {
  interleavingContract(openPostgresFixture);
  killContract(openPostgresFixture);
});
describe("PostgreSQL with one statement a request", () =>
  interleavingContract(() => openPostgresFixture({ groupCommit: false })));
