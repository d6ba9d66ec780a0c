/** Creates the first resource of a collection, and with it the collection. Only an open service has this. */
import { ActionIcon, Button, Textarea, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { NotFoundError } from "holdfast-client";
import { type FormEvent, useId, useState } from "react";
import { shellWord } from "../list/api-texts.ts";
import { Copied } from "../parts/copied.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { readJsonObject } from "../resource/json-text.ts";
import { go } from "../route.ts";
import { useConfiguration, useIsAdministrator } from "../service/administrator.ts";
import { collectionsKey } from "../service/collections.ts";
import { messageOf } from "../service/errors.ts";
import { queries, useAction } from "../service/queries.ts";
import { baseUrl, collectionClient } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";

/** Opens the form in a dialog. Appears only if the caller can create collections. */
export function NewCollectionButton({ isSmall = false }: { isSmall?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const isAdministrator = useIsAdministrator() === true;
  const { data } = useConfiguration({ enabled: isAdministrator });
  const isOpenService = data?.options.some(({ name, value }) => name === "openCollections" && value === true);
  if (!isAdministrator || isOpenService !== true) return null;
  const open = () => setOpen(true);
  return (
    <>
      {isSmall ? (
        <ActionIcon
          size="xs"
          aria-label={listTexts.newCollection}
          title={listTexts.newCollection}
          onClick={open}
        >
          <IconPlus size={14} />
        </ActionIcon>
      ) : (
        <Button variant="default" leftSection={<IconPlus size={14} />} onClick={open}>
          {listTexts.newCollection}
        </Button>
      )}
      {isOpen && <NewCollectionDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function NewCollectionDialog({ onClose }: { onClose(): void }) {
  const first = useFirstResource("", onClose);
  return (
    <Dialog
      width={640}
      title={listTexts.newCollection}
      about={listTexts.firstHint}
      onClose={onClose}
      closing={texts.cancel}
      actions={<CreateButton {...first} />}
    >
      <div className="dialog-form">
        <form className="dialog-fields" id={first.id} onSubmit={first.submit}>
          <FirstFields {...first} />
        </form>
        <Curl {...first} />
      </div>
    </Dialog>
  );
}

/** The same form on the page itself. */
export function NewCollectionForm({ title }: { title: string }) {
  const first = useFirstResource(exampleName);
  return (
    <>
      <form className="card" id={first.id} onSubmit={first.submit}>
        <b>{title}</b>
        <FirstFields {...first} />
        <span>
          <CreateButton {...first} />
        </span>
      </form>
      <Curl {...first} />
    </>
  );
}

/** The name in the command, until the user has chosen one. */
const exampleName = "topics";

/** The names that the service accepts for a collection. */
const collectionName = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/** What the user writes, and what is wrong with it. */
function useFirstResource(start: string, onCreated?: () => void) {
  const id = useId();
  const [name, setName] = useState(start);
  const [text, setText] = useState('{"title":"Hello"}');
  const { mutate, isPending, error } = useAction({
    mutationFn: () => collectionClient(name).create(JSON.parse(text) as never),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: collectionsKey });
      onCreated?.();
      go({ kind: "list", collection: name, query: "" });
    },
  });
  const isUnknown = error instanceof NotFoundError;
  const isWrongName = name !== "" && !collectionName.test(name);
  const { problem } = readJsonObject(text);
  const wrongText = problem && texts.resource.lineProblem(problem.line, problem.message);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return {
    id,
    name,
    text,
    submit,
    isPending,
    canCreate: name !== "" && !isWrongName && problem === undefined,
    wrongName: isWrongName ? listTexts.badCollectionName : isUnknown && listTexts.noSuchCollection,
    wrongText: wrongText ?? (error !== null && !isUnknown && messageOf(error)),
    setName,
    setText,
  };
}

type FirstResource = ReturnType<typeof useFirstResource>;

function FirstFields({ name, text, wrongName, wrongText, setName, setText }: FirstResource) {
  return (
    <>
      <TextInput
        size="sm"
        label={listTexts.collectionName}
        value={name}
        required
        data-autofocus
        error={wrongName}
        onChange={(event) => setName(event.currentTarget.value.trim())}
      />
      <Textarea
        size="sm"
        className="mono"
        label={listTexts.firstBody}
        autosize
        minRows={4}
        maxRows={16}
        spellCheck={false}
        value={text}
        error={wrongText}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </>
  );
}

function CreateButton({ id, isPending, canCreate }: FirstResource) {
  return (
    <Button type="submit" form={id} size="sm" loading={isPending} disabled={!canCreate}>
      {texts.create}
    </Button>
  );
}

/** The same request as a command. */
function Curl({ name, text }: FirstResource) {
  const url = `${baseUrl}/${encodeURIComponent(name || exampleName)}`;
  return (
    <>
      <p>{listTexts.orCurl}</p>
      <Copied
        text={`curl -i ${shellWord(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellWord(text)}`}
      />
    </>
  );
}
