import { groupsContract, storeContract } from "./contract.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

storeContract("SQLite", openSqliteFixture);
groupsContract("SQLite without group commit", (options) =>
  openSqliteFixture({ groupCommit: false, ...options }),
);
