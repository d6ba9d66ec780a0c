/** Rewinds in the store on PostgreSQL. */
import { describe } from "node:test";
import { rewindContract } from "./contract/rewind.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

describe("PostgreSQL keeps the contract of rewinds", () => rewindContract(openPostgresFixture));
