/** One line of the form: the name of an attribute, its editor, its menu, and what is wrong with it. */
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconCircleOff, IconDots, IconTrash } from "@tabler/icons-react";
import { memo, useId } from "react";
import { KindIcon } from "../parts/icons.tsx";
import { texts } from "../texts.ts";
import { isEqual } from "./draft.ts";
import { type Edit, removeValue, resetValue, setInvalid, setValue } from "./edit.ts";
import { Editor } from "./editors.tsx";
import type { Field } from "./fields.ts";

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
export const FieldLine = memo(Line, (one, other) => isEqual(shownOf(one), shownOf(other)));

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
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon size="sm" variant="subtle" color="gray" className="dots" aria-label={menuOf(name)}>
          <IconDots size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconArrowBackUp size={14} />}
          disabled={!isChanged}
          onClick={() => onEdit((edit) => resetValue(edit, name))}
        >
          {reset}
        </Menu.Item>
        {allowsNull && (
          <Menu.Item
            leftSection={<IconCircleOff size={14} />}
            disabled={value === null}
            onClick={() => onEdit((edit) => setValue(edit, name, null))}
          >
            {setNull}
          </Menu.Item>
        )}
        {!isRequired && (
          <Menu.Item
            leftSection={<IconTrash size={14} />}
            disabled={value === undefined}
            onClick={() => onEdit((edit) => removeValue(edit, name))}
          >
            {remove}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
