/** Editors for values that users write as text: numbers, times, JSON. */
import { ActionIcon, Button, Group, Popover, Textarea, TextInput } from "@mantine/core";
import { IconCalendar } from "@tabler/icons-react";
import { useState } from "react";
import { texts } from "../texts.ts";
import { isEqual } from "./draft.ts";
import type { EditorProps } from "./editors.tsx";
import { type ReadText, readJson } from "./json-text.ts";
import { numberProblem } from "./number-text.ts";

/** The text of a value, as the user wrote it while it means the same. */
function useText({ value, invalid, onChange, onInvalid, onRemove, field }: EditorProps, kind: TextKind) {
  const [written, setWritten] = useState("");
  const { read, format } = kind;
  const result = written === "" ? undefined : read(written);
  const isSame = result !== undefined && result.problem === undefined && isEqual(result.value, value);
  const text = invalid ?? (isSame ? written : value === undefined || value === null ? "" : format(value));
  const write = (next: string) => {
    setWritten(next);
    if (next.trim() === "" && !field.isRequired) return onRemove();
    const changed = read(next);
    if (changed.problem !== undefined) onInvalid(next);
    else onChange(changed.value);
  };
  const { problem } = invalid === undefined ? {} : read(invalid);
  return { text, write, problem: problem?.message };
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

export function NumberEditor(props: EditorProps) {
  const { text, write, problem } = useText(props, numbers);
  return (
    <TextInput
      {...props.input}
      inputMode="decimal"
      className="numeral"
      value={text}
      error={props.hasError || problem !== undefined}
      onChange={(event) => write(event.currentTarget.value)}
      description={problem}
      inputWrapperOrder={["label", "input", "description"]}
    />
  );
}

export function JsonValueEditor(props: EditorProps) {
  const { text, write, problem } = useText(props, jsonTexts);
  return (
    <Textarea
      {...props.input}
      className="mono"
      {...(text.length < 20_000 ? { autosize: true } : { rows: 14 })}
      minRows={2}
      maxRows={14}
      spellCheck={false}
      value={text}
      error={props.hasError || problem !== undefined}
      onChange={(event) => write(event.currentTarget.value)}
      description={problem}
      inputWrapperOrder={["label", "input", "description"]}
    />
  );
}

/** A time or a date, as the service has it. A picker of the browser fills it in. */
export function TimeEditor(props: EditorProps) {
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
      rightSection={
        <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus>
          <Popover.Target>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={texts.resource.pickTime(field.name)}
              onClick={() => setOpen(!isOpen)}
            >
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
                defaultValue={isDate ? text : localTime(text)}
                onChange={(event) => {
                  const picked = isDate ? event.currentTarget.value : isoTime(event.currentTarget.value);
                  if (picked !== "") onChange(picked);
                }}
              />
              <Button
                size="xs"
                variant="default"
                onClick={() => {
                  const now = new Date();
                  onChange(isDate ? localTime(now.toISOString()).slice(0, 10) : now.toISOString());
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

/** The local time of a time in UTC, as the browser's picker writes it. */
function localTime(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return "";
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

function isoTime(local: string): string {
  const time = Date.parse(local);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}
