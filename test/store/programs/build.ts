/** Opens a store, declares an index and a search, and kills itself after a step in the background. The arguments name the store. */
import { openStore, type StoreAddress } from "../../../src/store/open.ts";
import type { CollectionRecord } from "../../../src/store/port/record.ts";

const [address = "", record = ""] = process.argv.slice(2);
const store = await openStore(JSON.parse(address) as StoreAddress, {
  onInfo: () => process.kill(process.pid, "SIGKILL"),
});
await store.migrate([JSON.parse(record) as CollectionRecord]);
setInterval(() => {}, 1_000); // until it is killed
