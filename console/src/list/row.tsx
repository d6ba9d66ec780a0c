/** One row of a table, and the rows that are shown while a list is read. */
import { Checkbox } from "@mantine/core";
import { IconCopy } from "@tabler/icons-react";
import { memo } from "react";
import { Value } from "../parts/value.tsx";
import type { Resource } from "../service/session.ts";
import { titleOf } from "../service/titles.ts";
import { texts } from "../texts.ts";
import type { Column } from "./columns.ts";

interface RowProps {
  index: number;
  item: Resource;
  columns: readonly Column[];
  /** The columns in view. */
  from: number;
  to: number;
  className: string;
  isSelected: boolean;
  onPick(index: number, isRange: boolean): void;
  onOpen(id: string): void;
}

export const Row = memo(
  ({ index, item, columns, from, to, className, isSelected, onPick, onOpen }: RowProps) => {
    const id = String(item.id);
    return (
      <tr
        id={`row-${index}`}
        className={className}
        aria-selected={isSelected}
        aria-rowindex={index + 2}
        onClick={() => onOpen(id)}
      >
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the table do the same */}
        <td className="pin" onClick={(event) => event.stopPropagation()}>
          <Checkbox
            size="xs"
            tabIndex={-1}
            aria-label={texts.select(titleOf(item) ?? id)}
            checked={isSelected}
            onChange={() => {}}
            onClick={(event) => onPick(index, event.shiftKey)}
          />
        </td>
        {columns.map((column, n) => {
          if (n > 0 && (n < from || n >= to)) {
            // One empty cell takes the place of all columns on a side.
            if (n === 1) return <td key="left" colSpan={from - 1} />;
            return n === to ? <td key="right" colSpan={columns.length - to} /> : null;
          }
          return (
            <td key={column.name} className={classOf(column, n, item)}>
              <Value
                value={item[column.name]}
                kind={column.kind}
                target={column.target}
                choices={column.choices}
              />
              {column.kind === "id" && (
                <button
                  type="button"
                  className="copy-id"
                  tabIndex={-1}
                  title={texts.copyId}
                  aria-label={texts.copyId}
                  onClick={(event) => {
                    event.stopPropagation();
                    void navigator.clipboard?.writeText(id);
                  }}
                >
                  <IconCopy size={13} />
                </button>
              )}
            </td>
          );
        })}
        <td className="rest" />
      </tr>
    );
  },
);
Row.displayName = "Row";

function classOf({ name, kind }: Column, n: number, item: Resource): string | undefined {
  const classes = [
    ...(n === 0 ? ["pin", "two"] : []),
    ...(isNumber(kind) ? ["num"] : []),
    ...(kind === "time" || kind === "date" ? ["quiet"] : []),
    ...(typeof item[name] === "string" && item[name] === titleOf(item) ? ["strong"] : []),
  ];
  return classes.length === 0 ? undefined : classes.join(" ");
}

/** Whether the values of a column stand on its right. */
export function isNumber(kind: Column["kind"]): boolean {
  return kind === "number" || kind === "integer";
}

/** Rows without values. */
export function Bones({ columns, count }: { columns: readonly Column[]; count: number }) {
  return Array.from({ length: count }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
    <tr key={`bone-${row}`}>
      <td className="pin" />
      {columns.map(({ name }, n) => (
        <td key={name}>
          <span className="bone" style={{ width: `${35 + ((row * 7 + n * 13) % 45)}%` }} />
        </td>
      ))}
      <td className="rest" />
    </tr>
  ));
}
