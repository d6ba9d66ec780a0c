/** The API keys of the service, and the dialogs that create, rotate and revoke one. */
import { Button, SegmentedControl, Select, TagsInput, TextInput } from "@mantine/core";
import { IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ApiKey, type NewApiKey, NotFoundError } from "holdfast-client";
import { type ChangeEvent, useState } from "react";
import { Question } from "../parts/dialog.tsx";
import { Head } from "../parts/head.tsx";
import { Dots, Item } from "../parts/menu.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { useCollections } from "../service/collections.ts";
import { queries } from "../service/queries.ts";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { FormDialog, type NamesProps, Roles, SecretDialog, Tags, TurnOn, Waiting } from "./frame.tsx";
import { expiryOf, isThisHour, keysInOrder, stateOf } from "./values.ts";

const own = administrationTexts.keys;
const configuration = 'auth: { keys: true, administrators: { role: "ops" } }';
const tones = { valid: "green", revoked: "red", expired: "" };

/** The key of the query of the API keys. */
const keysKey = ["keys"];

type Open = { kind: "new" } | { kind: "rotate" | "revoke"; key: ApiKey };

export function KeysPage() {
  const { data, error, refetch } = useQuery({
    queryKey: keysKey,
    queryFn: ({ signal }) => client.$keys.list({ signal }),
  });
  const [open, setOpen] = useState<Open>();
  const [which, setWhich] = useState<"valid" | "all">("valid");
  const isOff = error instanceof NotFoundError;
  const keys = keysInOrder(data ?? []).filter(({ valid }) => which === "all" || valid);
  const close = () => setOpen(undefined);
  return (
    <>
      <Head title={listTexts.pageNames.keys} count={data?.filter(({ valid }) => valid).length}>
        {data !== undefined && (
          <Button leftSection={<IconPlus size={15} />} onClick={() => setOpen({ kind: "new" })}>
            {own.create}
          </Button>
        )}
      </Head>
      {isOff && <TurnOn title={own.off} hint={own.offHint} text={configuration} />}
      {error !== null && !isOff && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data !== undefined && data.length > 0 && (
        <div className="admin-bar">
          <SegmentedControl
            size="xs"
            aria-label={own.shown}
            data={[
              { value: "valid", label: own.valid },
              { value: "all", label: own.all },
            ]}
            value={which}
            onChange={(next) => setWhich(next as typeof which)}
          />
        </div>
      )}
      {data?.length === 0 && <Empty title={own.none} hint={own.noneHint} />}
      {data !== undefined && data.length > 0 && keys.length === 0 && <Empty title={own.noneValid} />}
      {keys.length > 0 && <Keys keys={keys} onOpen={setOpen} />}
      {open?.kind === "new" && <NewKeyDialog onClose={close} />}
      {open?.kind === "rotate" && <RotateDialog apiKey={open.key} onClose={close} />}
      {open?.kind === "revoke" && <RevokeDialog apiKey={open.key} onClose={close} />}
    </>
  );
}

function Keys({ keys, onOpen }: { keys: readonly ApiKey[]; onOpen(open: Open): void }) {
  const { columns } = own;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls
    <section className="scroll wide" aria-label={listTexts.pageNames.keys} tabIndex={0}>
      <table className="grid plain">
        <thead>
          <tr>
            {Object.values(columns).map((name) => (
              <th key={name}>{name}</th>
            ))}
            <th>
              <span className="sr-only">{listTexts.menu}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row key={key.prefix} apiKey={key} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ apiKey, onOpen }: { apiKey: ApiKey; onOpen(open: Open): void }) {
  const { prefix, name, subject, roles, scopes, createdAt, lastUsedAt, expiresAt } = apiKey;
  const state = stateOf(apiKey);
  return (
    <tr>
      <td className="strong" title={name}>
        {name} {state !== "valid" && <span className={`tag ${tones[state]}`}>{own.states[state]}</span>}
      </td>
      <td className="id">{prefix}…</td>
      <td title={subject}>{subject}</td>
      <td title={roles.join(", ")}>
        <Tags names={roles} />
      </td>
      <td title={scopes?.join(", ")}>{scopes?.join(", ") ?? <span className="none">{own.noLimit}</span>}</td>
      <When text={createdAt} />
      {lastUsedAt !== null && isThisHour(lastUsedAt, Date.now()) ? (
        <td className="quiet">{own.thisHour}</td>
      ) : (
        <When text={lastUsedAt} />
      )}
      <When text={expiresAt} />
      <td className="end">
        {state === "valid" && (
          <Dots label={administrationTexts.actionsOf(name)}>
            <Item
              text={own.rotate}
              Icon={IconRefresh}
              onClick={() => onOpen({ kind: "rotate", key: apiKey })}
            />
            <Item
              text={own.revoke}
              Icon={IconTrash}
              isDangerous
              onClick={() => onOpen({ kind: "revoke", key: apiKey })}
            />
          </Dots>
        )}
      </td>
    </tr>
  );
}

function When({ text }: { text: string | null }) {
  return text === null ? (
    <td>
      <span className="none">{own.never}</span>
    </td>
  ) : (
    <td className="quiet">
      <Time text={text} />
    </td>
  );
}

const fields = ["name", "subject", "roles", "scopes", "expiresAt"];
const empty = {
  name: "",
  subject: "",
  roles: [] as string[],
  scopes: [] as string[],
  choice: "never",
  date: "",
};

const reread = () => queries.invalidateQueries({ queryKey: keysKey });

function NewKeyDialog({ onClose }: { onClose(): void }) {
  const [given, setGiven] = useState(empty);
  const [made, setMade] = useState<NewApiKey>();
  const set = (part: Partial<typeof empty>) => setGiven((before) => ({ ...before, ...part }));
  if (made !== undefined) return <MadeKey made={made} onClose={onClose} />;
  const create = async () => {
    const { name, subject, roles, scopes, choice, date } = given;
    const key = {
      name: name.trim(),
      ...(subject.trim() !== "" && { subject: subject.trim() }),
      roles,
      scopes: scopes.length === 0 ? null : scopes,
      expiresAt: expiryOf(choice, date, Date.now()),
    };
    setMade(await client.$keys.create(key).finally(reread));
  };
  const text = (name: "name" | "subject" | "date") => ({
    value: given[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => set({ [name]: event.currentTarget.value }),
  });
  return (
    <FormDialog
      title={own.createTitle}
      about={own.createAbout}
      fields={fields}
      action={own.doCreate}
      isReady={given.name.trim() !== "" && (given.choice !== "date" || given.date !== "")}
      run={create}
      closes={false}
      onClose={onClose}
    >
      {(at) => (
        <>
          <TextInput
            {...text("name")}
            label={own.columns.name}
            description={own.nameHint}
            error={at("name")}
            data-autofocus
          />
          <TextInput
            {...text("subject")}
            label={own.columns.subject}
            description={own.subjectHint}
            error={at("subject")}
            placeholder={given.name}
          />
          <Roles texts={own} value={given.roles} error={at("roles")} onChange={(roles) => set({ roles })} />
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
              <TextInput type="date" required label={own.date} {...text("date")} error={at("expiresAt")} />
            )}
          </div>
        </>
      )}
    </FormDialog>
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

function RotateDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose(): void }) {
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

function RevokeDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose(): void }) {
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
