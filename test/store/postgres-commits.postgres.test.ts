/** The part of the contract of stores that costs little: `postgres.postgres.alone.all.test.ts` has all of it. */
import { describe } from "node:test";
import { commitContract } from "./contract/commit.ts";
import { uniqueContract } from "./contract/unique.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

describe("PostgreSQL keeps the contract of commits", { concurrency: 2 }, () => {
  commitContract(openPostgresFixture);
  uniqueContract(openPostgresFixture);
});
