/** The button that opens the sidebar where it does not fit beside the page. */
import { ActionIcon } from "@mantine/core";
import { IconMenu2 } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";
import { listTexts } from "../texts.ts";

let isOpen = false;
const listeners = new Set<() => void>();

export function setDrawer(to: boolean): void {
  isOpen = to;
  for (const listener of listeners) listener();
}

export function useDrawer(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOpen,
  );
}

export function MenuButton() {
  return (
    <ActionIcon
      className="menu-button"
      variant="subtle"
      color="gray"
      aria-label={listTexts.menu}
      onClick={() => setDrawer(true)}
    >
      <IconMenu2 size={18} />
    </ActionIcon>
  );
}
