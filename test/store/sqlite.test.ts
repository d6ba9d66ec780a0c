import { storeContract } from "./contract.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

storeContract("SQLite", openSqliteFixture);
storeContract("SQLite without group commit", () => openSqliteFixture({ groupCommit: false }));
