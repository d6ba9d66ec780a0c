/** The table of a list. Only the rows in view are in the page. */
import { Button, Checkbox } from "@mantine/core";
import { IconArrowUp } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { Resource } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { type Choice, type Column, columnsInView, moveColumn, widthOf } from "./columns.ts";
import { Headings } from "./headings.tsx";
import { useTableKeys } from "./keys.ts";
import type { SortKey } from "./list-query.ts";
import type { Pages } from "./pages.ts";
import { Bones, Row } from "./row.tsx";

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
