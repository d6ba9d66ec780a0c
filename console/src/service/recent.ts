/** The resources that were opened last, for the palette. The tab keeps them until it is closed. */

const key = "holdfast.recent";
const most = 8;

export interface Recent {
  collection: string;
  id: string;
}

export function recentResources(): Recent[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter((each) => typeof each?.collection === "string" && typeof each.id === "string")
      : [];
  } catch {
    return [];
  }
}

/** Forgets them. */
export function forgetRecent(): void {
  sessionStorage.removeItem(key);
}

/** Puts a resource at the beginning. */
export function remember(collection: string, id: string): void {
  const others = recentResources().filter((each) => each.collection !== collection || each.id !== id);
  try {
    sessionStorage.setItem(key, JSON.stringify([{ collection, id }, ...others].slice(0, most)));
  } catch {}
}
