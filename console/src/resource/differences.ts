/** What differs between two versions of a resource, as lines that people read. */
import { diffArrays, diffWordsWithSpace } from "diff";
import { type Attributes, changedNames, valueAt } from "./edit.ts";

/** A piece of a line. */
interface Piece {
  text: string;
  /** Whether the piece is not in the line that it replaces. */
  isMarked: boolean;
}

/** One line of a difference. */
export interface DiffLine {
  kind: "add" | "remove" | "same" | "gap";
  pieces: readonly Piece[];
}

/** How one attribute differs. */
export interface AttributeDiff {
  name: string;
  /** Whether the name has a line of its own, above the lines of a long value. */
  isBlock: boolean;
  lines: readonly DiffLine[];
  /** How many lines are not shown. */
  cut: number;
}

/** The most lines of one attribute. */
const maxLines = 60;
/** The most lines of a value that are compared. Longer values are shown as replaced. */
const maxCompared = 5_000;
/** The most characters of a line. */
const maxLine = 2_000;
/** How many equal lines are shown around a change. */
const context = 1;

/** The differences of all attributes. */
export function diffAttributes(before: Attributes, after: Attributes): AttributeDiff[] {
  return changedNames(before, after).map((name) => {
    const [old, now] = [valueAt(before, name), valueAt(after, name)];
    if (Array.isArray(old) && Array.isArray(now))
      return diffLines(name, old.flatMap(jsonLines), now.flatMap(jsonLines), true);
    return diffLines(name, linesOf(old), linesOf(now), isBlock(old) || isBlock(now));
  });
}

/** A value as lines: a long text by its own lines, otherwise JSON. An absent value has none. */
function linesOf(value: unknown): string[] {
  if (value === undefined) return [];
  return typeof value === "string" && isLong(value) ? value.split("\n") : jsonLines(value);
}

function jsonLines(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split("\n");
}

function isBlock(value: unknown): boolean {
  if (typeof value === "string") return isLong(value);
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function isLong(text: string): boolean {
  return text.includes("\n") || text.length > 80;
}

function diffLines(name: string, before: string[], after: string[], isBlock: boolean): AttributeDiff {
  const lines = shorten(compare(before, after));
  return { name, isBlock, lines: lines.slice(0, maxLines), cut: Math.max(0, lines.length - maxLines) };
}

/** Equal lines at both ends are found first, so that a small change of a large value stays small. */
function compare(before: string[], after: string[]): DiffLine[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (text: string) => plain("same", text);
  return [
    // The first of them could be many, and only those beside a change are shown.
    ...before.slice(Math.max(0, start - context - 1), start).map(same),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end, before.length - end + context + 1).map(same),
  ];
}

function compareMiddle(before: string[], after: string[]): DiffLine[] {
  const parts =
    before.length + after.length > maxCompared
      ? undefined
      : diffArrays(before, after, { maxEditLength: 1_000 });
  if (parts === undefined)
    return [...before.map((text) => plain("remove", text)), ...after.map((text) => plain("add", text))];
  const lines: DiffLine[] = [];
  for (let n = 0; n < parts.length; n++) {
    const { value, added, removed } = parts[n] as (typeof parts)[number];
    const next = parts[n + 1];
    if (removed && next?.added) {
      lines.push(...replaced(value, next.value));
      n++;
    } else lines.push(...value.map((text) => plain(added ? "add" : removed ? "remove" : "same", text)));
  }
  return lines;
}

/** Lines that replace as many others are compared word by word, if most of their words are the same. */
function replaced(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length !== after.length || before.some((text) => text.length > maxLine))
    return [...before.map((text) => plain("remove", text)), ...after.map((text) => plain("add", text))];
  const pairs = before.map((text, n) => words(text, after[n] ?? ""));
  return [...pairs.map(([line]) => line), ...pairs.map(([, line]) => line)];
}

function words(before: string, after: string): [DiffLine, DiffLine] {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: 200 });
  const kept = (parts ?? []).filter((each) => !each.added && !each.removed);
  const isAlike =
    before.trim().includes(" ") &&
    kept.reduce((sum, { value }) => sum + value.trim().length, 0) * 3 > before.length;
  if (parts === undefined || !isAlike) return [plain("remove", before), plain("add", after)];
  const side = (isOther: "added" | "removed", isOwn: "added" | "removed") =>
    parts.filter((each) => !each[isOther]).map((each) => ({ text: each.value, isMarked: each[isOwn] }));
  return [
    { kind: "remove", pieces: side("added", "removed") },
    { kind: "add", pieces: side("removed", "added") },
  ];
}

function plain(kind: DiffLine["kind"], text: string): DiffLine {
  const isCut = text.length > maxLine;
  return { kind, pieces: [{ text: isCut ? `${text.slice(0, maxLine)}…` : text, isMarked: false }] };
}

/** Leaves out equal lines that are far from a change. */
function shorten(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== "same");
  const shown: DiffLine[] = [];
  lines.forEach((line, n) => {
    if (line.kind !== "same" || isNear(n)) shown.push(line);
    else if (shown.at(-1)?.kind !== "gap")
      shown.push({ kind: "gap", pieces: [{ text: "…", isMarked: false }] });
  });
  return shown;
}
