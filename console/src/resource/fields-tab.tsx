/** The form of a resource: a line for each attribute, with its name, its editor, its menu, and what is wrong with it. */
import { Alert, Button, Select, TextInput, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconCircleOff, IconPlus, IconTrash } from "@tabler/icons-react";
import type { CollectionDetails } from "holdfast-client";
import { type FormEvent, memo, useEffect, useId, useState } from "react";
import { KindIcon } from "../parts/icons.tsx";
import { Dots, Item } from "../parts/menu.tsx";
import type { Tab } from "../route.ts";
import type { Refusal } from "../service/errors.ts";
import type { Kind } from "../service/schema.ts";
import { texts } from "../texts.ts";
import {
  type Attributes,
  type Edit,
  isEqual,
  removeValue,
  resetValue,
  setInvalid,
  setValue,
  stillWrong,
  valueAt,
} from "./edit.ts";
import { Editor } from "./editors.tsx";
import { type Field, fieldsOf, isOpen, type Rights } from "./fields.ts";
import { JsonTab } from "./json-tab.tsx";
import { LockedChanges, RefusedNotice } from "./notices.tsx";

interface FormProps {
  info: CollectionDetails | undefined;
  /** The kinds of the attributes that other resources have, for a new one. @default none are known */
  known?: ReadonlyMap<string, Kind> | undefined;
  edit: Edit;
  rights: Rights;
  isReadOnly: boolean;
  /** Whether the service will add the defaults. */
  isNew?: boolean;
  refusal: Refusal | undefined;
  onEdit(change: (edit: Edit) => Edit): void;
}

interface DraftProps extends FormProps {
  tab: Tab;
  /** The changed attributes that the caller cannot set. */
  locked: readonly string[];
}

/** What the user edits, as fields or as JSON, with what is wrong with it. */
export function Draft({ tab, locked, ...form }: DraftProps) {
  const { info, known, edit, rights, isReadOnly, isNew = false, refusal, onEdit } = form;
  const fields = tab === "fields" ? fieldsOf(info, { ...edit.base, ...edit.mine }, rights, known) : [];
  return (
    <>
      {locked.length > 0 && <LockedChanges names={locked} isNew={isNew} onEdit={onEdit} />}
      {refusal !== undefined && (
        <RefusedNotice refusal={refusal} names={new Set(fields.map(({ name }) => name))} />
      )}
      {tab === "fields" ? <Fields {...form} /> : <JsonTab {...{ edit, isReadOnly, onEdit }} />}
    </>
  );
}

/** What the service refused of a draft, and is still wrong with it. */
export function useRefusal(edit: Edit | undefined) {
  const [refused, refuse] = useState<{ refusal: Refusal; mine: Attributes }>();
  const refusal = refused && edit && stillWrong(refused.refusal, refused.mine, edit.mine);
  return { refusal, refuse };
}

/** How many fields are shown first, and how many more at a time. */
const step = 100;

function Fields({ info, known, edit, rights, isReadOnly, isNew = false, refusal, onEdit }: FormProps) {
  const [shown, setShown] = useState(step);
  const [added, setAdded] = useState<string>();
  // The user goes on with the value of the attribute that they have added.
  useEffect(() => {
    if (added === undefined) return;
    const field = document.querySelector(`.field[data-name="${CSS.escape(added)}"]`);
    field?.querySelector<HTMLElement>("input, textarea")?.focus();
  }, [added]);
  const removed = Object.fromEntries(
    Object.entries(edit.base).filter(([name]) => !Object.hasOwn(edit.mine, name)),
  );
  const all = fieldsOf(info, { ...edit.mine, ...removed }, rights, known);
  const fields = all.slice(0, shown);
  if (edit.json !== undefined)
    return (
      <Alert color="yellow" title={texts.resource.brokenJson}>
        {texts.resource.brokenJsonHint}
      </Alert>
    );
  return (
    <>
      {fields.map((field) => (
        <FieldLine
          key={field.name}
          field={{
            ...field,
            isLocked: field.isLocked || isReadOnly,
            isReadOnly,
            byDefault: isNew ? field.byDefault : undefined,
          }}
          value={valueAt(edit.mine, field.name)}
          base={valueAt(edit.base, field.name)}
          invalid={edit.invalid.get(field.name)}
          problems={refusal?.byName.get(field.name) ?? []}
          isNew={isNew}
          onEdit={onEdit}
        />
      ))}
      {all.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + step)}>
          {texts.resource.moreFields(all.length - shown)}
        </Button>
      )}
      {isOpen(info) && !isReadOnly && (
        <AddAttribute
          taken={all.map(({ name }) => name)}
          onAdd={(name, value) => {
            onEdit((before) => setValue(before, name, value));
            setAdded(name);
          }}
        />
      )}
    </>
  );
}

interface FieldProps {
  field: Field;
  /** The value in the draft; `undefined` if the attribute is absent. JSON has no `undefined`. */
  value: unknown;
  /** The value in the version that the draft is based on. */
  base: unknown;
  /** A text that is no valid value. */
  invalid: string | undefined;
  problems: readonly string[];
  isNew: boolean;
  onEdit(change: (edit: Edit) => Edit): void;
}

/** A line is drawn again only if something in it changes: a resource can have very many. */
const FieldLine = memo(Line, (one, other) => isEqual(shownOf(one), shownOf(other)));

function shownOf({ onEdit: _, value, base, ...others }: FieldProps): unknown {
  return { ...others, value: value === undefined ? [] : [value], base: base === undefined ? [] : [base] };
}

function Line({ field, value, base, invalid, problems, isNew, onEdit }: FieldProps) {
  const id = useId();
  const { name } = field;
  const isChanged = invalid !== undefined || !isEqual(value, base);
  return (
    <div className={isChanged ? "field changed" : "field"} data-name={name}>
      <div className="name">
        <label htmlFor={id}>
          <Tooltip label={hint(field)} multiline maw={320} position="bottom-start">
            <span className="kind">
              <KindIcon kind={field.kind} />
            </span>
          </Tooltip>
          <span className="text" title={name}>
            {name}
          </span>
          {field.isRequired && <span aria-hidden="true">*</span>}
        </label>
        {!field.isLocked && <FieldMenu field={field} value={value} isChanged={isChanged} onEdit={onEdit} />}
      </div>
      <div>
        <Editor
          field={field}
          value={value}
          invalid={invalid}
          hasError={problems.length > 0}
          input={{ id, placeholder: placeholder(field, value, isNew), "aria-describedby": `${id}-wrong` }}
          onChange={(next) => onEdit((edit) => setValue(edit, name, next))}
          onInvalid={(text) => onEdit((edit) => setInvalid(edit, name, text))}
          onRemove={() => onEdit((edit) => removeValue(edit, name))}
        />
      </div>
      <div className="wrong" id={`${id}-wrong`} aria-live="polite">
        {problems.map((each) => (
          <div key={each}>{each}</div>
        ))}
      </div>
    </div>
  );
}

function placeholder({ isWriteOnly, byDefault }: Field, value: unknown, isNew: boolean): string {
  if (value === null) return "null";
  if (value === "") return texts.resource.emptyText;
  if (Array.isArray(value)) return texts.resource.emptyList;
  if (byDefault !== undefined) return texts.resource.byDefault(byDefault);
  if (isWriteOnly) return texts.resource.neverShown;
  return isNew ? "" : texts.absent;
}

/** What the icon says about an attribute. */
function hint({ kind, part, target, isRequired }: Field): string {
  const { description, title } = typeof part === "object" ? part : {};
  const what = target === undefined ? texts.resource.kinds[kind] : texts.resource.referenceTo(target);
  return [isRequired ? `${what}, ${texts.resource.required}` : what, title, description]
    .filter((each) => each !== undefined)
    .join(". ");
}

function FieldMenu({
  field: { name, allowsNull, isRequired },
  value,
  isChanged,
  onEdit,
}: Pick<FieldProps, "field" | "value" | "onEdit"> & { isChanged: boolean }) {
  const { setNull, remove, reset, menuOf } = texts.resource;
  return (
    <Dots label={menuOf(name)} className="dots">
      <Item
        text={reset}
        Icon={IconArrowBackUp}
        isDisabled={!isChanged}
        onClick={() => onEdit((edit) => resetValue(edit, name))}
      />
      {allowsNull && (
        <Item
          text={setNull}
          Icon={IconCircleOff}
          isDisabled={value === null}
          onClick={() => onEdit((edit) => setValue(edit, name, null))}
        />
      )}
      {!isRequired && (
        <Item
          text={remove}
          Icon={IconTrash}
          isDisabled={value === undefined}
          onClick={() => onEdit((edit) => removeValue(edit, name))}
        />
      )}
    </Dots>
  );
}

/** The values that a new attribute begins with. */
const starts: Record<string, unknown> = {
  text: "",
  number: 0,
  boolean: false,
  list: [],
  object: {},
  null: null,
};

interface AddAttributeProps {
  taken: readonly string[];
  onAdd(name: string, value: unknown): void;
}

function AddAttribute({ taken, onAdd }: AddAttributeProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [kind, setKind] = useState("text");
  const isTaken = taken.includes(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name === "" || isTaken) return;
    onAdd(name, starts[kind]);
    setName("");
    setOpen(false);
  };
  if (!isOpen)
    return (
      <button type="button" className="chip dash add" onClick={() => setOpen(true)}>
        <IconPlus size={14} />
        {texts.addAttribute}
      </button>
    );
  return (
    <form className="add-form" onSubmit={submit}>
      <TextInput
        size="xs"
        data-autofocus
        autoFocus
        aria-label={texts.resource.attributeName}
        placeholder={texts.resource.attributeName}
        value={name}
        error={isTaken && texts.resource.nameTaken}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        size="xs"
        w={120}
        aria-label={texts.resource.attributeKind}
        data={Object.keys(starts).map((each) => ({
          value: each,
          label: texts.resource.kinds[each as keyof typeof texts.resource.kinds],
        }))}
        value={kind}
        onChange={(next) => next !== null && setKind(next)}
      />
      <Button type="submit" disabled={name === "" || isTaken}>
        {texts.resource.add}
      </Button>
      <Button variant="subtle" color="gray" onClick={() => setOpen(false)}>
        {texts.cancel}
      </Button>
    </form>
  );
}
