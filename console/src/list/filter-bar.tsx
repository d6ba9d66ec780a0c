/** What a list shows of its collection: the search, the filters as chips, and their forms. */
import { Button, JsonInput, Popover, Select, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconBraces, IconFilter, IconSearch, IconX } from "@tabler/icons-react";
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { formatInstant } from "../parts/formats.ts";
import { useTitle } from "../service/titles.ts";
import { listTexts, texts } from "../texts.ts";
import type { Column } from "./columns.ts";
import {
  type Condition,
  firstValue,
  itemsText,
  type ListQuery,
  type Operator,
  operatorsOf,
  parameterOf,
  valuesOf,
} from "./list-query.ts";
import { ValueField } from "./value-field.tsx";

interface FilterBarProps {
  collection: string;
  columns: readonly Column[];
  query: ListQuery;
  /** What the service says is wrong, by the names of parameters. */
  wrong: ReadonlyMap<string, string>;
  onChange(query: ListQuery): void;
}

export function FilterBar({ collection, columns, query, wrong, onChange }: FilterBarProps) {
  const { conditions, filter } = query;
  const add = useRef<HTMLButtonElement>(null);
  const replace = (at: number, ...next: Condition[]) =>
    onChange({ ...query, conditions: conditions.toSpliced(at, 1, ...next) });
  return (
    <>
      {conditions.map((condition, n) => (
        <Chip
          // biome-ignore lint/suspicious/noArrayIndexKey: the same filter can occur twice
          key={n}
          name={condition.parameter ?? condition.name}
          wrong={wrong.get(parameterOf(condition))}
          onRemove={() => {
            add.current?.focus();
            replace(n);
          }}
          editor={(close) => (
            <ConditionForm
              {...{ collection, columns, condition }}
              onDone={(next) => {
                close();
                replace(n, next);
              }}
            />
          )}
        >
          <b>{condition.parameter ?? condition.name}</b>
          <em>{texts.operators[condition.operator]}</em>
          <i>
            <Values condition={condition} column={columns.find(({ name }) => name === condition.name)} />
          </i>
        </Chip>
      ))}
      {filter !== "" && (
        <Chip
          name="filter"
          wrong={wrong.get("filter")}
          onRemove={() => {
            add.current?.focus();
            onChange({ ...query, filter: "" });
          }}
          editor={(close) => (
            <JsonForm
              filter={filter}
              onDone={(next) => {
                close();
                onChange({ ...query, filter: next });
              }}
            />
          )}
        >
          <b>{listTexts.jsonFilter}</b>
          <i className="id">&nbsp;{filter.slice(0, 60)}</i>
        </Chip>
      )}
      <WithEditor
        className="chip dash"
        button={add}
        editor={(close) => (
          <ConditionForm
            {...{ collection, columns }}
            onJson={() => {
              close();
              onChange({ ...query, filter: query.filter || "{}" });
            }}
            onDone={(next) => {
              close();
              onChange({ ...query, conditions: [...conditions, next] });
            }}
          />
        )}
      >
        <IconFilter size={14} />
        {texts.addFilter}
      </WithEditor>
      {(conditions.length > 1 || (conditions.length > 0 && filter !== "")) && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          onClick={() => {
            add.current?.focus();
            onChange({ ...query, conditions: [], filter: "" });
          }}
        >
          {texts.clearFilters}
        </Button>
      )}
    </>
  );
}

function Values({ condition, column }: { condition: Condition; column: Column | undefined }) {
  const values = valuesOf(condition);
  const target = column?.target;
  if (condition.operator === "any") return itemsText(condition.value) || "“”";
  if (column?.kind === "time") return values.map(formatInstant).join(", ") || "“”";
  if (target === undefined || condition.operator === "exists") return values.join(", ") || "“”";
  return values.map((id, n) => (
    <span key={id}>
      {n > 0 && ", "}
      <Title collection={target} id={id} />
    </span>
  ));
}

function Title({ collection, id }: { collection: string; id: string }) {
  return <span title={id}>{useTitle(collection, id) ?? id}</span>;
}

type Editor = (close: () => void) => ReactNode;

interface ChipProps {
  name: string;
  wrong: string | undefined;
  editor: Editor;
  onRemove(): void;
  children: ReactNode;
}

function Chip({ name, wrong, editor, onRemove, children }: ChipProps) {
  return (
    <span className={wrong === undefined ? "chip" : "chip wrong"} title={wrong}>
      <WithEditor className="inner" editor={editor} isWrong={wrong !== undefined}>
        {children}
      </WithEditor>
      <button type="button" aria-label={listTexts.removeFilter(name)} onClick={onRemove}>
        <IconX size={13} />
      </button>
    </span>
  );
}

interface WithEditorProps {
  className: string;
  editor: Editor;
  isWrong?: boolean;
  button?: RefObject<HTMLButtonElement | null>;
  children: ReactNode;
}

/** A button that opens an editor below it. */
function WithEditor({ className, editor, isWrong = false, children, ...given }: WithEditorProps) {
  const [isOpen, setOpen] = useState(false);
  const own = useRef<HTMLButtonElement>(null);
  const button = given.button ?? own;
  const close = () => setOpen(false);
  return (
    <Popover
      shadow="md"
      trapFocus
      opened={isOpen}
      onChange={setOpen}
      position="bottom-start"
      returnFocus
      middlewares={{ flip: { crossAxis: false }, shift: within() }}
      closeOnEscape={false} // it would take the key from a list that is open in the editor
    >
      <Popover.Target>
        <button
          ref={button}
          type="button"
          className={className}
          aria-invalid={isWrong}
          onClick={() => setOpen(!isOpen)}
        >
          {children}
        </button>
      </Popover.Target>
      <Popover.Dropdown
        className="filter-editor"
        onKeyDownCapture={({ key, currentTarget }) => {
          if (key !== "Escape" || hasOpenList(currentTarget)) return;
          close();
          button.current?.focus();
        }}
      >
        {editor(close)}
      </Popover.Dropdown>
    </Popover>
  );
}

/** Keeps an editor beside the sidebar. */
function within() {
  const boundary = document.querySelector("main");
  return { padding: 12, ...(boundary !== null && { boundary }) };
}

function hasOpenList(element: Element): boolean {
  return [...element.querySelectorAll('[role="listbox"]')].some((each) => each.getClientRects().length > 0);
}

interface ConditionFormProps {
  collection: string;
  columns: readonly Column[];
  condition?: Condition;
  onDone(condition: Condition): void;
  onJson?(): void;
}

/** Edits one condition. */
function ConditionForm({ collection, columns, condition, onDone, onJson }: ConditionFormProps) {
  const [name, setName] = useState(condition?.name ?? columns[1]?.name ?? "id");
  const column: Column = columns.find((each) => each.name === name) ?? { name, kind: "any" };
  const usual = operatorsOf[column.kind][0] ?? "eq";
  const [operator, setOperator] = useState<Operator>(condition?.operator ?? usual);
  const [value, setValue] = useState(condition?.value ?? firstValue(usual, column.kind));
  const choose = (next: string | null) => {
    if (next === null) return;
    const kind = columns.find((each) => each.name === next)?.kind ?? "any";
    setName(next);
    setOperator(operatorsOf[kind][0] ?? "eq");
    setValue(firstValue(operatorsOf[kind][0] ?? "eq", kind));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDone({ name, operator, value });
  };
  const possible = operatorsOf[column.kind];
  const combobox = { comboboxProps: { withinPortal: false }, allowDeselect: false } as const;
  return (
    <form className="filter-form" onSubmit={submit}>
      <Select
        {...combobox}
        size="xs"
        w={160}
        searchable
        data={[...new Set([...columns.map((each) => each.name), name])]}
        value={name}
        onChange={choose}
        aria-label={listTexts.attribute}
      />
      <Select
        {...combobox}
        size="xs"
        w={120}
        comboboxProps={{ ...combobox.comboboxProps, width: 210, position: "bottom-start" }}
        maxDropdownHeight={500}
        data={(possible.includes(operator) ? possible : [...possible, operator]).map((each) => ({
          value: each,
          label: texts.operators[each],
        }))}
        value={operator}
        onChange={(next) => {
          const to = next as Operator;
          if (formOf(to) !== formOf(operator)) setValue(firstValue(to, column.kind));
          setOperator(to);
        }}
        aria-label={listTexts.operator}
      />
      <ValueField
        key={`${name} ${formOf(operator)}`}
        {...{ collection, column, operator, value }}
        onChange={setValue}
      />
      <Button type="submit">{listTexts.apply}</Button>
      {onJson !== undefined && (
        <Button variant="subtle" color="gray" leftSection={<IconBraces size={14} />} onClick={onJson}>
          {listTexts.asJson}
        </Button>
      )}
    </form>
  );
}

/** Operators of one form take the same values. */
function formOf(operator: Operator): Operator | "value" {
  return operator === "exists" || operator === "any" ? operator : "value";
}

/** Edits a filter as JSON. */
function JsonForm({ filter, onDone }: { filter: string; onDone(filter: string): void }) {
  const [text, setText] = useState(filter);
  return (
    <form
      className="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(text.trim());
      }}
    >
      <JsonInput
        size="xs"
        w={420}
        maw="80vw"
        autosize
        minRows={4}
        maxRows={14}
        label={listTexts.jsonFilter}
        description={listTexts.jsonFilterHint}
        value={text}
        onChange={setText}
        data-autofocus
      />
      <Button type="submit">{listTexts.apply}</Button>
    </form>
  );
}

/** The wait after a key, in milliseconds. */
const settleMs = 200;

interface SearchFieldProps {
  names: readonly string[];
  search: string;
  wrong: string | undefined;
  onChange(search: string): void;
}

/** Whether the collection has no search. A search in the address is shown, with what is wrong with it. */
function isSearchOff(names: readonly string[], search: string): boolean {
  return names.length === 0 && search === "";
}

/** Says that the collection has no search, where it takes no place from what works. */
export function SearchOff({ names, search }: Pick<SearchFieldProps, "names" | "search">) {
  if (!isSearchOff(names, search)) return null;
  return (
    <Tooltip label={texts.noSearch} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the reason is shown at the focus */}
      <span className="soft search-off" tabIndex={0}>
        {listTexts.searchOff}
      </span>
    </Tooltip>
  );
}

export function SearchField({ names, search, wrong, onChange }: SearchFieldProps) {
  const [text, setText] = useState(search);
  const settle = useDebouncedCallback((value: string) => onChange(value.trim()), settleMs);
  useEffect(() => setText((before) => (before.trim() === search ? before : search)), [search]);
  if (isSearchOff(names, search)) return null;
  return (
    <Tooltip label={wrong} disabled={wrong === undefined} multiline maw={320}>
      <TextInput
        size="xs"
        w={240}
        className="search"
        type="search"
        data-list-search
        error={wrong !== undefined}
        placeholder={texts.searchIn(names)}
        aria-label={texts.searchIn(names)}
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
          settle(value);
        }}
      />
    </Tooltip>
  );
}
