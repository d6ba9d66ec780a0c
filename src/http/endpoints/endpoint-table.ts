/** The table of all endpoints. Each group has the order of the document. Capabilities add theirs. */
import type { Endpoint } from "../endpoint/endpoint.ts";
import { EndpointTable, type OwnCollection } from "../endpoint/router.ts";
import { accessCheckEndpoint } from "./access-check.ts";
import { bulkEndpoint } from "./bulk-changes.ts";
import { importEndpoint } from "./bulk-imports.ts";
import { byKeyEndpoints } from "./by-unique-key.ts";
import { collectionDetailsEndpoint, collectionsEndpoint } from "./collection-details.ts";
import { listEndpoints, nestedEndpoints } from "./collection-lists.ts";
import { configurationEndpoint } from "./configuration.ts";
import { deletedEndpoint, queryDeletedEndpoint, restoreDeletedEndpoint } from "./deleted-resources.ts";
import { documentEndpoints } from "./documents.ts";
import { absentEndpoint, optionsEndpoint } from "./every-path.ts";
import { collectionFeedEndpoint, feedEndpoint } from "./feeds.ts";
import { firstKeyEndpoint } from "./first-key.ts";
import { keyEndpoints } from "./keys.ts";
import { resourceEndpoints } from "./one-resource.ts";
import { changesEndpoint, restoreEndpoint } from "./resource-history.ts";
import { batchEndpoint, rewindEndpoint } from "./several-collections.ts";
import { taskEndpoints } from "./tasks.ts";

/** What capabilities add to the table. */
export interface AddedEndpoints {
  own: readonly Endpoint[];
  ownCollections: readonly OwnCollection[];
}

/** The table of a service with these capabilities. */
export function createEndpointTable(added: AddedEndpoints): EndpointTable {
  return new EndpointTable({
    own: [
      batchEndpoint,
      rewindEndpoint,
      ...taskEndpoints,
      collectionDetailsEndpoint,
      accessCheckEndpoint,
      configurationEndpoint,
      ...keyEndpoints,
      ...added.own,
      feedEndpoint,
      collectionsEndpoint,
      ...documentEndpoints,
      firstKeyEndpoint,
    ],
    inCollections: [
      ...listEndpoints,
      collectionFeedEndpoint,
      bulkEndpoint,
      deletedEndpoint,
      queryDeletedEndpoint,
      restoreDeletedEndpoint,
      ...resourceEndpoints,
      importEndpoint,
      changesEndpoint,
      restoreEndpoint,
    ],
    byKey: byKeyEndpoints,
    nested: nestedEndpoints,
    ownCollections: added.ownCollections,
    absence: absentEndpoint,
    options: optionsEndpoint,
  });
}
