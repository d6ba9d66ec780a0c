/** The columns of a CSV file: asks what their cells are, and shows what the check found in them. */
import { MultiSelect, Select, TextInput } from "@mantine/core";
import type { ImportColumn, ImportConversion } from "holdfast-client";
import { listTexts } from "../texts.ts";

/** How the cells of a file are read. */
export interface CellReading {
  types: "text" | "infer";
  convert: readonly ImportConversion[];
  /** The time zone of times without an offset. It can be empty. */
  timezone: string;
}

export const asTexts: CellReading = { types: "text", convert: [], timezone: "" };

/** The options of an import for cells. Those that change nothing are left out. */
export function cellOptions({ types, convert, timezone }: CellReading) {
  return {
    ...(types !== "text" && { types }),
    ...(convert.length > 0 && { convert }),
    ...(timezone !== "" && convert.includes("times") && { timezone }),
  };
}

interface CellFieldsProps {
  value: CellReading;
  onChange(part: Partial<CellReading>): void;
}

export function CellFields({ value, onChange }: CellFieldsProps) {
  return (
    <>
      <Select
        size="xs"
        w={270}
        label={listTexts.cellTypes}
        data={listTexts.cellTypesFor}
        value={value.types}
        onChange={(next) => onChange({ types: next === "infer" ? next : "text" })}
        allowDeselect={false}
      />
      <MultiSelect
        size="xs"
        miw={240}
        label={listTexts.convert}
        placeholder={value.convert.length === 0 ? listTexts.convertNothing : ""}
        data={listTexts.conversions}
        value={[...value.convert]}
        onChange={(next) => onChange({ convert: next as ImportConversion[] })}
      />
      {value.convert.includes("times") && (
        <TextInput
          size="xs"
          w={200}
          label={listTexts.timezone}
          placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
          value={value.timezone}
          onChange={({ currentTarget }) => onChange({ timezone: currentTarget.value.trim() })}
        />
      )}
    </>
  );
}

/** The most columns that are shown. */
const maxShown = 200;

export function ColumnsFound({ columns }: { columns: readonly ImportColumn[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls
    <section className="found-columns" tabIndex={0} aria-label={listTexts.foundColumns}>
      {columns.slice(0, maxShown).map((column) => (
        <div key={column.name}>
          <b>{column.name}</b>
          <span>{listTexts.storedAs(column.types)}</span>
          <span className="soft">{notesOf(column).join(". ")}</span>
        </div>
      ))}
      {columns.length > maxShown && (
        <div className="soft">{listTexts.moreColumns(columns.length - maxShown)}</div>
      )}
    </section>
  );
}

/** What is to be said about a column: what it could be, what prevents that, and what was converted. */
function notesOf({ types, inferred, found, prevents, converted = 0, cut = 0 }: ImportColumn): string[] {
  const notes: string[] = [];
  if (inferred !== undefined && inferred !== types[0]) notes.push(listTexts.couldBe(inferred));
  const isMixed = found !== undefined && found.number + found.boolean + found.date > 0;
  if (prevents !== undefined && (isMixed || prevents.detail !== undefined))
    notes.push(listTexts.prevents(prevents));
  if (converted > 0) notes.push(listTexts.converted(converted, cut));
  return notes;
}
