/** The table of endpoints. The paths of collections are not in it yet. */
import { EndpointTable } from "../endpoint/endpoint.ts";
import { accessCheckEndpoint } from "./access-check.ts";
import { collectionDetailsEndpoint, collectionsEndpoint } from "./collection-details.ts";
import { configurationEndpoint } from "./configuration.ts";
import { documentEndpoints } from "./documents.ts";
import { firstKeyEndpoint } from "./first-key.ts";
import { keyEndpoints } from "./keys.ts";
import { batchEndpoint, feedEndpoint, rewindEndpoint } from "./several-collections.ts";
import { webhookEndpoints } from "./webhooks.ts";

/** All endpoints, in the order of the document. */
export const endpointTable = new EndpointTable([
  batchEndpoint,
  rewindEndpoint,
  collectionDetailsEndpoint,
  accessCheckEndpoint,
  configurationEndpoint,
  ...keyEndpoints,
  ...webhookEndpoints,
  feedEndpoint,
  collectionsEndpoint,
  ...documentEndpoints,
  firstKeyEndpoint,
]);
