/** Rewinds in the store on SQLite. */
import { describe } from "node:test";
import { rewindContract } from "./contract/rewind.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

describe("SQLite keeps the contract of rewinds", () => rewindContract(openSqliteFixture));
