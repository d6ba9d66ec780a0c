/** The editor of a list of references: shows the titles of the resources, and searches their collection. */
import { Combobox, Pill, PillsInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type KeyboardEvent, useState } from "react";
import type { EditorProps } from "./editors.tsx";
import { Options, useOnlyOption, useReferred, useSearch } from "./reference-editor.tsx";

type Id = string | number;

export function ReferencesEditor({ field, value, input, hasError, onChange }: EditorProps) {
  const target = field.target ?? "";
  const [search, setSearch] = useState("");
  const [words] = useDebouncedValue(search, 200);
  const box = useCombobox({
    onDropdownClose: () => {
      box.resetSelectedOption();
      setSearch("");
    },
  });
  const found = useSearch(target, words.trim(), box.dropdownOpened);
  const ids = Array.isArray(value) ? (value as Id[]) : [];
  const items = found.items.filter(({ id }) => !ids.includes(id));
  useOnlyOption(box, items.length, words, search);
  const { placeholder, ...own } = input;
  const without = (at: number) => onChange(ids.toSpliced(at, 1));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Backspace" || search !== "" || ids.length === 0) return;
    event.preventDefault();
    without(ids.length - 1);
  };
  return (
    <Combobox
      store={box}
      onOptionSubmit={(chosen) => {
        onChange([...ids, found.isNumeric ? Number(chosen) : chosen]);
        setSearch("");
      }}
    >
      <Combobox.DropdownTarget>
        <PillsInput id={own.id} error={hasError} onClick={() => box.openDropdown()}>
          <Pill.Group>
            {ids.map((id, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same id can occur twice
              <Reference key={`${id} ${n}`} collection={target} id={id} onRemove={() => without(n)} />
            ))}
            <Combobox.EventsTarget>
              <PillsInput.Field
                {...own}
                placeholder={ids.length === 0 ? placeholder : undefined}
                value={search}
                onBlur={() => box.closeDropdown()}
                onKeyDown={onKeyDown}
                onChange={(event) => {
                  setSearch(event.currentTarget.value);
                  box.openDropdown();
                  box.resetSelectedOption();
                }}
              />
            </Combobox.EventsTarget>
          </Pill.Group>
        </PillsInput>
      </Combobox.DropdownTarget>
      <Options target={target} found={{ ...found, items }} chosen={undefined} isAll={words.trim() === ""} />
    </Combobox>
  );
}

interface ReferenceProps {
  collection: string;
  id: Id;
  onRemove(): void;
}

function Reference({ collection, id, onRemove }: ReferenceProps) {
  const { title, isMissing } = useReferred(collection, String(id));
  return (
    <Pill
      withRemoveButton
      onRemove={onRemove}
      title={String(id)}
      className={isMissing ? "missing" : undefined}
    >
      {title ?? id}
    </Pill>
  );
}
