/** The files that the user wants to import: what they are, and those that are dropped on the page. */
import { useWindowEvent } from "@mantine/hooks";
import type { ImportType } from "holdfast-client";
import { useState } from "react";
import { listTexts } from "../texts.ts";

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

const optionNames: Readonly<Record<string, string>> = {
  at: listTexts.placeOfList,
  delimiter: listTexts.delimiter,
  timezone: listTexts.timezone,
  types: listTexts.cellTypes,
};

/** A message of the service whose advice names the fields of the dialog in place of query parameters. */
export function inDialog(message: string): string {
  return message
    .replace(
      /\badd \?(at|delimiter|timezone|types)=(\S+) to the path/g,
      (_, option: string, value: string) => {
        const named = listTexts.cellTypesFor.find(
          (each) => option === "types" && each.value === value,
        )?.label;
        return `set “${optionNames[option]}” to ${named === undefined ? decodeURIComponent(value) : `“${named}”`}`;
      },
    )
    .replace(/The import option "ids" gives such resources new ids.*/, listTexts.newIdsAdvice);
}

/** Calls back with a dropped file. Returns whether one is above the page. Without `isOn`, a file that is dropped opens nothing. */
export function useDrop(isOn: boolean, onFile: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  /** Takes an event with a file from the browser, which would open the file. */
  const take = (event: DragEvent, isNowOver: boolean): boolean => {
    if (event.dataTransfer?.types.includes("Files") !== true) return false;
    event.preventDefault();
    setOver(isNowOver);
    return isOn;
  };
  useWindowEvent("dragover", (event) => take(event, isOn));
  useWindowEvent("dragleave", (event) => event.relatedTarget === null && setOver(false));
  useWindowEvent("drop", (event) => {
    const file = take(event, false) ? event.dataTransfer?.files[0] : undefined;
    if (file !== undefined) onFile(file);
  });
  return isOver;
}
