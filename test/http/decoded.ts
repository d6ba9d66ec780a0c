/** Content without its coding, by the decoders that Node has. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** The text of content that came with this Content-Encoding; HEAD leaves the content out. Throws if it does not decode. */
export function decoded(bytes: Buffer, coding: string | undefined): string {
  if (bytes.length === 0 || coding === undefined) return bytes.toString("utf8");
  if (coding === "br") return brotliDecompressSync(bytes).toString("utf8");
  if (coding === "gzip") return gunzipSync(bytes).toString("utf8");
  throw new Error(`no decoder for ${coding}`);
}
