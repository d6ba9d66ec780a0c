/** What the pages for administrators share. */
import { Button, MultiSelect } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ConflictError, NotFoundError } from "holdfast-client";
import { type ReactNode, useId } from "react";
import { Copied, Secret } from "../parts/copied.tsx";
import { Dialog, Wrong } from "../parts/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { useConfiguration } from "../service/administrator.ts";
import { otherProblems, type Refusal, refusalOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { administrationTexts, listTexts, texts } from "../texts.ts";
import { FormError } from "./values.ts";

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
function fieldProblems(error: unknown, fields: readonly string[]) {
  const isWrong = error !== null && error !== undefined;
  const refusal: Refusal = isWrong ? refusalOf(error) : { byName: new Map(), others: [] };
  return {
    at: (name: string) => refusal.byName.get(name)?.join(" "),
    others: otherProblems(refusal, new Set(fields)),
  };
}

type ProblemAt = ReturnType<typeof fieldProblems>["at"];

interface FormDialogProps {
  title: string;
  about: string;
  width?: number;
  /** The names of the fields. */
  fields: readonly string[];
  /** The text of the button that sends the form. */
  action: string;
  /** Whether the form is complete enough to be sent. @default true */
  isReady?: boolean;
  /** What is said if what the form shows has changed meanwhile. */
  changed?: string;
  /** What is said about a text that the form itself refuses. */
  textOf?(fault: FormError): string;
  /** Sends the form. */
  run(): Promise<unknown>;
  /** Whether the dialog closes afterwards. @default true */
  closes?: boolean;
  onClose(): void;
  /** The fields. They ask what is wrong with each. */
  children: (at: ProblemAt) => ReactNode;
}

/** A dialog with a form. The service judges what was filled in. */
export function FormDialog(props: FormDialogProps) {
  const { fields, action, isReady = true, changed, textOf, run, closes = true, children, ...dialog } = props;
  const id = useId();
  const { mutate, isPending, error } = useAction({
    mutationFn: run,
    ...(closes && { onSuccess: dialog.onClose }),
  });
  const hasChanged = changed !== undefined && error instanceof ConflictError && error.status === 412;
  const ofService = fieldProblems(error instanceof FormError ? null : error, fields);
  const at: ProblemAt = (name) =>
    error instanceof FormError && error.field === name ? textOf?.(error) : ofService.at(name);
  return (
    <Dialog
      width={560}
      {...dialog}
      closing={texts.cancel}
      actions={
        <Button size="sm" type="submit" form={id} loading={isPending} disabled={!isReady}>
          {action}
        </Button>
      }
    >
      <form
        id={id}
        className="admin-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        {(hasChanged ? [changed] : ofService.others).map((each) => (
          <Wrong key={each} text={each} />
        ))}
        {children(at)}
      </form>
    </Dialog>
  );
}

const users = administrationTexts.accounts;
const usersConfiguration = 'auth: { users: { collection: "users" }, administrators: { role: "ops" } }';

interface PageOf<T> {
  items: readonly T[];
  after?: string | undefined;
}

/** A list that is read page by page. */
export function usePages<T>(
  queryKey: readonly string[],
  read: (options: { after: string | undefined; signal: AbortSignal }) => Promise<PageOf<T>>,
) {
  const { data, ...query } = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after, signal }) => read({ after, signal }),
    getNextPageParam: ({ after }: PageOf<T>) => after,
  });
  return { ...query, items: data?.pages.flatMap(({ items }) => items) };
}

interface ListProps {
  query: ReturnType<typeof usePages<unknown>>;
  label: string;
  columns: readonly string[];
  empty: ReactNode;
  /** Whether each row has a menu. @default true */
  hasMenu?: boolean;
  children: ReactNode;
}

/** A table, or what is there in its place. */
export function List({ query, label, columns, empty, hasMenu = true, children }: ListProps) {
  const { items, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  if (error instanceof NotFoundError)
    return <TurnOn title={users.off} hint={users.offHint} text={usersConfiguration} />;
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (items === undefined) return <Waiting />;
  if (items.length === 0) return empty;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls */}
      <section className="scroll wide" aria-label={label} tabIndex={0}>
        <table className="grid plain">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
              {hasMenu && (
                <th>
                  <span className="sr-only">{listTexts.menu}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </section>
      {hasNextPage && (
        <div className="admin-bar">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {users.more}
          </Button>
        </div>
      )}
    </>
  );
}
