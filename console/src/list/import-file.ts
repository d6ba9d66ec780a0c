/** The files that the user wants to import: what they are, and those that are dropped on the page. */
import type { ImportType } from "holdfast-client";
import { useEffect, useRef, useState } from "react";

interface ImportFormat {
  type: ImportType;
  delimiter?: string;
}

const byEnding: Readonly<Record<string, ImportType>> = {
  csv: "text/csv",
  tsv: "text/csv",
  ndjson: "application/x-ndjson",
  jsonl: "application/x-ndjson",
};

/** The format of a file, by its name and the beginning of its text. */
export function formatOf(name: string, beginning: string): ImportFormat {
  const text = beginning.replace(/^\uFEFF/, "").trimStart();
  const ending = name.toLowerCase().split(".").at(-1) ?? "";
  // Many files with the ending .json have one object in each line.
  const type =
    byEnding[ending] ??
    (text.startsWith("[") ? "application/json" : text.startsWith("{") ? "application/x-ndjson" : "text/csv");
  if (type !== "text/csv") return { type };
  const delimiter = delimiterOf(text);
  return delimiter === "," ? { type } : { type, delimiter };
}

/** The character that separates the names in the first row: the one that occurs most. */
function delimiterOf(text: string): string {
  const row = (text.split("\n", 1)[0] ?? "").replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t", "|"].map((each) => ({ each, count: row.split(each).length }));
  const best = counts.reduce((one, other) => (other.count > one.count ? other : one));
  return best.each === "\t" ? "tab" : best.each;
}

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
