/** The accounts of the users, what an administrator does with them, and the invitations. */
import { Button, JsonInput, SegmentedControl, TextInput } from "@mantine/core";
import {
  IconDeviceMobileOff,
  IconDevices,
  IconLink,
  IconLock,
  IconLockOpen,
  IconLogout,
  IconPassword,
  IconPencil,
  IconSearch,
  IconTrash,
  IconUserPlus,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type Account, type Identity, type Invitation, NotFoundError } from "holdfast-client";
import { type FormEvent, useState } from "react";
import { Dialog, Question } from "../parts/dialog.tsx";
import { Head } from "../parts/head.tsx";
import { Dots, Item } from "../parts/menu.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { formatRoute } from "../route.ts";
import { queries } from "../service/queries.ts";
import { client, usersName } from "../service/session.ts";
import { administrationTexts, listTexts, texts } from "../texts.ts";
import { FormDialog, List, Roles, Tags, usePages, Waiting } from "./frame.tsx";
import { readObject } from "./values.ts";

const own = administrationTexts.accounts;

/** The keys of the queries of the accounts and of the invitations. */
const accountsKey = ["accounts"];
const invitationsKey = ["invitations"];

const reread = (queryKey: readonly string[]) => queries.invalidateQueries({ queryKey });

/** What an administrator does with an account after a question. */
const acts = {
  signOut: ({ id }: Account) => client.$accounts.signOut(id),
  reset: ({ id }: Account) => client.$accounts.reset(id),
  resetFactors: ({ id }: Account) => client.$accounts.resetFactors(id),
  disable: ({ id }: Account) => client.$accounts.patch(id, { disabled: true }),
  enable: ({ id }: Account) => client.$accounts.patch(id, { disabled: false }),
  remove: ({ id }: Account) => client.$accounts.delete(id),
};

type Act = keyof typeof acts;

type Open =
  | { kind: "invite" }
  | { kind: "edit" | "sessions" | "identities" | Act; account: Account }
  | { kind: "withdraw"; invitation: Invitation };

export function AccountsPage() {
  const [shown, setShown] = useState<"accounts" | "invitations">("accounts");
  const [email, setEmail] = useState("");
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Head title={listTexts.pageNames.accounts}>
        <Button leftSection={<IconUserPlus size={15} />} onClick={() => setOpen({ kind: "invite" })}>
          {own.invite}
        </Button>
      </Head>
      <div className="admin-bar">
        <SegmentedControl
          size="xs"
          aria-label={own.shown}
          data={[
            { value: "accounts", label: own.all },
            { value: "invitations", label: own.invited },
          ]}
          value={shown}
          onChange={(next) => setShown(next as typeof shown)}
        />
        {shown === "accounts" && <Find onFind={setEmail} />}
      </div>
      {shown === "accounts" ? <Accounts email={email} onOpen={setOpen} /> : <Invitations onOpen={setOpen} />}
      {open !== undefined && <Opened open={open} onClose={close} onInvited={() => setShown("invitations")} />}
    </>
  );
}

function Opened({ open, onClose, onInvited }: { open: Open; onClose(): void; onInvited(): void }) {
  switch (open.kind) {
    case "invite":
      return <InviteDialog onClose={onClose} onInvited={onInvited} />;
    case "withdraw":
      return <WithdrawDialog invitation={open.invitation} onClose={onClose} />;
    case "edit":
      return <AccountDialog id={open.account.id} onClose={onClose} />;
    case "sessions":
      return <SessionsDialog account={open.account} onClose={onClose} />;
    case "identities":
      return <IdentitiesDialog account={open.account} onClose={onClose} />;
    default:
      return <ActDialog act={open.kind} account={open.account} onClose={onClose} />;
  }
}

/** Asks for an address. The service compares whole addresses, so it is not asked after each letter. */
function Find({ onFind }: { onFind(email: string): void }) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onFind(text.trim());
  };
  return (
    <form className="admin-search" onSubmit={submit}>
      <TextInput
        size="xs"
        type="search"
        leftSection={<IconSearch size={14} />}
        placeholder={own.find}
        aria-label={own.find}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ currentTarget: { value } }) => {
          setText(value);
          if (value === "") onFind("");
        }}
      />
    </form>
  );
}

function Accounts({ email, onOpen }: { email: string; onOpen(open: Open): void }) {
  const query = usePages([...accountsKey, "list", email], async (options) => {
    const wanted = email === "" ? options : { ...options, email };
    const { accounts, after } = await client.$accounts.list(wanted);
    return { items: accounts, after };
  });
  const empty =
    email === "" ? (
      <Empty title={own.none} hint={own.noneHint} />
    ) : (
      <Empty title={own.noneWith(email)} hint={own.noneWithHint} />
    );
  return (
    <List query={query} label={own.all} columns={Object.values(own.columns)} empty={empty}>
      {query.items?.map((account) => (
        <AccountRow key={account.id} account={account} onOpen={onOpen} />
      ))}
    </List>
  );
}

function AccountRow({ account, onOpen }: { account: Account; onOpen(open: Open): void }) {
  const { id, email, roles, claims, disabled, createdAt } = account;
  const profile = { kind: "resource", collection: usersName, query: "", id, tab: "fields" } as const;
  const item = (act: Act, Icon: typeof IconTrash) => (
    <Item
      text={own.actions[act].action}
      Icon={Icon}
      isDangerous={act === "remove"}
      onClick={() => onOpen({ kind: act, account })}
    />
  );
  return (
    <tr>
      <td className="strong" title={email}>
        {email} {disabled && <span className="tag red">{own.disabled}</span>}
      </td>
      <td className="id">
        <a className="ref" href={formatRoute(profile)}>
          {id}
        </a>
      </td>
      <AccessCells roles={roles} claims={claims} />
      <td className="quiet">
        <Time text={createdAt} />
      </td>
      <td className="end">
        <Dots label={administrationTexts.actionsOf(email)}>
          <Item text={own.edit} Icon={IconPencil} onClick={() => onOpen({ kind: "edit", account })} />
          <Item
            text={own.sessions}
            Icon={IconDevices}
            onClick={() => onOpen({ kind: "sessions", account })}
          />
          <Item
            text={own.identities}
            Icon={IconLink}
            onClick={() => onOpen({ kind: "identities", account })}
          />
          {item("signOut", IconLogout)}
          {item("reset", IconPassword)}
          {item("resetFactors", IconDeviceMobileOff)}
          {disabled ? item("enable", IconLockOpen) : item("disable", IconLock)}
          {item("remove", IconTrash)}
        </Dots>
      </td>
    </tr>
  );
}

/** The cells of roles and claims. */
function AccessCells({ roles, claims }: Pick<Account, "roles" | "claims">) {
  const text = JSON.stringify(claims);
  return (
    <>
      <td title={roles.join(", ")}>
        <Tags names={roles} />
      </td>
      <td title={text}>{text === "{}" ? <span className="none">—</span> : text}</td>
    </>
  );
}

function ActDialog({ act, account, onClose }: { act: Act; account: Account; onClose(): void }) {
  const { title, about, action } = own.actions[act];
  return (
    <Question
      title={title(account.email)}
      about={about}
      action={action}
      isDangerous={act === "remove"}
      run={async () => {
        await acts[act](account);
        await reread(accountsKey);
      }}
      onClose={onClose}
    />
  );
}

function AccountDialog({ id, onClose }: { id: string; onClose(): void }) {
  // Lists have no ETags, so the account is read again: the change must fit the version that the form shows.
  const { data, error } = useQuery({
    queryKey: [...accountsKey, id],
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => client.$accounts.get(id, { signal }),
  });
  if (data !== undefined) return <AccountForm account={data} onClose={onClose} />;
  return (
    <Dialog width={560} title={own.edit} onClose={onClose}>
      {error === null ? <Waiting /> : <Problem error={error} />}
    </Dialog>
  );
}

interface AccessFieldsProps {
  form: { roles: string[]; claims: string };
  at: (name: string) => string | undefined;
  onChange(part: { roles?: string[]; claims?: string }): void;
}

/** The fields of what an account may do. */
function AccessFields({ form, at, onChange }: AccessFieldsProps) {
  return (
    <>
      <Roles
        texts={own}
        areForUsers
        value={form.roles}
        error={at("roles")}
        onChange={(roles) => onChange({ roles })}
      />
      <JsonInput
        label={own.columns.claims}
        description={own.claimsHint}
        validationError={own.notAnObject}
        autosize
        minRows={2}
        maxRows={12}
        value={form.claims}
        error={at("claims")}
        onChange={(claims) => onChange({ claims })}
      />
    </>
  );
}

/** A merge patch that leaves exactly these claims. */
function patchOf(before: Account["claims"], wanted: object): Account["claims"] {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(wanted, name));
  return { ...wanted, ...Object.fromEntries(gone.map((name) => [name, null])) };
}

function AccountForm({ account: given, onClose }: { account: Account; onClose(): void }) {
  // The form is about the version that was read when it opened.
  const [account] = useState(given);
  const [form, setForm] = useState({
    email: account.email,
    roles: [...account.roles],
    claims: Object.keys(account.claims).length === 0 ? "" : JSON.stringify(account.claims, null, 2),
  });
  return (
    <FormDialog
      title={own.editTitle(account.email)}
      about={own.editAbout}
      fields={["email", "roles", "claims"]}
      action={own.doSave}
      changed={own.changed}
      textOf={() => own.notAnObject}
      run={async () => {
        const claims = patchOf(account.claims, readObject("claims", form.claims) ?? {});
        const email = form.email.trim();
        const change = { roles: form.roles, claims, ...(email !== account.email && { email }) };
        await client.$accounts.patch(account, change).finally(() => reread(accountsKey));
      }}
      onClose={onClose}
    >
      {(at) => (
        <>
          <TextInput
            type="email"
            label={own.columns.email}
            description={own.emailHint}
            autoComplete="off"
            spellCheck={false}
            value={form.email}
            error={at("email")}
            onChange={({ currentTarget: { value: email } }) => setForm((before) => ({ ...before, email }))}
          />
          <AccessFields
            form={form}
            at={at}
            onChange={(part) => setForm((before) => ({ ...before, ...part }))}
          />
        </>
      )}
    </FormDialog>
  );
}

function SessionsDialog({ account: { id, email }, onClose }: { account: Account; onClose(): void }) {
  const { data, error } = useQuery({
    queryKey: [...accountsKey, id, "sessions"],
    queryFn: ({ signal }) => client.$accounts.sessions(id, { signal }),
  });
  return (
    <Dialog width={860} title={own.sessionsOf(email)} onClose={onClose} closing={texts.close}>
      {error !== null && <Problem error={error} />}
      {data === undefined && error === null && <Waiting />}
      {data?.length === 0 && <Empty title={own.noSessions} />}
      {data !== undefined && data.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls
        <section className="deliveries" aria-label={own.sessionsOf(email)} tabIndex={0}>
          <table className="grid plain">
            <thead>
              <tr>
                {Object.values(own.session).map((name) => (
                  <th key={name}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map(({ id: session, agent, name, network, createdAt, usedAt, expiresAt }) => (
                <tr key={session}>
                  <td title={agent}>{name === undefined ? agent || own.noAgent : own.programKey(name)}</td>
                  <td>{network}</td>
                  {[createdAt, usedAt, expiresAt].map((at, n) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the columns never move
                    <td key={n} className="quiet">
                      <Time text={at} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Dialog>
  );
}

/** The identities at providers with which a user signs in. An administrator can remove each one. */
function IdentitiesDialog({ account: { id, email }, onClose }: { account: Account; onClose(): void }) {
  const [asked, setAsked] = useState<Identity>();
  const queryKey = [...accountsKey, id, "identities"];
  const { data, error } = useQuery({
    queryKey,
    // A service without providers does not have the path.
    queryFn: ({ signal }) =>
      client.$accounts.identities(id, { signal }).catch((reason: unknown) => {
        if (reason instanceof NotFoundError) return [];
        throw reason;
      }),
  });
  if (asked !== undefined)
    return (
      <Question
        title={own.unlinkTitle(asked.provider, email)}
        about={own.unlinkAbout}
        action={own.unlink}
        isDangerous
        run={async () => {
          await client.$accounts.unlinkIdentity(id, asked.id);
          await reread(queryKey);
        }}
        onClose={() => setAsked(undefined)}
      />
    );
  return (
    <Dialog width={720} title={own.identitiesOf(email)} onClose={onClose} closing={texts.close}>
      {error !== null && <Problem error={error} />}
      {data === undefined && error === null && <Waiting />}
      {data?.length === 0 && <Empty title={own.noIdentities} />}
      {data !== undefined && data.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls
        <section className="deliveries" aria-label={own.identitiesOf(email)} tabIndex={0}>
          <table className="grid plain">
            <thead>
              <tr>
                {Object.values(own.identity).map((name) => (
                  <th key={name}>{name}</th>
                ))}
                <th>
                  <span className="sr-only">{own.unlink}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map((identity) => (
                <tr key={identity.id}>
                  <td className="strong">{identity.provider}</td>
                  <td title={identity.email}>{identity.email ?? <span className="none">—</span>}</td>
                  <td className="quiet">
                    <Time text={identity.createdAt} />
                  </td>
                  <td className="end">
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={own.unlinkOf(identity.provider, identity.email)}
                      onClick={() => setAsked(identity)}
                    >
                      {own.unlink}
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Dialog>
  );
}

function Invitations({ onOpen }: { onOpen(open: Open): void }) {
  const query = usePages(invitationsKey, async (options) => {
    const { invitations, after } = await client.$invitations.list(options);
    return { items: invitations, after };
  });
  const { email, roles, claims, created } = own.columns;
  const columns = [email, roles, claims, created, own.expires];
  return (
    <List query={query} label={own.invited} columns={columns} empty={<Empty title={own.noInvitations} />}>
      {query.items?.map((invitation) => (
        <tr key={invitation.id}>
          <td className="strong" title={invitation.email}>
            {invitation.email}{" "}
            {Date.parse(invitation.expiresAt) < Date.now() && <span className="tag">{own.expired}</span>}
          </td>
          <AccessCells {...invitation} />
          <td className="quiet">
            <Time text={invitation.createdAt} />
          </td>
          <td className="quiet">
            <Time text={invitation.expiresAt} />
          </td>
          <td className="end">
            <Dots label={administrationTexts.actionsOf(invitation.email)}>
              <Item
                text={own.withdraw}
                Icon={IconTrash}
                isDangerous
                onClick={() => onOpen({ kind: "withdraw", invitation })}
              />
            </Dots>
          </td>
        </tr>
      ))}
    </List>
  );
}

function WithdrawDialog({ invitation: { id, email }, onClose }: { invitation: Invitation; onClose(): void }) {
  return (
    <Question
      title={own.withdrawTitle(email)}
      about={own.withdrawAbout}
      action={own.withdraw}
      isDangerous
      run={async () => {
        await client.$invitations.delete(id);
        await reread(invitationsKey);
      }}
      onClose={onClose}
    />
  );
}

const empty = { email: "", roles: [] as string[], claims: "", user: "" };

function InviteDialog({ onClose, onInvited }: { onClose(): void; onInvited(): void }) {
  const [given, setGiven] = useState(empty);
  const set = (part: Partial<typeof empty>) => setGiven((before) => ({ ...before, ...part }));
  return (
    <FormDialog
      title={own.inviteTitle}
      about={own.inviteAbout}
      fields={Object.keys(empty)}
      action={own.doInvite}
      isReady={given.email.trim() !== ""}
      textOf={() => own.notAnObject}
      run={async () => {
        const { email, roles, claims, user } = given;
        const invitation = {
          email: email.trim(),
          roles,
          claims: (readObject("claims", claims) ?? {}) as Invitation["claims"],
          ...(user.trim() !== "" && { user: user.trim() }),
        };
        await client.$invitations.create(invitation).finally(() => reread(invitationsKey));
        onInvited();
      }}
      onClose={onClose}
    >
      {(at) => (
        <>
          <TextInput
            type="email"
            label={own.columns.email}
            value={given.email}
            error={at("email")}
            autoComplete="off"
            onChange={(event) => set({ email: event.currentTarget.value })}
            data-autofocus
          />
          <AccessFields form={given} at={at} onChange={set} />
          <TextInput
            label={own.user}
            description={own.userHint}
            value={given.user}
            error={at("user")}
            onChange={(event) => set({ user: event.currentTarget.value })}
          />
        </>
      )}
    </FormDialog>
  );
}
