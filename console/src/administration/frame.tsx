/** What the pages for administrators share. */
import { MultiSelect } from "@mantine/core";
import { Copied, Secret } from "../parts/copied.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useConfiguration } from "../service/administrator.ts";
import { otherProblems, type Refusal, refusalOf } from "../service/errors.ts";
import { administrationTexts, texts } from "../texts.ts";

export function Waiting() {
  return (
    <output className="bones" aria-label={texts.loading}>
      {[72, 54, 64].map((width) => (
        <span key={width} className="bone" style={{ width: `${width}%` }} />
      ))}
    </output>
  );
}

/** Says how to turn something on in the configuration. */
export function TurnOn({ title, hint, text }: { title: string; hint: string; text: string }) {
  return (
    <section className="card turn-on">
      <b>{title}</b>
      <p>{hint}</p>
      <p>{administrationTexts.turnOn}</p>
      <Copied text={text} />
    </section>
  );
}

export interface NamesProps {
  value: string[];
  error: string | undefined;
  onChange(next: string[]): void;
}

interface RolesProps extends NamesProps {
  texts: { columns: { roles: string }; rolesHint: string; noRoles: string };
  /** Whether the roles are for users. @default false */
  areForUsers?: boolean;
}

/** The roles that the configuration allows, to choose from. A value can have others, which stay until they are taken away. */
export function Roles({ texts: own, areForUsers = false, ...props }: RolesProps) {
  const { data } = useConfiguration();
  const optionOf = (option: string) => data?.options.find(({ name }) => name === option)?.value;
  const users = optionOf("auth.users") as { roles?: unknown } | null | undefined;
  const allowed = (areForUsers ? users?.roles : undefined) ?? optionOf("auth.keyRoles");
  const roles = Array.isArray(allowed) ? allowed.filter((each) => typeof each === "string") : [];
  const isNone = data !== undefined && roles.length === 0 && props.value.length === 0;
  return (
    <MultiSelect
      {...props}
      label={own.columns.roles}
      description={isNone ? own.noRoles : own.rolesHint}
      data={[...new Set([...roles, ...props.value])]}
      disabled={isNone}
      searchable
      clearable
    />
  );
}

/** Names, each as a tag. */
export function Tags({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <span className="none">—</span>;
  return names.map((name) => (
    <span key={name} className="tag">
      {name}
    </span>
  ));
}

interface SecretDialogProps {
  title: string;
  about: string;
  /** What the secret is. */
  label: string;
  /** `undefined` if the response with it was lost. */
  secret: string | undefined;
  /** What to do if it was lost. */
  whenLost?: string;
  onClose(): void;
}

/** Shows a secret. Only the button closes it, so that the secret is not lost by accident. */
export function SecretDialog({ title, about, label, secret, whenLost, onClose }: SecretDialogProps) {
  return (
    <Dialog
      width={560}
      isSticky
      title={title}
      about={about}
      onClose={onClose}
      closing={administrationTexts.saved}
    >
      <div className="admin-form">
        {secret === undefined ? <p>{whenLost}</p> : <Secret label={label} text={secret} />}
      </div>
    </Dialog>
  );
}

/** The sentence for a field, and the sentences that belong to no field. */
export function fieldProblems(error: unknown, fields: readonly string[]) {
  const isWrong = error !== null && error !== undefined;
  const refusal: Refusal = isWrong ? refusalOf(error) : { byName: new Map(), others: [] };
  return {
    at: (name: string) => refusal.byName.get(name)?.join(" "),
    others: otherProblems(refusal, new Set(fields)),
  };
}
