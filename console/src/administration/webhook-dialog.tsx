/** The dialogs of a webhook: its form, its secret, and its end. */
import { Chip, JsonInput, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Webhook } from "holdfast-client";
import { type ChangeEvent, useState } from "react";
import { Dialog, Question } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { useCollections } from "../service/collections.ts";
import { queries } from "../service/queries.ts";
import { client } from "../service/session.ts";
import { administrationTexts } from "../texts.ts";
import { FormDialog, SecretDialog, Waiting } from "./frame.tsx";
import { allTypes, formOf, inputOf, patchOfForm, type WebhookForm } from "./values.ts";

/** The key of the query of all webhooks, and of what belongs to one. */
export const webhooksKey = ["webhooks"];

const own = administrationTexts.webhooks;
const fields = ["url", "collections", "types", "filter", "fields", "roles", "headers", "description"];

interface WebhookDialogProps {
  /** `undefined` for a new one. */
  webhook?: Webhook;
  onClose(): void;
}

export function WebhookDialog({ webhook, onClose }: WebhookDialogProps) {
  // Lists have no ETags, so the webhook is read again: the change must fit the version that the form shows.
  const { data, error } = useQuery({
    queryKey: [...webhooksKey, webhook?.id, "form"],
    enabled: webhook !== undefined,
    gcTime: 0,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => client.$webhooks.get(webhook?.id ?? "", { signal }),
  });
  if (webhook === undefined) return <WebhookFormDialog onClose={onClose} />;
  if (data !== undefined) return <WebhookFormDialog webhook={data} onClose={onClose} />;
  return (
    <Dialog width={600} title={own.editTitle} onClose={onClose}>
      {error === null ? <Waiting /> : <Problem error={error} />}
    </Dialog>
  );
}

function WebhookFormDialog({ webhook: given, onClose }: WebhookDialogProps) {
  // The form is about the version that was read when it opened.
  const [webhook] = useState(given);
  const [form, setForm] = useState(() => formOf(webhook));
  const [made, setMade] = useState<object>();
  const isNew = webhook === undefined;
  if (made !== undefined)
    return (
      <WebhookSecret secret={"secret" in made ? (made.secret as string) : undefined} onClose={onClose} />
    );
  return (
    <FormDialog
      width={600}
      title={isNew ? own.createTitle : own.editTitle}
      about={own.about}
      fields={fields}
      action={isNew ? own.doCreate : own.doSave}
      changed={own.changed}
      textOf={({ field, line = "" }) => (field === "filter" ? own.notAnObject : own.badHeader(line))}
      run={async () => {
        if (isNew) setMade(await client.$webhooks.create(inputOf(form)));
        else await client.$webhooks.patch(webhook, patchOfForm(form) as never);
        await queries.invalidateQueries({ queryKey: webhooksKey });
      }}
      closes={!isNew}
      onClose={onClose}
    >
      {(at) => (
        <Fields
          form={form}
          at={at}
          isNew={isNew}
          onChange={(part) => setForm((before) => ({ ...before, ...part }))}
        />
      )}
    </FormDialog>
  );
}

interface FieldsProps {
  form: WebhookForm;
  at: (name: string) => string | undefined;
  isNew: boolean;
  onChange(part: Partial<WebhookForm>): void;
}

function Fields({ form, at, isNew, onChange }: FieldsProps) {
  const { data: collections = [] } = useCollections();
  const text = (name: "url" | "headers" | "description") => ({
    label: own[name],
    value: form[name],
    error: at(name),
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onChange({ [name]: event.currentTarget.value }),
  });
  const tags = (name: "collections" | "fields" | "roles") => ({
    label: own[name],
    description: own[`${name}Hint`],
    value: form[name],
    error: at(name),
    acceptValueOnBlur: true,
    onChange: (next: string[]) => onChange({ [name]: next }),
  });
  return (
    <>
      <TextInput {...text("url")} placeholder="https://example.org/hook" data-autofocus />
      <TagsInput {...tags("collections")} data={["*", ...collections.map(({ name }) => name)]} />
      <fieldset className="plain-set">
        <legend>{own.types}</legend>
        <Chip.Group multiple value={form.types} onChange={(types) => onChange({ types })}>
          {allTypes.map((type) => (
            <Chip key={type} value={type} size="xs" radius="sm">
              {type}
            </Chip>
          ))}
        </Chip.Group>
        {at("types") !== undefined && <p className="wrong">{at("types")}</p>}
      </fieldset>
      <JsonInput
        label={own.filter}
        description={own.filterHint}
        validationError={own.notAnObject}
        autosize
        minRows={2}
        maxRows={12}
        value={form.filter}
        error={at("filter")}
        onChange={(filter) => onChange({ filter })}
      />
      <details
        className="more"
        open={
          form.fields.length + form.roles.length > 0 ||
          form.description !== "" ||
          ["fields", "roles", "headers", "description"].some((name) => at(name) !== undefined)
        }
      >
        <summary>{own.more}</summary>
        <div className="more-fields">
          <TagsInput {...tags("fields")} />
          <TagsInput {...tags("roles")} />
          <Textarea
            {...text("headers")}
            description={isNew ? own.headersHint : own.headersKept}
            autosize
            minRows={2}
            maxRows={8}
            spellCheck={false}
          />
          <TextInput {...text("description")} />
        </div>
      </details>
    </>
  );
}

interface AboutWebhook {
  webhook: Webhook;
  onClose(): void;
}

/** Shows the secret of a webhook once. */
function WebhookSecret({ secret, onClose }: { secret: string | undefined; onClose(): void }) {
  return (
    <SecretDialog
      title={own.secretTitle}
      about={own.secretAbout}
      label={own.secret}
      secret={secret}
      whenLost={own.noSecret}
      onClose={onClose}
    />
  );
}

export function RotateSecretDialog({ webhook, onClose }: AboutWebhook) {
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <WebhookSecret secret={secret} onClose={onClose} />;
  return (
    <Question
      title={own.rotateTitle}
      about={own.rotateAbout}
      action={own.doRotate}
      closes={false}
      run={async () => {
        setSecret(await client.$webhooks.rotate(webhook.id));
        await queries.invalidateQueries({ queryKey: webhooksKey });
      }}
      onClose={onClose}
    />
  );
}

export function RemoveDialog({ webhook, onClose }: AboutWebhook) {
  return (
    <Question
      title={own.removeTitle}
      about={own.removeAbout(webhook.url)}
      action={own.remove}
      isDangerous
      run={async () => {
        await client.$webhooks.delete(webhook.id);
        await queries.invalidateQueries({ queryKey: webhooksKey });
      }}
      onClose={onClose}
    />
  );
}
