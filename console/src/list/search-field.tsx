/** Searches in the attributes that the collection declares for it. */
import { TextInput, Tooltip } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { listTexts, texts } from "../texts.ts";

/** The wait after a key, in milliseconds. */
const settleMs = 200;

interface SearchFieldProps {
  names: readonly string[];
  search: string;
  wrong: string | undefined;
  onChange(search: string): void;
}

export function SearchField({ names, search, wrong, onChange }: SearchFieldProps) {
  const [text, setText] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText((before) => (before.trim() === search ? before : search)), [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const isOff = names.length === 0 && search === "";
  return (
    <Tooltip
      label={isOff ? texts.noSearch : wrong}
      disabled={!isOff && wrong === undefined}
      multiline
      maw={320}
    >
      <TextInput
        size="xs"
        w={240}
        className="search"
        type="search"
        data-list-search
        disabled={isOff}
        error={wrong !== undefined}
        placeholder={isOff ? listTexts.searchOff : texts.searchIn(names)}
        aria-label={isOff ? listTexts.searchOff : texts.searchIn(names)}
        leftSection={<IconSearch size={14} />}
        value={text}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          if (text === "") return event.currentTarget.blur();
          setText("");
          onChange("");
        }}
        onChange={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onChange(value.trim()), settleMs);
        }}
      />
    </Tooltip>
  );
}
