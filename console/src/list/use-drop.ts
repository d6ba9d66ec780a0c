/** Files that are dropped on the page. */
import { useEffect, useRef, useState } from "react";

/** Calls back with a dropped file. Returns whether one is above the page. Without `isOn`, a file that is dropped opens nothing. */
export function useDrop(isOn: boolean, onFile: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef({ isOn, onFile });
  latest.current = { isOn, onFile };
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const over = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(latest.current.isOn);
    };
    addEventListener("dragover", over, { signal });
    addEventListener("dragleave", (event) => event.relatedTarget === null && setOver(false), { signal });
    const drop = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file !== undefined && latest.current.isOn) latest.current.onFile(file);
    };
    addEventListener("drop", drop, { signal });
    return () => stop.abort();
  }, []);
  return isOver;
}
