/** The table of endpoints. The paths of collections are not in it yet. */
import { EndpointTable } from "../endpoint/endpoint.ts";
import { accessCheckEndpoint } from "./access-check.ts";
import { collectionDetailsEndpoint } from "./collection-details.ts";
import { configurationEndpoint } from "./configuration.ts";
import { keyEndpoints } from "./keys.ts";
import { webhookEndpoints } from "./webhooks.ts";

/** All endpoints, in the order of the document. */
export const endpointTable = new EndpointTable([
  collectionDetailsEndpoint,
  accessCheckEndpoint,
  configurationEndpoint,
  ...keyEndpoints,
  ...webhookEndpoints,
]);
