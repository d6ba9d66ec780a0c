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
import { titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { titleFields } from "../service/titles.ts";
import { listTexts } from "../texts.ts";
import type { Column } from "./columns.ts";
import { type Operator, valuesOf } from "./list-query.ts";

interface ValueFieldProps {
  collection: string;
  column: Column;
  operator: Operator;
  value: string;
  /** Whether the field is in a dialog, which would cut a list that opens in it. In a filter, a list outside would close it. */
  isInDialog?: boolean;
  onChange(value: string): void;
}

const shared = {
  size: "xs",
  w: 220,
  "aria-label": listTexts.value,
} as const;
const fieldOf = ({ isInDialog = false }: Pick<ValueFieldProps, "isInDialog">) => ({
  ...shared,
  ...(isInDialog && { label: listTexts.value }),
  comboboxProps: { withinPortal: isInDialog },
});
const plainShared = { size: "xs", w: 220, "aria-label": listTexts.value, "data-autofocus": true } as const;
const truths = ["true", "false"];

export function ValueField(props: ValueFieldProps) {
  const { column, operator, value, onChange } = props;
  const field = fieldOf(props);
  const plain = { ...plainShared, ...(props.isInDialog === true && { label: listTexts.value }) };
  const isList = operator === "in" || operator === "nin";
  if (operator === "exists" || column.kind === "boolean")
    return (
      <Select
        {...field}
        data={truths}
        allowDeselect={false}
        value={value}
        onChange={(next) => onChange(next ?? "true")}
      />
    );
  if (column.kind === "choice" && column.choices !== undefined)
    return isList ? (
      <MultiSelect
        {...field}
        data={[...column.choices]}
        value={valuesOf({ operator, value })}
        onChange={(next) => onChange(next.join(","))}
      />
    ) : (
      <Select
        {...field}
        data={[...column.choices]}
        value={value || null}
        onChange={(next) => onChange(next ?? "")}
      />
    );
  if (column.kind === "reference") return <ReferenceField {...props} isList={isList} />;
  if (column.kind === "time" && !isList)
    return (
      <TextInput
        {...plain}
        type="datetime-local"
        step={1}
        value={toLocalTime(value).slice(0, 19)}
        onChange={(event) => onChange(fromLocalTime(event.currentTarget.value))}
      />
    );
  if (column.kind === "date" && !isList)
    return (
      <TextInput
        {...plain}
        type="date"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (isList)
    return (
      <TagsInput
        {...field}
        placeholder={listTexts.severalValues}
        value={valuesOf({ operator, value })}
        onChange={(next) => onChange(next.join(","))}
      />
    );
  if (column.kind === "number" || column.kind === "integer")
    return (
      <TextInput
        {...plain}
        inputMode="decimal"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextField {...props} />;
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
  const found = useCandidates(column.target, asked);
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
  const parameters = new URLSearchParams({ distinct: name, sort: "-count", limit: String(most) });
  if (text !== "") parameters.set(`${name}:startsWith`, text);
  return parameters.toString();
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

/** A resource that a reference can name. */
interface Candidate {
  value: string;
  label: string;
}

/** The resources of a collection whose title contains a text. */
function useCandidates(collection: string | undefined, text: string): Candidate[] {
  const { data = [] } = useQuery({
    queryKey: ["candidates", collection, text],
    enabled: collection !== undefined,
    staleTime: 30_000,
    throwOnError: false,
    queryFn: async ({ signal }) => {
      const fields = titleFields(knownCollection(collection as string));
      const [name] = fields;
      const filter = text === "" || name === undefined ? {} : { [name]: { contains: text } };
      const list = collectionClient(collection as string).list({
        filter,
        fields,
        limit: 20,
        signal,
      } as object);
      const { items } = (await list.page()) as unknown as { items: Resource[] };
      return items.map((each) => ({ value: String(each.id), label: titleOf(each) ?? String(each.id) }));
    },
  });
  return data;
}
