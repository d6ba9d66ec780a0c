/** Chooses the columns of a table, and their order. */
import { ActionIcon, Button, Checkbox, Popover } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconColumns3 } from "@tabler/icons-react";
import { KindIcon } from "../parts/icons.tsx";
import { listTexts, texts } from "../texts.ts";
import type { Column } from "./columns.ts";

interface ColumnMenuProps {
  all: readonly Column[];
  shown: readonly Column[];
  onChange(names: readonly string[] | undefined): void;
}

export function ColumnMenu({ all, shown, onChange }: ColumnMenuProps) {
  const names = shown.map(({ name }) => name);
  const rest = all.filter(({ name }) => !names.includes(name));
  const move = (name: string, by: number) => {
    const at = names.indexOf(name);
    const next = names.filter((each) => each !== name);
    next.splice(Math.max(0, at + by), 0, name);
    onChange(next);
  };
  return (
    <Popover position="bottom-end" shadow="md" width={280}>
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
        {shown.map(({ name, kind }, at) => (
          <div key={name} className="column">
            <Checkbox
              size="xs"
              label={
                <>
                  <KindIcon kind={kind} /> {name}
                </>
              }
              checked
              disabled={shown.length === 1}
              onChange={() => onChange(names.filter((each) => each !== name))}
            />
            <span className="grow" />
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={listTexts.moveUp(name)}
              disabled={at === 0}
              onClick={() => move(name, -1)}
            >
              <IconArrowUp size={13} />
            </ActionIcon>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={listTexts.moveDown(name)}
              disabled={at === shown.length - 1}
              onClick={() => move(name, 1)}
            >
              <IconArrowDown size={13} />
            </ActionIcon>
          </div>
        ))}
        {rest.map(({ name, kind }) => (
          <div key={name} className="column">
            <Checkbox
              size="xs"
              label={
                <>
                  <KindIcon kind={kind} /> {name}
                </>
              }
              checked={false}
              onChange={() => onChange([...names, name])}
            />
          </div>
        ))}
        <Button mt="xs" size="compact-xs" variant="subtle" color="gray" onClick={() => onChange(undefined)}>
          {listTexts.resetColumns}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
