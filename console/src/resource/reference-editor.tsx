/** The editors of references: they show the titles of resources, and search their collection. */
import {
  ActionIcon,
  Combobox,
  type ComboboxStore,
  InputBase,
  Loader,
  Pill,
  PillsInput,
  Tooltip,
  useCombobox,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconExternalLink, IconLink } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { NotFoundError } from "holdfast-client";
import { type KeyboardEvent, useEffect, useState } from "react";
import { shortId } from "../parts/formats.ts";
import { formatRoute } from "../route.ts";
import { useCollection } from "../service/collections.ts";
import { messageOf } from "../service/errors.ts";
import { pickerQuery, propertiesOf, titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import type { EditorProps } from "./fields.ts";

/** How many resources the picker shows. */
const maxOptions = 20;

export function ReferenceEditor({ field, value, input, hasError, onChange, onRemove }: EditorProps) {
  const target = field.target ?? "";
  const [search, setSearch] = useState<string>();
  const [words] = useDebouncedValue(search ?? "", 200);
  const box = useCombobox({
    onDropdownClose: () => {
      box.resetSelectedOption();
      setSearch(undefined);
    },
  });
  const id = typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  const current = useReferred(target, id);
  const found = useSearch(target, words.trim(), box.dropdownOpened);
  useOnlyOption(box, found.items.length, words, search ?? "");
  const asId = (text: string) => (found.isNumeric ? Number(text) : text);
  const label = current.title ?? id ?? "";
  return (
    <Combobox
      store={box}
      onOptionSubmit={(chosen) => {
        onChange(asId(chosen));
        box.closeDropdown();
      }}
    >
      <Combobox.Target>
        <InputBase
          {...input}
          error={hasError || current.isMissing}
          leftSection={<IconLink size={14} />}
          rightSectionPointerEvents="auto"
          rightSection={id !== undefined && <Open collection={target} id={id} />}
          value={search ?? label}
          title={id}
          onFocus={(event) => event.currentTarget.select()}
          onClick={() => box.openDropdown()}
          onBlur={() => box.closeDropdown()}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
            box.openDropdown();
            box.resetSelectedOption();
            if (event.currentTarget.value === "" && !field.isRequired) onRemove();
          }}
          description={current.isMissing ? texts.resource.missing(target, id ?? "") : undefined}
          inputWrapperOrder={["label", "input", "description"]}
        />
      </Combobox.Target>
      <Options target={target} found={found} chosen={id} isAll={words.trim() === ""} />
    </Combobox>
  );
}

interface OptionsProps {
  target: string;
  found: ReturnType<typeof useSearch>;
  /** The id that the attribute has. */
  chosen: string | undefined;
  /** Whether the picker asks for all resources. */
  isAll: boolean;
}

/** The resources that a picker has found. */
export function Options({ target, found, chosen, isAll }: OptionsProps) {
  return (
    <Combobox.Dropdown>
      <Combobox.Options className="options" aria-label={target}>
        {found.isBusy && <Loader size="xs" m="xs" />}
        {found.error !== null && <Combobox.Empty>{messageOf(found.error)}</Combobox.Empty>}
        {!found.isBusy && found.error === null && found.items.length === 0 && (
          <Combobox.Empty>
            {isAll && found.isEmpty ? <NoneYet target={target} /> : texts.resource.noneFound}
          </Combobox.Empty>
        )}
        {found.items.map((each) => (
          <Combobox.Option key={each.id} value={String(each.id)} active={String(each.id) === chosen}>
            <span className="option">
              <span>{titleOf(each) ?? each.id}</span>
              <span className="id">{shortId(String(each.id))}</span>
            </span>
          </Combobox.Option>
        ))}
      </Combobox.Options>
    </Combobox.Dropdown>
  );
}

/** Says that a collection is empty, and leads to its first resource. */
function NoneYet({ target }: { target: string }) {
  const canCreate = useCollection(target)?.operations.includes("create") === true;
  return (
    <>
      {texts.resource.emptyTarget(target)}{" "}
      {canCreate && (
        <a
          className="ref"
          target="_blank"
          rel="noreferrer"
          href={formatRoute({ kind: "new", collection: target, query: "" })}
          onMouseDown={(event) => event.preventDefault()} // the field would lose the focus, and close the list
        >
          {texts.resource.createOne}
        </a>
      )}
    </>
  );
}

/** Selects the only option of a picker, so that Enter chooses it, once it is what was found for the text in the field. */
function useOnlyOption(
  box: Pick<ComboboxStore, "dropdownOpened" | "selectFirstOption">,
  count: number,
  words: string,
  text: string,
): void {
  const { dropdownOpened, selectFirstOption } = box;
  const isOnly = dropdownOpened && count === 1 && words === text;
  useEffect(() => {
    if (isOnly) selectFirstOption();
  }, [isOnly, selectFirstOption]);
}

function Open({ collection, id }: { collection: string; id: string }) {
  return (
    <Tooltip label={texts.resource.open}>
      <ActionIcon
        component="a"
        aria-label={texts.resource.open}
        href={formatRoute({ kind: "resource", collection, query: "", id, tab: "fields" })}
      >
        <IconExternalLink size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

/** A reference that cannot be changed here. */
export function ReferenceLink({ collection, id }: { collection: string; id: string }) {
  const { title } = useReferred(collection, id);
  return (
    <a className="ref" href={formatRoute({ kind: "resource", collection, query: "", id, tab: "fields" })}>
      {title ?? id}
    </a>
  );
}

/** The title of a resource. Resources that the caller cannot read have none. */
export function useReferred(collection: string, id: string | undefined) {
  const { data, error, isPending } = useQuery({
    queryKey: ["referred", collection, id],
    enabled: id !== undefined && id !== "",
    staleTime: 30_000,
    queryFn: async ({ signal }) =>
      (await collectionClient(collection).get(id as string, { signal })) as Resource,
  });
  return { title: titleOf(data), isMissing: error instanceof NotFoundError, isPending };
}

/** Resources that match words: by the search of the collection, else by a title that contains them, else by their id. */
function useSearch(collection: string, words: string, isOpen: boolean) {
  const info = useCollection(collection);
  const { data, error, isFetching } = useQuery({
    queryKey: ["picker", collection, words, info?.search],
    enabled: isOpen,
    staleTime: 5_000,
    queryFn: async ({ signal }) => {
      const query = pickerQuery(words, info?.search ?? [], Object.keys(propertiesOf(info)));
      const list = collectionClient(collection).list({ query, limit: maxOptions, signal });
      return (await list.page()).items as unknown as Resource[];
    },
  });
  return {
    items: data ?? [],
    isEmpty: data?.length === 0,
    error,
    isBusy: isFetching && data === undefined,
    isNumeric: info?.id === "integer",
  };
}

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
