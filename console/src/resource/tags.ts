/** The ETags of versions. */

/** The tag of the version itself. A response with a content coding has another tag for the same version, such as `"2-gzip"`. */
export function withoutCoding(etag: string): string {
  return etag.replace(/-(?:br|gzip|deflate|zstd)"$/, '"');
}
