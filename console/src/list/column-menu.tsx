/** Chooses the columns of a table, their order, and the sorts that a click on a heading does not have. */
import { ActionIcon, Button, Checkbox, Popover } from "@mantine/core";
import {
  IconArrowDown,
  IconArrowUp,
  IconColumns3,
  IconSortAscendingLetters,
  IconSortAscendingNumbers,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { KindIcon } from "../parts/icons.tsx";
import { listTexts, texts } from "../texts.ts";
import type { Column } from "./columns.ts";
import { canBeNatural, type SortKey, toggleNatural } from "./list-query.ts";

interface ColumnMenuProps {
  all: readonly Column[];
  shown: readonly Column[];
  sort: readonly SortKey[];
  onSort(sort: readonly SortKey[]): void;
  onChange(names: readonly string[] | undefined): void;
}

export function ColumnMenu({ all, shown, sort, onSort, onChange }: ColumnMenuProps) {
  const names = shown.map(({ name }) => name);
  const rest = all.filter(({ name }) => !names.includes(name));
  const move = (name: string, by: number) => {
    const at = names.indexOf(name);
    const next = names.filter((each) => each !== name);
    next.splice(Math.max(0, at + by), 0, name);
    onChange(next);
  };
  return (
    <Popover shadow="md" trapFocus position="bottom-end" width={280} returnFocus>
      <Popover.Target>
        <Button
          className="short columns-button"
          aria-label={texts.columns}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconColumns3 size={15} />}
        >
          {texts.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="columns">
        {[...shown, ...rest].map((column, at) => {
          const { name, kind } = column;
          return (
            <div key={name} className="column">
              <Checkbox
                size="xs"
                label={
                  <>
                    <KindIcon kind={kind} /> {name}
                  </>
                }
                checked={at < shown.length}
                disabled={at < shown.length && shown.length === 1}
                onChange={() =>
                  onChange(at < shown.length ? names.filter((each) => each !== name) : [...names, name])
                }
              />
              {at < shown.length && (
                <>
                  <span className="grow" />
                  <SortButton {...{ column, sort, onSort }} />
                  <Move label={listTexts.moveUp(name)} isAtEnd={at === 0} onMove={() => move(name, -1)}>
                    <IconArrowUp size={13} />
                  </Move>
                  <Move
                    label={listTexts.moveDown(name)}
                    isAtEnd={at === shown.length - 1}
                    onMove={() => move(name, 1)}
                  >
                    <IconArrowDown size={13} />
                  </Move>
                </>
              )}
            </div>
          );
        })}
        <Button mt="xs" size="compact-xs" variant="subtle" color="gray" onClick={() => onChange(undefined)}>
          {listTexts.resetColumns}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}

interface SortButtonProps {
  column: Column;
  sort: readonly SortKey[];
  onSort(sort: readonly SortKey[]): void;
}

/** Sorts a text in natural order, and a reference by the title that its cells show. */
function SortButton({ column: { name, kind, titlePath }, sort, onSort }: SortButtonProps) {
  const isText = (kind === "text" || kind === "long") && canBeNatural(name);
  if (!isText && titlePath === undefined) return null;
  const key = sort.find((each) => each.name === (titlePath ?? name));
  const isOn = titlePath === undefined ? key?.isNatural === true : key !== undefined;
  const label = titlePath === undefined ? listTexts.sortNatural(name) : listTexts.sortBy(titlePath);
  const Icon = titlePath === undefined ? IconSortAscendingNumbers : IconSortAscendingLetters;
  const press = () => {
    if (titlePath === undefined) onSort(toggleNatural(sort, name));
    else onSort(isOn ? sort.filter((each) => each !== key) : [{ name: titlePath, isDescending: false }]);
  };
  return (
    <ActionIcon
      size="sm"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      {...(isOn && { variant: "light", color: "holdfast" })}
      onClick={press}
    >
      <Icon size={15} />
    </ActionIcon>
  );
}

interface MoveProps {
  label: string;
  isAtEnd: boolean;
  onMove(): void;
  children: ReactNode;
}

/** Moves a column. At the end it does nothing, and it keeps the focus. */
function Move({ label, isAtEnd, onMove, children }: MoveProps) {
  return (
    <ActionIcon
      size="sm"
      aria-label={label}
      {...(isAtEnd && { "data-disabled": true, "aria-disabled": true })}
      onClick={() => !isAtEnd && onMove()}
    >
      {children}
    </ActionIcon>
  );
}
