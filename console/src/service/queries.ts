/** What the page has read from the service. It is forgotten when the caller changes. */
import { MutationCache, QueryClient } from "@tanstack/react-query";
import { forgetCollections } from "./collections.ts";
import { stopFollowing } from "./live.ts";
import { forgetRecent } from "./recent.ts";
import { notice, onLeave } from "./session.ts";

export const queries = new QueryClient({
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    queries: {
      // The client repeats what is worth repeating.
      retry: false,
      staleTime: 5_000,
      throwOnError: (error) => {
        notice(error);
        return false;
      },
    },
  },
});

onLeave(() => {
  queries.clear();
  forgetCollections();
  forgetRecent();
  stopFollowing();
});
