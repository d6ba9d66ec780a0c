/** The editors of references: they show the titles of resources, and search their collection. */
import {
  ActionIcon,
  Combobox,
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
import { titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { useSearch } from "../service/titles.ts";
import { texts } from "../texts.ts";
import type { EditorProps } from "./fields.ts";

/** What the user types in a picker, and what it finds. The only option is selected, so that Enter chooses it. */
function usePicker(target: string, leftOut: readonly Id[] = []) {
  /** `undefined` until the user types. */
  const [text, setText] = useState<string>();
  const [words] = useDebouncedValue(text ?? "", 200);
  const box = useCombobox({
    onDropdownClose: () => {
      box.resetSelectedOption();
      setText(undefined);
    },
  });
  const found = useSearch(target, words.trim(), box.dropdownOpened);
  const items = found.items.filter(({ id }) => !leftOut.includes(id));
  const { dropdownOpened, selectFirstOption } = box;
  const isOnly = dropdownOpened && items.length === 1 && words === (text ?? "");
  useEffect(() => {
    if (isOnly) selectFirstOption();
  }, [isOnly, selectFirstOption]);
  const type = (next: string) => {
    setText(next);
    box.openDropdown();
    box.resetSelectedOption();
  };
  const clear = () => setText("");
  return {
    box,
    text,
    type,
    clear,
    ...found,
    items,
    isEmpty: words.trim() === "" && found.items.length === 0,
  };
}

type Id = string | number;

export function ReferenceEditor({ field, value, input, hasError, onChange, onRemove }: EditorProps) {
  const target = field.target ?? "";
  const picker = usePicker(target);
  const { box, text } = picker;
  const id = typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  const { title = id ?? "", isMissing } = useReferred(target, id);
  return (
    <Combobox
      store={box}
      onOptionSubmit={(chosen) => {
        onChange(picker.asId(chosen));
        box.closeDropdown();
      }}
    >
      <Combobox.Target>
        <InputBase
          {...input}
          error={hasError || isMissing}
          leftSection={<IconLink size={14} />}
          rightSectionPointerEvents="auto"
          rightSection={id !== undefined && <Open collection={target} id={id} />}
          value={text ?? title}
          title={id}
          onFocus={(event) => event.currentTarget.select()}
          onClick={() => box.openDropdown()}
          onBlur={() => box.closeDropdown()}
          onChange={(event) => {
            picker.type(event.currentTarget.value);
            if (event.currentTarget.value === "" && !field.isRequired) onRemove();
          }}
          description={isMissing ? texts.resource.missing(target, id ?? "") : undefined}
          inputWrapperOrder={["label", "input", "description"]}
        />
      </Combobox.Target>
      <Options target={target} picker={picker} chosen={id} />
    </Combobox>
  );
}

interface OptionsProps {
  target: string;
  picker: ReturnType<typeof usePicker>;
  /** The id that the attribute has. */
  chosen?: string | undefined;
}

/** The resources that a picker has found. */
function Options({ target, picker: { items, isEmpty, isBusy, error }, chosen }: OptionsProps) {
  return (
    <Combobox.Dropdown>
      <Combobox.Options className="options" aria-label={target}>
        {isBusy && <Loader size="xs" m="xs" />}
        {error !== null && <Combobox.Empty>{messageOf(error)}</Combobox.Empty>}
        {!isBusy && error === null && items.length === 0 && (
          <Combobox.Empty>{isEmpty ? <NoneYet target={target} /> : texts.resource.noneFound}</Combobox.Empty>
        )}
        {items.map((each) => (
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

export function ReferencesEditor({ field, value, input, hasError, onChange }: EditorProps) {
  const target = field.target ?? "";
  const ids = Array.isArray(value) ? (value as Id[]) : [];
  const picker = usePicker(target, ids);
  const { box, text = "" } = picker;
  const { placeholder, ...own } = input;
  const without = (at: number) => onChange(ids.toSpliced(at, 1));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Backspace" || text !== "" || ids.length === 0) return;
    event.preventDefault();
    without(ids.length - 1);
  };
  return (
    <Combobox
      store={box}
      onOptionSubmit={(chosen) => {
        onChange([...ids, picker.asId(chosen)]);
        picker.clear();
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
                value={text}
                onBlur={() => box.closeDropdown()}
                onKeyDown={onKeyDown}
                onChange={(event) => picker.type(event.currentTarget.value)}
              />
            </Combobox.EventsTarget>
          </Pill.Group>
        </PillsInput>
      </Combobox.DropdownTarget>
      <Options target={target} picker={picker} />
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
