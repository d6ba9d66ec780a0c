/** The ETags of versions. */
import { etagOf } from "holdfast-client";

/** The tag of the version itself. A response with a content coding has another tag for the same version, such as `"2-gzip"`. */
export function withoutCoding(etag: string): string {
  return etag.replace(/-(?:br|gzip|deflate|zstd)"$/, '"');
}

/** The ETag of a resource, equal for all responses with the same version; empty if it is not known. */
export function tagOf(resource: object): string {
  return withoutCoding(etagOf(resource) ?? "");
}

/** The number of a version, from its ETag. */
export function versionOf(etag: string): number | undefined {
  const [, digits] = /^(?:W\/)?"(\d+)/.exec(etag) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
