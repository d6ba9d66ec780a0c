/** Reads the id of a new resource from its Location header, for a caller who cannot read the resource. */
import { HoldfastError } from "./errors.ts";

/** The id at the end of a Location header. The service makes UUIDs and integers. */
export function idAt(location: string | undefined): string | number {
  if (location === undefined) throw new HoldfastError("The response has no body and no Location header.");
  const text = decodeURIComponent(location.slice(location.lastIndexOf("/") + 1));
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}
