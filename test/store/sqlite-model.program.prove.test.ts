/** The store under random clients, apart from the rest of its contract since it takes long. */
import { describe } from "node:test";
import { interleavingContract } from "./contract/interleavings.ts";
import { killContract } from "./contract/kills.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

describe("SQLite", () => {
  interleavingContract(openSqliteFixture);
  killContract(openSqliteFixture);
});
describe("SQLite without group commit", () =>
  interleavingContract(() => openSqliteFixture({ groupCommit: false })));
