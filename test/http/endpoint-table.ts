/** The table of endpoints of a service with all capabilities. */
import { endpointsOf, loadCapabilities } from "../../src/capabilities/all.ts";
import { createEndpointTable } from "../../src/http/endpoints/endpoint-table.ts";

export const endpointTable = createEndpointTable(endpointsOf(await loadCapabilities(), {}));
