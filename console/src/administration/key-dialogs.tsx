/** The dialogs that create, rotate and revoke an API key. */
import { Button, MultiSelect, Select, TagsInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ApiKey, NewApiKey } from "holdfast-client";
import { type FormEvent, useState } from "react";
import { Dialog, DialogButtons } from "../parts/dialog.tsx";
import { useConfiguration } from "../service/administrator.ts";
import { useCollections } from "../service/collections.ts";
import { client } from "../service/session.ts";
import { administrationTexts } from "../texts.ts";
import { Question, Wrong } from "./frame.tsx";
import { expiryOf } from "./key-values.ts";
import { keysKey } from "./keys-page.tsx";
import { refusalOf } from "./refused.ts";
import { SecretDialog } from "./secret-dialog.tsx";

const own = administrationTexts.keys;
const fields = ["name", "subject", "roles", "scopes", "expiresAt"];
const empty = {
  name: "",
  subject: "",
  roles: [] as string[],
  scopes: [] as string[],
  choice: "never",
  date: "",
};

function useReread() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: keysKey });
}

export function NewKeyDialog({ onClose }: { onClose(): void }) {
  const reread = useReread();
  const [given, setGiven] = useState(empty);
  const set = (part: Partial<typeof empty>) => setGiven((before) => ({ ...before, ...part }));
  const { mutate, data, isPending, error } = useMutation({
    mutationFn: () => {
      const { name, subject, roles, scopes, choice, date } = given;
      return client.$keys.create({
        name: name.trim(),
        ...(subject.trim() !== "" && { subject: subject.trim() }),
        roles,
        scopes: scopes.length === 0 ? null : scopes,
        expiresAt: expiryOf(choice, date, Date.now()),
      });
    },
    onSettled: reread,
  });
  if (data !== undefined) return <MadeKey made={data} onClose={onClose} />;
  const { at, others } = refusalOf(error, fields);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Dialog
      width={560}
      title={own.createTitle}
      about={own.createAbout}
      onClose={onClose}
      footer={
        <DialogButtons closing={administrationTexts.cancel} onClose={onClose}>
          <Button
            size="sm"
            type="submit"
            form="new-key"
            loading={isPending}
            disabled={given.name.trim() === ""}
          >
            {own.doCreate}
          </Button>
        </DialogButtons>
      }
    >
      <form id="new-key" className="admin-form" onSubmit={submit}>
        {others.map((text) => (
          <Wrong key={text} text={text} />
        ))}
        <TextInput
          label={own.columns.name}
          description={own.nameHint}
          data-autofocus
          value={given.name}
          error={at("name")}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          label={own.columns.subject}
          description={own.subjectHint}
          placeholder={given.name}
          value={given.subject}
          error={at("subject")}
          onChange={(event) => set({ subject: event.currentTarget.value })}
        />
        <Roles value={given.roles} error={at("roles")} onChange={(roles) => set({ roles })} />
        <Scopes value={given.scopes} error={at("scopes")} onChange={(scopes) => set({ scopes })} />
        <div className="pair">
          <Select
            label={own.expiry}
            data={["never", "30", "90", "365", "date"].map((value) => ({
              value,
              label: own.expiries[value as keyof typeof own.expiries],
            }))}
            value={given.choice}
            allowDeselect={false}
            error={given.choice === "date" ? undefined : at("expiresAt")}
            onChange={(choice) => set({ choice: choice ?? "never" })}
          />
          {given.choice === "date" && (
            <TextInput
              type="date"
              required
              label={own.date}
              value={given.date}
              error={at("expiresAt")}
              onChange={(event) => set({ date: event.currentTarget.value })}
            />
          )}
        </div>
      </form>
    </Dialog>
  );
}

interface NamesProps {
  value: string[];
  error: string | undefined;
  onChange(next: string[]): void;
}

function Roles(props: NamesProps) {
  const { data } = useConfiguration();
  const allowed = data?.options.find(({ name }) => name === "auth.keyRoles")?.value;
  const roles = Array.isArray(allowed) ? allowed.filter((each) => typeof each === "string") : [];
  const isNone = data !== undefined && roles.length === 0;
  return (
    <MultiSelect
      {...props}
      label={own.columns.roles}
      description={isNone ? own.noRoles : own.rolesHint}
      data={roles}
      disabled={isNone}
      searchable
      clearable
    />
  );
}

function Scopes(props: NamesProps) {
  const { data = [] } = useCollections();
  return (
    <TagsInput
      {...props}
      label={own.columns.scopes}
      description={own.scopesHint}
      placeholder={data[0] === undefined ? "" : `${data[0].name}:read`}
      data={data.flatMap(({ name }) => [`${name}:read`, `${name}:write`])}
      acceptValueOnBlur
      clearable
    />
  );
}

function MadeKey({ made: { name, key }, onClose }: { made: NewApiKey; onClose(): void }) {
  return (
    <SecretDialog
      title={own.made(name)}
      about={own.madeAbout}
      label={own.key}
      secret={key}
      onClose={onClose}
    />
  );
}

export function RotateDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose(): void }) {
  const reread = useReread();
  const [overlap, setOverlap] = useState("3600");
  const [made, setMade] = useState<NewApiKey>();
  if (made !== undefined) return <MadeKey made={made} onClose={onClose} />;
  return (
    <Question
      title={own.rotateTitle(apiKey.name)}
      about={own.rotateAbout}
      action={own.rotate}
      closes={false}
      run={async () => {
        setMade(await client.$keys.rotate(apiKey.prefix, { overlapSeconds: Number(overlap) }));
        await reread();
      }}
      onClose={onClose}
    >
      <Select
        label={own.overlap}
        data={["0", "3600", "86400", "604800"].map((value) => ({
          value,
          label: own.overlaps[value as keyof typeof own.overlaps],
        }))}
        value={overlap}
        allowDeselect={false}
        onChange={(next) => setOverlap(next ?? "3600")}
      />
    </Question>
  );
}

export function RevokeDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose(): void }) {
  const reread = useReread();
  return (
    <Question
      title={own.revokeTitle(apiKey.name)}
      about={own.revokeAbout(apiKey.prefix)}
      action={own.revoke}
      isDangerous
      run={async () => {
        await client.$keys.revoke(apiKey.prefix);
        await reread();
      }}
      onClose={onClose}
    />
  );
}
