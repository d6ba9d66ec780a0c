/** The filters of a list, as chips. */
import { Button, Popover } from "@mantine/core";
import { IconFilter, IconX } from "@tabler/icons-react";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { formatInstant } from "../parts/time.ts";
import { useTitle } from "../service/titles.ts";
import { listTexts, texts } from "../texts.ts";
import type { Column } from "./columns.ts";
import { ConditionForm, JsonForm } from "./filter-forms.tsx";
import { type Condition, type ListQuery, parameterOf, valuesOf } from "./list-query.ts";

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
      opened={isOpen}
      onChange={setOpen}
      position="bottom-start"
      shadow="md"
      trapFocus
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
