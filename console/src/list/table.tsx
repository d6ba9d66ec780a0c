/** The table of a list. Only the rows in view are in the page. */
import { Button, Checkbox } from "@mantine/core";
import { IconArrowUp, IconCopy } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Value } from "../parts/value.tsx";
import { titleOf } from "../service/schema.ts";
import type { Resource } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { type Choice, type Column, columnsInView, isNumber, moveColumn, widthOf } from "./columns.ts";
import { Headings } from "./headings.tsx";
import { useTableKeys } from "./keys.ts";
import type { SortKey } from "./list-query.ts";
import type { Pages } from "./pages.ts";

/** The height of a row, in pixels, as the style sheet has it. */
const rowHeight = 36;
const checkboxWidth = 44;

interface TableProps {
  columns: readonly Column[];
  choice: Choice;
  pages: Pages;
  sort: readonly SortKey[];
  selected: ReadonlySet<string>;
  open: string | undefined;
  /** What the table shows if the list is empty. */
  empty: ReactNode;
  onScroll(top: number): void;
  onChoice(choice: Choice): void;
  onSelect(selected: ReadonlySet<string>): void;
  onSort(sort: readonly SortKey[]): void;
  onOpen(id: string): void;
}

export function Table(props: TableProps) {
  const { columns, choice, pages, selected, open, onSelect, onOpen, onChoice } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const lastPicked = useRef<number>(undefined);
  const [cursor, setCursor] = useState<number>();
  const [left, setLeft] = useState(0);
  const view = columnsInView(columns, choice, left, scroll.current?.clientWidth ?? 1_600);
  const { items, hasMore, loadMore } = pages;
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  useReturn(open, scroll, (id) => {
    const at = items.findIndex((each) => String(each.id) === id);
    if (at !== -1) setCursor(at);
  });
  const visible = rows.getVirtualItems();
  const lastVisible = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && lastVisible >= items.length - 30) loadMore();
  }, [hasMore, lastVisible, items.length, loadMore]);
  const above = visible[0]?.start ?? 0;
  const below = rows.getTotalSize() - (visible.at(-1)?.end ?? 0);

  const pick = (index: number, isRange: boolean) => {
    const next = new Set(selected);
    const from = isRange && lastPicked.current !== undefined ? lastPicked.current : index;
    const isOn = !selected.has(String(items[index]?.id));
    for (let n = Math.min(from, index); n <= Math.max(from, index); n++) {
      const id = String(items[n]?.id);
      if (isOn) next.add(id);
      else next.delete(id);
    }
    lastPicked.current = index;
    onSelect(next);
  };
  // The rows keep the same functions, so that only the rows that changed are made again.
  const latest = useRef({ pick, onOpen });
  latest.current = { pick, onOpen };
  const stable = useRef({
    pick: (index: number, isRange: boolean) => latest.current.pick(index, isRange),
    open: (id: string) => latest.current.onOpen(id),
  }).current;
  useTableKeys({
    count: items.length,
    cursor,
    onCursor: (to) => {
      setCursor(to);
      rows.scrollToIndex(to);
    },
    onOpen: (at) => items[at] !== undefined && onOpen(String(items[at].id)),
    onPick: (at, isRange) => pick(at, isRange),
  });

  const isAll = items.length > 0 && items.every(({ id }) => selected.has(String(id)));
  const names = columns.map(({ name }) => name);
  const total = columns.reduce((sum, each) => sum + widthOf(each, choice), checkboxWidth);
  return (
    <div
      className={left > 0 ? "scroll moved" : "scroll"}
      ref={scroll}
      onScroll={({ currentTarget: { scrollTop, scrollLeft } }) => {
        props.onScroll(scrollTop);
        // Small steps change nothing, because columns beside the view are in the page too.
        setLeft(Math.ceil(scrollLeft / 300) * 300);
      }}
    >
      <table
        className="grid fixed"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table that takes keys
        role="grid"
        style={{ minWidth: total }}
        tabIndex={0}
        aria-multiselectable="true"
        aria-label={listTexts.rows}
        aria-rowcount={pages.total ?? -1}
        aria-activedescendant={cursor === undefined ? undefined : `row-${cursor}`}
        onFocus={({ target, currentTarget }) =>
          target === currentTarget && setCursor((before) => before ?? visible[0]?.index)
        }
      >
        <colgroup>
          <col style={{ width: checkboxWidth }} />
          {columns.map((each) => (
            <col key={each.name} style={{ width: widthOf(each, choice) }} />
          ))}
          <col />
        </colgroup>
        <thead>
          <tr>
            <th className="pin">
              <Checkbox
                size="xs"
                aria-label={texts.selectAll}
                checked={isAll}
                indeterminate={!isAll && selected.size > 0}
                onChange={() => onSelect(isAll ? new Set() : new Set(items.map(({ id }) => String(id))))}
              />
            </th>
            <Headings
              columns={columns}
              choice={choice}
              sort={props.sort}
              onSort={props.onSort}
              onMove={(name, to) => onChoice({ ...choice, names: moveColumn(names, name, to) })}
              onWidth={(name, width) =>
                onChoice({ ...choice, widths: { ...choice.widths, [name]: Math.round(width) } })
              }
            />
            <td className="rest" />
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {visible.map(({ index }) => {
            const item = items[index] as Resource;
            const id = String(item.id);
            const isSelected = selected.has(id);
            const mark = isSelected || open === id ? "chosen" : pages.fresh.has(id) ? "fresh" : "";
            return (
              <Row
                key={id}
                index={index}
                item={item}
                columns={columns}
                from={view.from}
                to={view.to}
                className={index === cursor ? `${mark} cursor` : mark}
                isSelected={isSelected}
                onPick={stable.pick}
                onOpen={stable.open}
              />
            );
          })}
          {below > 0 && <tr style={{ height: below }} />}
          {(pages.isLoading || hasMore) && <Bones columns={columns} count={pages.isLoading ? 12 : 3} />}
        </tbody>
      </table>
      {!pages.isLoading && items.length === 0 && props.empty}
      {pages.news > 0 && (
        <Button
          className="news"
          size="compact-sm"
          radius="xl"
          leftSection={<IconArrowUp size={14} />}
          onClick={() => {
            scroll.current?.scrollTo({ top: 0 });
            pages.restart();
          }}
        >
          {listTexts.news(pages.news)}
        </Button>
      )}
    </div>
  );
}

/** After the panel has closed, the focus goes back to the row that was open. */
function useReturn(
  open: string | undefined,
  scroll: RefObject<HTMLElement | null>,
  onReturn: (id: string) => void,
): void {
  const before = useRef(open);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another open resource matters
  useEffect(() => {
    const last = before.current;
    before.current = open;
    if (last === undefined || open !== undefined) return;
    onReturn(last);
    const focused = document.activeElement;
    if (focused === null || focused === document.body)
      scroll.current?.querySelector("table")?.focus({ preventScroll: true });
  }, [open]);
}

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

/** Rows without values. */
function Bones({ columns, count }: { columns: readonly Column[]; count: number }) {
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
