/** Adds an attribute that the schema does not name. */
import { Button, Select, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { texts } from "../texts.ts";

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

export function AddAttribute({ taken, onAdd }: AddAttributeProps) {
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
      <Button size="xs" type="submit" disabled={name === "" || isTaken}>
        {texts.resource.add}
      </Button>
      <Button size="xs" variant="subtle" color="gray" onClick={() => setOpen(false)}>
        {texts.resource.cancel}
      </Button>
    </form>
  );
}
