/** The field in which the user gives the value of a filter, by the kind of the attribute. Values that exist complete it. */
import {
  Autocomplete,
  type ComboboxParsedItem,
  MultiSelect,
  Select,
  TagsInput,
  TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fromLocalTime, toLocalTime } from "../parts/formats.ts";
import { knownCollection } from "../service/collections.ts";
import { firstOnly } from "../service/queries.ts";
import { titleOf } from "../service/schema.ts";
import { collectionClient } from "../service/session.ts";
import { useSearch } from "../service/titles.ts";
import { listTexts } from "../texts.ts";
import type { Column } from "./columns.ts";
import { type Operator, takesSeveral, valuesOf } from "./list-query.ts";

interface ValueFieldProps {
  collection: string;
  column: Column;
  operator: Operator;
  value: string;
  /** Whether the field is in a dialog, which would cut a list that opens in it. In a filter, a list outside would close it. */
  isInDialog?: boolean;
  onChange(value: string): void;
}

const shared = { size: "xs", w: 220, "aria-label": listTexts.value } as const;
const fieldOf = ({ isInDialog = false }: Pick<ValueFieldProps, "isInDialog">) => ({
  ...shared,
  ...(isInDialog && { label: listTexts.value }),
  comboboxProps: { withinPortal: isInDialog },
});

export function ValueField(props: ValueFieldProps) {
  const { column, operator, value, onChange } = props;
  const field = fieldOf(props);
  const isList = takesSeveral(operator);
  const list = {
    value: valuesOf({ operator, value }),
    onChange: (next: string[]) => onChange(next.join(",")),
  };
  const one = { value: value || null, onChange: (next: string | null) => onChange(next ?? "") };
  const { comboboxProps: _, ...plain } = field;
  if (operator === "any")
    return (
      <TextInput
        {...plain}
        w={320}
        data-autofocus
        placeholder={listTexts.itemsExample}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (operator === "exists" || column.kind === "boolean")
    return <Select {...field} {...one} data={["true", "false"]} allowDeselect={false} />;
  if (column.kind === "choice" && column.choices !== undefined) {
    const data = [...column.choices];
    return isList ? (
      <MultiSelect {...field} {...list} data={data} />
    ) : (
      <Select {...field} {...one} data={data} />
    );
  }
  if (column.kind === "reference") return <ReferenceField {...props} isList={isList} />;
  if (isList) return <TagsInput {...field} {...list} placeholder={listTexts.severalValues} />;
  switch (column.kind) {
    case "time":
      return (
        <TextInput
          {...plain}
          data-autofocus
          type="datetime-local"
          step={1}
          value={toLocalTime(value).slice(0, 19)}
          onChange={(event) => onChange(fromLocalTime(event.currentTarget.value))}
        />
      );
    case "date":
    case "number":
    case "integer":
    case "exact":
      return (
        <TextInput
          {...plain}
          data-autofocus
          {...(column.kind === "date" ? { type: "date" } : { inputMode: "decimal" })}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    default:
      return <TextField {...props} />;
  }
}

function TextField(props: ValueFieldProps) {
  const { collection, column, operator, value, onChange } = props;
  const [text] = useDebouncedValue(value, 200);
  const isOn = ["text", "any"].includes(column.kind) && ["eq", "ne", "startsWith"].includes(operator);
  const data = useCompletion(collection, column.name, text, isOn);
  return (
    <Autocomplete
      {...fieldOf(props)}
      data-autofocus
      data={data}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
    />
  );
}

function ReferenceField({ isList, ...props }: ValueFieldProps & { isList: boolean }) {
  const { column, operator, value, onChange } = props;
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text, 200);
  const chosen = valuesOf({ operator, value }).filter((each) => each !== "");
  const { items } = useSearch(column.target ?? "", asked.trim(), column.target !== undefined);
  const found = items.map((each) => ({ value: String(each.id), label: titleOf(each) ?? String(each.id) }));
  const data = [
    ...found,
    ...chosen
      .filter((id) => !found.some((each) => each.value === id))
      .map((id) => ({ value: id, label: id })),
  ];
  const searched = {
    ...fieldOf(props),
    searchable: true,
    data,
    filter: ({ options }: { options: ComboboxParsedItem[] }) => options,
    onSearchChange: setText,
    placeholder: listTexts.findIn(column.target ?? ""),
  };
  return isList ? (
    <MultiSelect {...searched} value={chosen} onChange={(next) => onChange(next.join(","))} />
  ) : (
    <Select {...searched} value={value || null} onChange={(next) => onChange(next ?? "")} />
  );
}

/** The most resources of a collection whose values are completed: without an index, the service reads all of them. */
const mostCounted = 50_000;
const most = 10;

/** The query string that finds values which begin with a text. */
function completionQuery(name: string, text: string): string {
  const parameters = new URLSearchParams({ distinct: name, sort: "-count" });
  if (text !== "") parameters.set(`${name}:startsWith`, text);
  return `${parameters}&${firstOnly(most)}`;
}

/** The texts among the groups of `distinct`. */
function textsOf(groups: readonly Readonly<Record<string, unknown>>[], name: string): string[] {
  return groups
    .map((each) => each[name])
    .filter((each) => typeof each === "string" && each.length <= 100) as string[];
}

/** Existing values of an attribute that begin with a text. */
function useCompletion(collection: string, name: string, text: string, isOn: boolean): string[] {
  const count = knownCollection(collection)?.count;
  const { data = [] } = useQuery({
    queryKey: ["completion", collection, name, text],
    enabled: isOn && count !== undefined && count <= mostCounted,
    staleTime: 60_000,
    throwOnError: false,
    queryFn: async ({ signal }) => {
      const query = completionQuery(name, text);
      const page = await collectionClient(collection).list({ query, signal }).page();
      return textsOf(page.items as unknown as Record<string, unknown>[], name);
    },
  });
  return data;
}
