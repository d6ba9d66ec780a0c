/** What a caller can do with a resource, and why. Administrators can ask for other callers. */
import { Checkbox, Loader, TagsInput, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconMinus, IconX } from "@tabler/icons-react";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import type {
  AccessAnswer,
  AccessCheck,
  AccessQuestion,
  Action,
  CollectionDetails,
  ExplainedRule,
} from "holdfast-client";
import { useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { claimNames, claimValue } from "../service/schema.ts";
import { client } from "../service/session.ts";
import { texts } from "../texts.ts";

interface AccessTabProps {
  collection: string;
  id: string;
  info: CollectionDetails | undefined;
}

const operations: readonly Action[] = ["read", "update", "delete", "list", "create"];

/** The caller to ask for. Without a subject and roles, it is the user. */
interface Caller {
  subject: string;
  roles: readonly string[];
  claims: Readonly<Record<string, string>>;
  isAnonymous: boolean;
}

const me: Caller = { subject: "", roles: [], claims: {}, isAnonymous: false };

export function AccessTab({ collection, id, info }: AccessTabProps) {
  const [caller, setCaller] = useState(me);
  const [asked] = useDebouncedValue(caller, 300);
  const as = asOf(asked);
  const answers = useQueries({
    queries: operations.map((operation) => ({
      queryKey: [
        "access",
        collection,
        operation,
        isAbout(operation) ? id : null,
        as ?? null,
        asked.isAnonymous,
      ],
      placeholderData: keepPreviousData,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        client.$access(
          { collection, operation, ...(isAbout(operation) && { id }), ...(as !== undefined && { as }) },
          { signal },
        ),
    })),
  });
  // Without access rules, all callers can do the same.
  const isAdministrator = info?.rules !== undefined && info.rules !== null;
  const error = answers.find((each) => each.error !== null)?.error;
  const update = answers[operations.indexOf("update")]?.data;
  const reasons = new Set(answers.map((each) => each.data?.reason));
  const isOpen = reasons.size === 1 && answers.every((each) => each.data?.allowed === true);
  return (
    <>
      {!isAdministrator && <h3 className="access-title">{texts.access.leadSelf}</h3>}
      {(isAdministrator || isOpen) && (
        <p className="lead">
          {isAdministrator && texts.access.lead} {isOpen && [...reasons][0]}
        </p>
      )}
      {isAdministrator && <CallerForm caller={caller} names={claimNames(info.rules)} onChange={setCaller} />}
      {error !== undefined && error !== null && <Problem error={error} />}
      <ul className="card access">
        {operations.map((operation, n) => (
          <Operation key={operation} operation={operation} answer={answers[n]?.data} isBrief={isOpen} />
        ))}
      </ul>
      {update !== undefined && <AttributeRights rights={update.attributes} />}
    </>
  );
}

function isAbout(operation: Action): boolean {
  return operation !== "create" && operation !== "list";
}

function asOf({ subject, roles, claims, isAnonymous }: Caller): AccessQuestion["as"] {
  if (isAnonymous) return null;
  const given = Object.entries(claims).filter(([, text]) => text !== "");
  if (subject === "" && roles.length === 0 && given.length === 0) return undefined;
  return {
    ...(subject !== "" && { subject }),
    roles,
    ...(given.length > 0 && {
      claims: Object.fromEntries(given.map(([name, text]) => [name, claimValue(text)])),
    }),
  };
}

interface CallerFormProps {
  caller: Caller;
  /** The claims that the rules of the collection use. */
  names: readonly string[];
  onChange(caller: Caller): void;
}

function CallerForm({ caller, names, onChange }: CallerFormProps) {
  const { subject, roles, claims, isAnonymous } = caller;
  return (
    <fieldset className="caller">
      <legend className="sr-only">{texts.access.caller}</legend>
      <TextInput
        size="xs"
        w={150}
        label={texts.access.subject}
        placeholder={texts.access.you}
        disabled={isAnonymous}
        value={subject}
        onChange={(event) => onChange({ ...caller, subject: event.currentTarget.value })}
      />
      <TagsInput
        size="xs"
        w={200}
        label={texts.access.roles}
        placeholder={roles.length === 0 ? texts.access.noRole : ""}
        disabled={isAnonymous}
        value={[...roles]}
        onChange={(next) => onChange({ ...caller, roles: next })}
      />
      {names.map((name) => (
        <TextInput
          key={name}
          size="xs"
          w={110}
          label={name}
          placeholder={texts.access.noClaim}
          disabled={isAnonymous}
          value={claims[name] ?? ""}
          onChange={(event) =>
            onChange({ ...caller, claims: { ...claims, [name]: event.currentTarget.value } })
          }
        />
      ))}
      <Checkbox
        size="xs"
        label={texts.access.anonymous}
        checked={isAnonymous}
        onChange={(event) => onChange({ ...caller, isAnonymous: event.currentTarget.checked })}
      />
    </fieldset>
  );
}

interface OperationProps {
  operation: Action;
  answer: AccessAnswer | undefined;
  /** Whether the reason is already above. */
  isBrief: boolean;
}

function Operation({ operation, answer, isBrief }: OperationProps) {
  const checks = (answer?.checks ?? []).filter(({ needs, passes }) => needs === "rule" || !passes);
  const hasMore = checks.some((check) => check.reason !== answer?.reason || rulesOf(check).length > 0);
  const verdict = (
    <>
      {answer === undefined ? <Loader size={15} /> : <Verdict answer={answer} />}
      <b>{texts.access.operations[operation]}</b>
      {answer !== undefined && !isBrief && <span className="reason">{answer.reason}</span>}
    </>
  );
  if (!hasMore)
    return (
      <li className="why">
        <div className="verdict">{verdict}</div>
      </li>
    );
  return (
    <li className="why">
      <details>
        <summary className="verdict">{verdict}</summary>
        {checks.map((check) => (
          <Check key={check.needs} check={check} reason={answer?.reason} />
        ))}
      </details>
    </li>
  );
}

function Verdict({ answer }: { answer: AccessAnswer }) {
  if (!answer.allowed) return <IconX size={17} className="no" aria-label={texts.access.no} />;
  if (answer.resources === "some")
    return <IconMinus size={17} className="some" aria-label={texts.access.some} />;
  return <IconCheck size={17} className="yes" aria-label={texts.access.yes} />;
}

/** What the operation needs, for administrators. */
function Check({ check, reason }: { check: AccessCheck; reason: string | undefined }) {
  return (
    <>
      {check.reason !== reason && (
        <span className="reason">
          {texts.access.needs[check.needs]}: {check.reason}
        </span>
      )}
      {rulesOf(check).map((rule) => (
        <Rule key={`${rule.at} ${JSON.stringify(rule.rule)}`} rule={rule} />
      ))}
    </>
  );
}

function rulesOf({ rules = [] }: AccessCheck): ExplainedRule[] {
  return rules.filter(({ rule, at }) => rule !== undefined || at !== null);
}

function Rule({ rule: { at, rule, reason, resources } }: { rule: ExplainedRule }) {
  return (
    <div className={resources === "none" ? "rule" : "rule passes"}>
      <code>
        {at === null ? "" : `${at.replace(/^collections\.[^.]*\.access\./, "")}: `}
        {JSON.stringify(rule)}
      </code>
      <span>{reason}</span>
    </div>
  );
}

/** The attributes that a rule is about. */
function AttributeRights({ rights }: { rights: AccessAnswer["attributes"] }) {
  const lines = [
    [texts.access.readOnly, rights.readOnly],
    [texts.access.writeOnly, rights.writeOnly],
    [texts.access.restricted, rights.restricted ?? []],
  ] as const;
  return (
    <dl className="attribute-rights">
      {lines.map(
        ([label, names]) =>
          names.length > 0 && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                {names.map((each) => (
                  <code className="tag" key={each}>
                    {each}
                  </code>
                ))}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
