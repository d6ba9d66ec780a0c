/** The headings of a table: they sort, and they move and become wider by mouse and by keyboard. */
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { KindIcon } from "../parts/icons.tsx";
import { listTexts } from "../texts.ts";
import { type Choice, type Column, isNumber, narrowest, widthOf } from "./columns.ts";
import { nextSort, type SortKey } from "./list-query.ts";

interface HeadingsProps {
  columns: readonly Column[];
  choice: Choice;
  sort: readonly SortKey[];
  onSort(sort: readonly SortKey[]): void;
  onMove(name: string, to: number): void;
  onWidth(name: string, width: number): void;
}

/** How much a column grows with one key, in pixels. */
const step = 20;

export function Headings({ columns, choice, sort, onSort, onMove, onWidth }: HeadingsProps) {
  const [dragged, setDragged] = useState<string>();
  const [over, setOver] = useState<number>();
  return columns.map((column, n) => {
    const { name, kind, titlePath } = column;
    const at = sort.findIndex((each) => each.name === name || each.name === titlePath);
    const key = sort[at];
    const width = widthOf(column, choice);
    const onKeyDown = (event: KeyboardEvent) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (by === 0 || !event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.shiftKey) onWidth(name, width + by * step);
      else onMove(name, n + by);
    };
    return (
      <th
        key={name}
        className={[
          ...(n === 0 ? ["pin two"] : []),
          ...(isNumber(kind) ? ["num"] : []),
          ...(over === n && dragged !== undefined && dragged !== name ? ["over"] : []),
        ].join(" ")}
        aria-sort={key === undefined ? "none" : key.isDescending ? "descending" : "ascending"}
        draggable
        onDragStart={(event) => {
          event.dataTransfer.setData("text/plain", name);
          event.dataTransfer.effectAllowed = "move";
          setDragged(name);
        }}
        onDragOver={(event) => {
          if (dragged === undefined) return;
          event.preventDefault();
          setOver(n);
        }}
        onDragEnd={() => setDragged(undefined)}
        onDrop={(event) => {
          if (dragged === undefined) return;
          event.preventDefault();
          onMove(dragged, n);
          setDragged(undefined);
        }}
      >
        <button
          type="button"
          title={listTexts.headingHint(name)}
          onClick={(event) => onSort(nextSort(sort, key?.name ?? name, event.shiftKey))}
          onKeyDown={onKeyDown}
        >
          <KindIcon kind={kind} />
          <span className="name">{name}</span>
          {key?.isDescending === false && <IconArrowUp size={13} aria-hidden="true" />}
          {key?.isDescending === true && <IconArrowDown size={13} aria-hidden="true" />}
          {key?.isNatural === true && <span className="order">{listTexts.natural}</span>}
          {key !== undefined && key.name !== name && (
            <span className="order">{key.name.slice(key.name.indexOf("."))}</span>
          )}
          {key !== undefined && sort.length > 1 && <span className="order">{at + 1}</span>}
        </button>
        <Handle width={width} onWidth={(next) => onWidth(name, next)} />
      </th>
    );
  });
}

function Handle({ width, onWidth }: { width: number; onWidth(width: number): void }) {
  const onPointerDown = (event: PointerEvent<HTMLSpanElement>) => {
    event.preventDefault();
    event.stopPropagation();
    const { clientX: from, currentTarget: handle } = event;
    handle.setPointerCapture(event.pointerId);
    const move = (to: globalThis.PointerEvent) => onWidth(Math.max(narrowest, width + to.clientX - from));
    handle.addEventListener("pointermove", move);
    const end = () => handle.removeEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", end, { once: true });
  };
  return (
    <span
      className="resize"
      aria-hidden="true"
      draggable
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={onPointerDown}
    />
  );
}
