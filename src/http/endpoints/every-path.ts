/** The endpoints that are no rows of the table: every path has them. */
import { absence } from "../documents/root-page.ts";
import type { EndpointRow } from "../operations/result.ts";
import type { EndpointPath } from "../service.ts";

/** Responds where nothing exists for the caller. A browser gets a page outside the prefix. */
export const absentEndpoint: EndpointRow<string | undefined> = {
  who: "public",
  ignoresHeaders: true,
  parse(_, { route }) {
    if (route.kind === "nothing") return route.outside;
    return route.kind === "own" && route.endpoint.isOutside ? route.endpoint.template : undefined;
  },
  handle: (service, { parsed, request }) => absence(service, parsed, request),
};

/** Responds to OPTIONS with the methods of the path and the media types of their requests. */
export const optionsEndpoint: EndpointRow<EndpointPath | undefined> = {
  who: "public",
  ignoresHeaders: true,
  parse: (_, { route }) => ("endpoint" in route ? route.endpoint : undefined),
  handle: (_, { parsed }) => ({ kind: "options", path: parsed }),
};
