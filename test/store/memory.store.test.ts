/** The contract on a store in memory, as far as no test opens a store again. */
import { inMemory } from "../../src/store/address.ts";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { ceilingMs } from "../until.ts";
import { EndsWhenClosed, type Fixture } from "./contract/fixture.ts";
import { storeContract } from "./contract.ts";

async function openMemoryFixture(options: StoreOptions = {}): Promise<Fixture> {
  const store = await openStore(inMemory, { queryMs: ceilingMs, ...options });
  return {
    store,
    address: inMemory,
    reopen: () => {
      throw new EndsWhenClosed();
    },
    cleanup: () => store.close(),
  };
}

storeContract("A store in memory", openMemoryFixture, 1 / 4);
