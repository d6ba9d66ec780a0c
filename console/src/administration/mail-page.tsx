/** The mails that a local service keeps, because it has no mail server. */
import { useQuery } from "@tanstack/react-query";
import { NotFoundError } from "holdfast-client";
import { Head } from "../parts/head.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { Waiting } from "./frame.tsx";

const own = administrationTexts.mail;

interface KeptMail {
  to: string;
  subject: string;
  text: string;
  time: string;
}

export function MailPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ["mails"],
    queryFn: async ({ signal }) =>
      ((await client.$read("/_mails", { signal })) as { mails: readonly KeptMail[] }).mails,
    refetchInterval: 5_000,
  });
  if (error instanceof NotFoundError)
    return (
      <>
        <Head title={listTexts.pageNames.mail} />
        <Empty title={own.off} hint={own.offHint} />
      </>
    );
  return (
    <>
      <Head title={listTexts.pageNames.mail} count={data?.length} />
      <p className="hint mail-hint">{own.about}</p>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.length === 0 && <Empty title={own.none} hint={own.noneHint} />}
      <ul className="webhooks">
        {data?.map((mail) => (
          <li key={`${mail.time} ${mail.to} ${mail.subject}`} className="card mail">
            <b>{mail.subject}</b>
            <span className="soft">
              {own.to(mail.to)} · <Time text={mail.time} />
            </span>
            <p className="mail-text">{mail.text}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
