import { describe } from "node:test";
import { driftContract, receiptsContract } from "./contract/drift.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";
describe("sqlite", () => { driftContract(openSqliteFixture); receiptsContract(openSqliteFixture); });
describe("pg", () => { driftContract(openPostgresFixture); receiptsContract(openPostgresFixture); });
