/** Copies a store, and kills itself soon after it has requested a number of pages from its source. */
import type { StoreAddress } from "../../src/store/open.ts";
import { pause } from "../until.ts";
import { copy } from "./run.ts";

const [from = "", to = "", pages = "", ms = ""] = process.argv.slice(2);

let left = Number(pages);
const { checksum } = await copy(JSON.parse(from) as StoreAddress, JSON.parse(to) as StoreAddress, {
  around: (source) => ({
    outline: () => source.outline(),
    count: (section) => source.count(section),
    refresh: () => source.refresh(),
    close: () => source.close(),
    items(...asked) {
      if (left-- === 0) void pause(Number(ms)).then(() => process.kill(process.pid, "SIGKILL"));
      return source.items(...asked);
    },
  }),
});
process.stdout.write(checksum);
