/** The forms of the filter chips. */
import { Button, JsonInput, Select } from "@mantine/core";
import { IconBraces } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { listTexts, texts } from "../texts.ts";
import type { Column } from "./columns.ts";
import { firstValue, operatorsOf } from "./filter-kinds.ts";
import type { Condition, Operator } from "./list-query.ts";
import { ValueField } from "./value-field.tsx";

interface ConditionFormProps {
  collection: string;
  columns: readonly Column[];
  condition?: Condition;
  onDone(condition: Condition): void;
  onJson?(): void;
}

/** Edits one condition. */
export function ConditionForm({ collection, columns, condition, onDone, onJson }: ConditionFormProps) {
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
        maxDropdownHeight={420}
        data={(possible.includes(operator) ? possible : [...possible, operator]).map((each) => ({
          value: each,
          label: texts.operators[each],
        }))}
        value={operator}
        onChange={(next) => {
          const to = next as Operator;
          if ((to === "exists") !== (operator === "exists")) setValue(firstValue(to, column.kind));
          setOperator(to);
        }}
        aria-label={listTexts.operator}
      />
      <ValueField
        key={`${name} ${operator === "exists"}`}
        {...{ collection, column, operator, value }}
        onChange={setValue}
      />
      <Button size="xs" type="submit">
        {listTexts.apply}
      </Button>
      {onJson !== undefined && (
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          leftSection={<IconBraces size={14} />}
          onClick={onJson}
        >
          {listTexts.asJson}
        </Button>
      )}
    </form>
  );
}

/** Edits a filter as JSON. */
export function JsonForm({ filter, onDone }: { filter: string; onDone(filter: string): void }) {
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
      <Button size="xs" type="submit">
        {listTexts.apply}
      </Button>
    </form>
  );
}
