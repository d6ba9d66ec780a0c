/** How the picker of a reference searches. */
import { titleNames } from "./fields.ts";

/**
 * The query string that finds resources by words: by the search of the collection, else by a title that contains them, else by their
 * id. An id is always found by itself.
 */
export function pickerQuery(words: string, search: readonly string[], names: readonly string[]): string {
  if (words === "") return "";
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(words)) return new URLSearchParams({ id: words }).toString();
  if (search.length > 0) return new URLSearchParams({ q: words }).toString();
  const title = titleNames.find((each) => names.includes(each));
  return new URLSearchParams(
    title === undefined ? { id: words } : { [`${title}:contains`]: words },
  ).toString();
}
