/** The form of a resource. */
import { Alert, Button } from "@mantine/core";
import { useEffect, useState } from "react";
import type { CollectionDetails } from "../service/collections.ts";
import { texts } from "../texts.ts";
import { AddAttribute } from "./add-attribute.tsx";
import { valueAt } from "./draft.ts";
import { type Edit, setValue } from "./edit.ts";
import { FieldLine } from "./field.tsx";
import { fieldsOf, isOpen, type Rights } from "./fields.ts";
import type { Refusal } from "./violations.ts";

interface FieldsTabProps {
  info: CollectionDetails | undefined;
  edit: Edit;
  rights: Rights;
  isReadOnly: boolean;
  /** Whether the service will add the defaults. */
  isNew?: boolean;
  refusal: Refusal | undefined;
  onEdit(change: (edit: Edit) => Edit): void;
}

/** How many fields are shown first, and how many more at a time. */
const step = 100;

export function FieldsTab({
  info,
  edit,
  rights,
  isReadOnly,
  isNew = false,
  refusal,
  onEdit,
}: FieldsTabProps) {
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
  const all = fieldsOf(info, { ...edit.mine, ...removed }, rights);
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
        <Button variant="default" size="xs" onClick={() => setShown(shown + step)}>
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
