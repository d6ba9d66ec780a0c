/** The keys of a list: arrows, j and k move, Enter opens, x selects, / searches. */
import { useWindowEvent } from "@mantine/hooks";

interface TableKeys {
  count: number;
  cursor: number | undefined;
  onCursor(to: number): void;
  onOpen(at: number): void;
  onPick(at: number, isRange: boolean): void;
}

/** How far a key moves. */
const moves: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 15,
  PageUp: -15,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** Where the cursor goes with a key; `undefined` if the key does not move it. */
export function cursorAfter(key: string, cursor: number | undefined, count: number): number | undefined {
  const by = moves[key];
  if (by === undefined || count === 0) return undefined;
  const from = cursor ?? (by > 0 ? -1 : count);
  return Math.max(0, Math.min(count - 1, from + by));
}

/** Whether a key belongs to something else: a field, a button, a dialog, the panel. */
function isElsewhere(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, button, a, [contenteditable], [role=dialog], .panel, nav") !==
      null
  );
}

/** Listens to the keys of a table while the page shows it. */
export function useTableKeys({ cursor, count, onCursor, onOpen, onPick }: TableKeys): void {
  useWindowEvent("keydown", (event) => {
    const { key, target, shiftKey } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isElsewhere(target))
      return;
    if (document.querySelector("[role=dialog][aria-modal=true]") !== null) return;
    const to = cursorAfter(key, cursor, count);
    if (to !== undefined) onCursor(to);
    else if (key === "Enter" && cursor !== undefined) onOpen(cursor);
    else if (key.toLowerCase() === "x" && cursor !== undefined) onPick(cursor, shiftKey);
    else if (key === "/") document.querySelector<HTMLInputElement>("[data-list-search]")?.focus();
    else return;
    event.preventDefault();
  });
}
