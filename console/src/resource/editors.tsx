/** The editor of one attribute, by its kind. */
import {
  ActionIcon,
  Button,
  Group,
  Popover,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import { IconCalendar, IconLock } from "@tabler/icons-react";
import { type ChangeEvent, useState } from "react";
import { completeTime, fromLocalTime, toLocalTime } from "../parts/formats.ts";
import { FullValue, Time } from "../parts/value.tsx";
import { texts } from "../texts.ts";
import { isEqual } from "./edit.ts";
import type { EditorProps, Field } from "./fields.ts";
import { numberProblem, type ReadText, readJson } from "./json-text.ts";
import { ReferenceEditor, ReferenceLink, ReferencesEditor } from "./reference-editor.tsx";

/** The longest text that an editor of the form takes. The JSON tab takes any. */
const maxText = 100_000;

export function Editor(props: EditorProps) {
  const { field, value } = props;
  const size = sizeOf(value);
  if (field.isLocked) return <Locked field={field} value={value} id={props.input.id} />;
  if (size > maxText) return <div className="locked">{texts.resource.tooLong(size)}</div>;
  switch (fitting(field, value)) {
    case "boolean":
      return <BooleanEditor {...props} />;
    case "number":
    case "integer":
      return <NumberEditor {...props} />;
    case "exact":
      return <ExactEditor {...props} />;
    case "choice":
      return <ChoiceEditor {...props} />;
    case "time":
    case "date":
      return <TimeEditor {...props} />;
    case "reference":
      return <ReferenceEditor {...props} />;
    case "list":
      if (isReferences(field, value)) return <ReferencesEditor {...props} />;
      return isTags(field, value) ? <TagsEditor {...props} /> : <JsonValueEditor {...props} />;
    case "text":
    case "long":
      return <TextEditor {...props} />;
    default:
      return <JsonValueEditor {...props} />;
  }
}

/** How many characters a value has as text. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return typeof value === "object" && value !== null ? JSON.stringify(value).length : 0;
}

/** The kind of the editor. A value that does not fit its kind is edited as JSON. */
function fitting({ kind }: Field, value: unknown): Field["kind"] {
  if (value === undefined || value === null) return kind;
  const type = typeof value;
  const fits: Partial<Record<Field["kind"], boolean>> = {
    boolean: type === "boolean",
    number: type === "number",
    integer: type === "number",
    exact: type === "string",
    time: type === "string",
    date: type === "string",
    text: type === "string",
    long: type === "string",
    reference: type === "string" || type === "number",
    list: Array.isArray(value),
  };
  return fits[kind] === false ? "any" : kind;
}

/** The most references that a list shows as titles: each is one request. */
const maxReferences = 50;

/** Whether a list holds the ids of resources. */
function isReferences({ target }: Field, value: unknown): boolean {
  if (target === undefined) return false;
  const ids = Array.isArray(value) ? value : [];
  return (
    ids.length <= maxReferences && ids.every((each) => typeof each === "string" || typeof each === "number")
  );
}

/** Whether a list is shown as short texts. */
function isTags({ part }: Field, value: unknown): boolean {
  if (Array.isArray(value) && value.length > 0)
    return value.length <= 100 && value.every((each) => typeof each === "string" && each.length <= 80);
  const items = typeof part === "object" ? part.items : undefined;
  return typeof items === "object" && items.type === "string";
}

/** A value that the caller cannot set. */
function Locked({ field, value, id }: { field: Field; value: unknown; id: string }) {
  return (
    <div className="locked" id={id} title={field.isReadOnly === true ? undefined : texts.resource.locked}>
      {field.isReadOnly !== true && <IconLock size={13} aria-label={texts.resource.locked} />}
      {value === undefined && field.byDefault !== undefined ? (
        texts.resource.byDefault(field.byDefault)
      ) : (
        <LockedValue field={field} value={value} />
      )}
    </div>
  );
}

function LockedValue({ field: { kind, name, target }, value }: { field: Field; value: unknown }) {
  if (
    kind === "reference" &&
    target !== undefined &&
    (typeof value === "string" || typeof value === "number")
  )
    return <ReferenceLink collection={target} id={String(value)} />;
  if ((name === "createdAt" || name === "updatedAt") && typeof value === "string")
    return <Time text={value} />;
  return kind === "id" ? <span className="id">{String(value)}</span> : <FullValue value={value} />;
}

/** The longest text of an attribute that is one line by its schema. */
const maxLine = 300;

/** A text area in any case, because an input of one line drops the line breaks of a pasted text. */
function TextEditor({ field, value, input, hasError, onChange }: EditorProps) {
  const text = typeof value === "string" ? value : "";
  const maxLength = typeof field.part === "object" ? field.part.maxLength : undefined;
  const isLine = maxLength !== undefined && maxLength <= maxLine;
  return (
    <Textarea
      {...input}
      value={text}
      error={hasError}
      {...(text.length < 20_000 ? { autosize: true } : { rows: 16 })}
      minRows={field.kind === "long" || text.length > 120 ? 4 : 1}
      maxRows={16}
      onKeyDown={(event) => {
        if (isLine && event.key === "Enter") event.preventDefault();
      }}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function BooleanEditor({ value, input, onChange }: EditorProps) {
  return (
    <Switch
      id={input.id}
      aria-describedby={input["aria-describedby"]}
      mt={7}
      checked={value === true}
      className={typeof value === "boolean" ? undefined : "unset"}
      label={typeof value === "boolean" ? String(value) : input.placeholder}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

function ChoiceEditor({ field, value, input, hasError, onChange, onRemove }: EditorProps) {
  const values = typeof field.part === "object" ? (field.part.enum ?? []) : [];
  const options = new Map(values.map((each) => [JSON.stringify(each), each]));
  const current = value === undefined ? null : JSON.stringify(value);
  if (current !== null && !options.has(current)) options.set(current, value);
  return (
    <Select
      {...input}
      error={hasError}
      searchable={options.size > 8}
      data={[...options].map(([key, each]) => ({ value: key, label: typeof each === "string" ? each : key }))}
      value={current}
      allowDeselect={!field.isRequired}
      onChange={(key) => (key === null ? onRemove() : onChange(options.get(key)))}
    />
  );
}

function TagsEditor({ field, value, input, hasError, onChange }: EditorProps) {
  const tags = Array.isArray(value) ? (value as string[]) : [];
  const items =
    typeof field.part === "object" && typeof field.part.items === "object" ? field.part.items : undefined;
  const options = (items?.enum ?? []).filter((each) => typeof each === "string");
  // A screen keyboard names no key, so a comma can also come with the text.
  const parts = (text: string) => (options.includes(text) ? [text] : textsIn(text));
  return (
    <TagsInput
      {...input}
      description={texts.resource.severalTexts}
      styles={{ description: { color: "var(--soft)" } }} // in a form, a description is an error
      inputWrapperOrder={["label", "input", "description"]}
      {...(tags.length > 0 && { placeholder: "" })}
      error={hasError}
      data={options}
      allowDuplicates
      value={tags}
      onChange={(next) => onChange(next.flatMap((each, n) => (n < tags.length ? [each] : parts(each))))}
    />
  );
}

function textsIn(text: string): string[] {
  const all = text.split(",").map((each) => each.trim());
  return all.filter((each) => each !== "");
}

/** An input for a value as text, which stays as the user wrote it while it means the same. */
function useTextInput(props: EditorProps, { read, format }: TextKind) {
  const { value, invalid, onChange, onInvalid, onRemove, field, input, hasError } = props;
  const [written, setWritten] = useState("");
  const result = written === "" ? undefined : read(written);
  const isSame = result !== undefined && result.problem === undefined && isEqual(result.value, value);
  const { problem } = invalid === undefined ? {} : read(invalid);
  return {
    ...input,
    value: invalid ?? (isSame ? written : value === undefined || value === null ? "" : format(value)),
    error: hasError || problem !== undefined,
    description: problem?.message,
    inputWrapperOrder: ["label", "input", "description"] as ("label" | "input" | "description")[],
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      const next = currentTarget.value;
      setWritten(next);
      if (next.trim() === "" && !field.isRequired) return onRemove();
      const changed = read(next);
      if (changed.problem !== undefined) onInvalid(next);
      else onChange(changed.value);
    },
  };
}

interface TextKind {
  read(text: string): ReadText;
  format(value: unknown): string;
}

const wrong = (message: string): ReadText => ({ problem: { message, at: 0, line: 1 } });

/** A number has the text that `JSON.stringify` gives it, so nothing is rounded. */
const numbers: TextKind = {
  read(text) {
    const message = numberProblem(text.trim());
    return message === undefined ? { value: Number(text) } : wrong(message);
  },
  format: (value) => (typeof value === "number" ? JSON.stringify(value) : String(value)),
};

const jsonTexts: TextKind = {
  read: readJson,
  format: (value) => JSON.stringify(value, null, 2),
};

function NumberEditor(props: EditorProps) {
  return <TextInput {...useTextInput(props, numbers)} inputMode="decimal" className="numeral" />;
}

/** A number with all its digits, which is a text for the service. */
function ExactEditor({ value, field, input, hasError, onChange, onRemove }: EditorProps) {
  return (
    <TextInput
      {...input}
      className="numeral"
      inputMode="decimal"
      value={typeof value === "string" ? value : ""}
      error={hasError}
      onChange={(event) => {
        const next = event.currentTarget.value;
        if (next === "" && !field.isRequired) onRemove();
        else onChange(next);
      }}
    />
  );
}

function JsonValueEditor(props: EditorProps) {
  const input = useTextInput(props, jsonTexts);
  return (
    <Textarea
      {...input}
      className="mono"
      {...(input.value.length < 20_000 ? { autosize: true } : { rows: 14 })}
      minRows={2}
      maxRows={14}
      spellCheck={false}
    />
  );
}

/** A time or a date, as the service has it. A local time that was typed becomes one. A picker of the browser fills it in. */
function TimeEditor(props: EditorProps) {
  const { value, onChange, input, hasError, field } = props;
  const isDate = field.kind === "date";
  const text = typeof value === "string" ? value : "";
  const [isOpen, setOpen] = useState(false);
  return (
    <TextInput
      {...input}
      className="numeral"
      value={text}
      error={hasError}
      onChange={(event) => {
        const next = event.currentTarget.value;
        if (next === "" && !field.isRequired) props.onRemove();
        else onChange(next);
      }}
      onBlur={() => {
        const complete = isDate ? text : completeTime(text);
        if (complete !== text) onChange(complete);
      }}
      rightSection={
        <Popover shadow="md" trapFocus opened={isOpen} onChange={setOpen} position="bottom-end">
          <Popover.Target>
            <ActionIcon aria-label={texts.resource.pickTime(field.name)} onClick={() => setOpen(!isOpen)}>
              <IconCalendar size={15} />
            </ActionIcon>
          </Popover.Target>
          <Popover.Dropdown>
            <Group gap={8}>
              <input
                className="native-time"
                type={isDate ? "date" : "datetime-local"}
                aria-label={field.name}
                step={isDate ? undefined : "0.001"}
                defaultValue={isDate ? text : toLocalTime(text)}
                onChange={(event) => {
                  const picked = isDate
                    ? event.currentTarget.value
                    : fromLocalTime(event.currentTarget.value);
                  if (picked !== "") onChange(picked);
                }}
              />
              <Button
                variant="default"
                onClick={() => {
                  const now = new Date();
                  onChange(isDate ? toLocalTime(now.toISOString()).slice(0, 10) : now.toISOString());
                  setOpen(false);
                }}
              >
                {isDate ? texts.resource.today : texts.resource.now}
              </Button>
            </Group>
          </Popover.Dropdown>
        </Popover>
      }
    />
  );
}
