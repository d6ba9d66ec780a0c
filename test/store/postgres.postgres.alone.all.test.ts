import { storeContract } from "./contract.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

storeContract("PostgreSQL", openPostgresFixture);

const given = process.env.HOLDFAST_TEST_POSTGRES;
if (given !== undefined)
  storeContract("The given PostgreSQL", (options) => openPostgresFixture(options, given));
