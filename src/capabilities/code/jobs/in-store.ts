/** What jobs do with the content of a store, for commands. */
import type { InStore } from "../../../capability.ts";
import { forgetJobs } from "./job-records.ts";

export const jobsInStore = {
  quieten: async (store, { made, at }) => {
    const count = made === "moved" ? 0 : await forgetJobs(store, at);
    return count === 0 ? [] : [{ did: "reset", count, what: "job" }];
  },
} satisfies InStore;
