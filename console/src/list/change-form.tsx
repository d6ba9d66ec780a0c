/** The change of one attribute of many resources. */
import { Button, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { messageOf } from "../parts/problem.tsx";
import { listTexts } from "../texts.ts";
import { type Action, type BulkAction, updateOf } from "./bulk.ts";
import type { Column } from "./columns.ts";
import { ValueField } from "./value-field.tsx";

/** The attributes that the service keeps. */
const kept: ReadonlySet<string> = new Set(["id", "createdAt", "updatedAt"]);

/** Which attribute, and what to do with it. */
export function ChangeForm({
  collection,
  columns,
  isChecked,
  onChange,
}: {
  collection: string;
  columns: readonly Column[];
  /** Whether the change is the one that was checked last. */
  isChecked: boolean;
  /** `undefined` if the user edits the form after a check. */
  onChange(change: BulkAction | undefined): void;
}) {
  const possible = columns.filter(({ name }) => !kept.has(name) && !name.includes("."));
  const [name, setName] = useState<string>();
  const [action, setAction] = useState<Action>("set");
  const [value, setValue] = useState("");
  const [wrong, setWrong] = useState<string>();
  const column: Column = possible.find((each) => each.name === name) ?? { name: name ?? "", kind: "any" };
  const isJson = column.kind === "list" || column.kind === "object" || column.kind === "any";
  const edit = (text: string) => {
    setValue(text);
    onChange(undefined);
  };
  const combobox = { size: "xs", allowDeselect: false } as const;
  return (
    <form
      className="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (name === undefined) return;
        try {
          setWrong(undefined);
          onChange({ update: updateOf(name, action, value, column.kind) });
        } catch (error) {
          setWrong(messageOf(error));
        }
      }}
    >
      <Select
        {...combobox}
        w={160}
        searchable
        label={listTexts.attribute}
        data={possible.map((each) => each.name)}
        openOnFocus={false}
        placeholder={listTexts.chooseAttribute}
        value={name ?? null}
        onChange={(next) => {
          setName(next ?? undefined);
          edit("");
        }}
      />
      <Select
        {...combobox}
        w={170}
        label={listTexts.change}
        data={[
          { value: "set", label: listTexts.setTo },
          { value: "null", label: listTexts.setNull },
          { value: "unset", label: listTexts.unset },
        ]}
        value={action}
        onChange={(next) => {
          setAction(next as Action);
          onChange(undefined);
        }}
      />
      {name !== undefined &&
        action === "set" &&
        (isJson ? (
          <TextInput
            size="xs"
            w={220}
            label={listTexts.value}
            placeholder="JSON"
            error={wrong}
            value={value}
            onChange={(event) => edit(event.currentTarget.value)}
          />
        ) : (
          <ValueField
            key={name}
            collection={collection}
            column={column}
            operator="eq"
            isInDialog
            value={value}
            onChange={edit}
          />
        ))}
      <Button
        size="xs"
        type="submit"
        variant={isChecked ? "default" : "filled"}
        disabled={name === undefined}
      >
        {listTexts.check}
      </Button>
      {wrong !== undefined && !isJson && (
        <span className="figures" role="alert">
          <span className="bad">{wrong}</span>
        </span>
      )}
    </form>
  );
}
