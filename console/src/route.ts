/**
 * Where the page is, in the fragment of its address, so that any prefix works. The part of a list has the query string of the
 * list request: `#/articles?status=draft&sort=-views` shows `GET /api/v1/articles?status=draft&sort=-views`.
 */
import { useSyncExternalStore } from "react";

/** The tabs of a resource. */
export const tabs = ["fields", "json", "history", "related", "access"] as const;
export type Tab = (typeof tabs)[number];

/** The pages beside the collections. Their paths begin with `_`, as no collection does. */
export const pages = [
  "accounts",
  "audit",
  "mail",
  "tasks",
  "webhooks",
  "code",
  "keys",
  "health",
  "configuration",
] as const;
export type PageName = (typeof pages)[number];

/** What the page shows. */
export type Route =
  | { kind: "start" }
  | { kind: "page"; name: PageName }
  | { kind: "list"; collection: string; query: string }
  | { kind: "new"; collection: string; query: string }
  | { kind: "resource"; collection: string; query: string; id: string; tab: Tab };

/** The route of a fragment. An unknown one is the start. */
function readRoute(fragment: string): Route {
  const [path = "", query = ""] = split(fragment.replace(/^#/, ""), "?");
  const [, first = "", second, third] = path.split("/").map(decode);
  if (first === "") return { kind: "start" };
  if (first.startsWith("_")) {
    const name = pages.find((each) => `_${each}` === first);
    return name === undefined ? { kind: "start" } : { kind: "page", name };
  }
  if (second === undefined || second === "") return { kind: "list", collection: first, query };
  if (second === "_new") return { kind: "new", collection: first, query };
  const tab = tabs.find((each) => each === third) ?? "fields";
  return { kind: "resource", collection: first, query, id: second, tab };
}

/** The fragment of a route. */
export function formatRoute(route: Route): string {
  switch (route.kind) {
    case "start":
      return "#/";
    case "page":
      return `#/_${route.name}`;
    default: {
      const { collection, query } = route;
      const end = query === "" ? "" : `?${query}`;
      return `#/${[collection, ...inner(route)].map(encodeURIComponent).join("/")}${end}`;
    }
  }
}

function inner(route: Exclude<Route, { kind: "start" | "page" }>): string[] {
  if (route.kind === "list") return [];
  if (route.kind === "new") return ["_new"];
  return route.tab === "fields" ? [route.id] : [route.id, route.tab];
}

/**
 * Asked before the page leaves a route, for example because of unsaved changes. Returns whether the page can leave. `leave` does it
 * later.
 */
type Guard = (next: Route, leave: () => void) => boolean;

let guard: Guard | undefined;
/** The fragment that is shown. The address can be another one for a moment, until the guard has decided. */
let shown: string | undefined;

/** Sets the guard; `undefined` removes it. */
export function setGuard(next: Guard | undefined): void {
  guard = next;
}

/** Asks the guard before `leave`. Returns whether it agrees now; otherwise it leaves later, or never. */
function mayLeave(next: Route, leave: () => void): boolean {
  const leaveLater = () => {
    guard = undefined;
    leave();
  };
  return guard === undefined || guard(next, leaveLater);
}

/** Does something that leaves the page, such as a sign-out, after the guard has agreed. */
export function leavePage(leave: () => void): void {
  if (mayLeave({ kind: "start" }, leave)) leave();
}

function setFragment(fragment: string): void {
  location.hash = fragment;
}

function follow(): void {
  const next = location.hash;
  if (next === shown) return;
  if (mayLeave(readRoute(next), () => setFragment(next))) shown = next;
  else history.pushState(null, "", shown || "#/");
}

/** The current route. */
export function useRoute(): Route {
  const fragment = useSyncExternalStore(
    (onChange) => {
      shown ??= location.hash;
      const listener = () => {
        follow();
        onChange();
      };
      addEventListener("hashchange", listener);
      document.addEventListener("click", followLink);
      return () => {
        removeEventListener("hashchange", listener);
        document.removeEventListener("click", followLink);
      };
    },
    () => shown ?? location.hash,
  );
  return readRoute(fragment);
}

/** Shows a route. `replace` leaves no step for the back button. */
export function go(route: Route, { replace = false } = {}): void {
  const fragment = formatRoute(route);
  if (fragment === location.hash) return;
  if (!replace) {
    // The guard decides before the address changes, so that the back button keeps its steps.
    if (mayLeave(route, () => setFragment(fragment))) setFragment(fragment);
    return;
  }
  history.replaceState(null, "", fragment);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Lets a link within the page go the way of `go`. */
function followLink(event: MouseEvent): void {
  const { target, button, defaultPrevented, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return;
  const link = target instanceof Element ? target.closest("a") : null;
  const to = link?.getAttribute("href");
  if (to === null || to === undefined || !to.startsWith("#") || link?.target === "_blank") return;
  event.preventDefault();
  go(readRoute(to));
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** A percent-encoded text; the text itself if its encoding is broken. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
