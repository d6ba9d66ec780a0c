/** Some examples of the contract on PostgreSQL. `npm run test:all` runs the whole contract: `postgres`. */
import { sliceContract } from "./contract.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

sliceContract("PostgreSQL", openPostgresFixture);
