/** What all pages for administrators have: a head, a waiting state, a notice to turn something on, and a question before a change. */
import { Alert, Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Copied } from "../parts/copied.tsx";
import { Dialog, DialogButtons } from "../parts/dialog.tsx";
import { messageOf } from "../parts/problem.tsx";
import { HeadSignIn } from "../parts/sign-in-button.tsx";
import { MenuButton } from "../shell/drawer.tsx";
import { administrationTexts, texts as allTexts } from "../texts.ts";

interface HeadProps {
  title: string;
  count?: number | undefined;
  children?: ReactNode;
}

export function Head({ title, count, children }: HeadProps) {
  return (
    <header className="head">
      <MenuButton />
      <h1>{title}</h1>
      {count !== undefined && <span className="n">{count.toLocaleString("en")}</span>}
      <span className="grow" />
      {children}
      <HeadSignIn />
    </header>
  );
}

export function Waiting() {
  return (
    <output className="bones" aria-label={allTexts.loading}>
      {[72, 54, 64].map((width) => (
        <span key={width} className="bone" style={{ width: `${width}%` }} />
      ))}
    </output>
  );
}

export function Empty({ title, hint, children }: { title: string; hint?: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <b>{title}</b>
      {hint}
      {children}
    </div>
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

interface QuestionProps {
  title: string;
  about: ReactNode;
  action: string;
  isDangerous?: boolean;
  /** Whether the dialog closes after the change. */
  closes?: boolean;
  children?: ReactNode;
  run(): Promise<void>;
  onClose(): void;
}

/** Asks before a change, makes it, and closes. An error stays in the dialog. */
export function Question({
  isDangerous = false,
  closes = true,
  children,
  run,
  onClose,
  ...texts
}: QuestionProps) {
  const { title, about, action } = texts;
  const { mutate, isPending, error } = useMutation({
    mutationFn: run,
    ...(closes && { onSuccess: onClose }),
  });
  return (
    <Dialog
      width={520}
      title={title}
      about={about}
      onClose={onClose}
      footer={
        <DialogButtons closing={administrationTexts.cancel} hasFocus onClose={onClose}>
          <Button
            size="sm"
            {...(isDangerous && { color: "red" })}
            loading={isPending}
            onClick={() => mutate()}
          >
            {action}
          </Button>
        </DialogButtons>
      }
    >
      {(children !== undefined || error !== null) && (
        <div className="admin-form">
          {children}
          {error !== null && <Wrong text={messageOf(error)} />}
        </div>
      )}
    </Dialog>
  );
}

export function Wrong({ text }: { text: string }) {
  return (
    <Alert color="red" role="alert">
      {text}
    </Alert>
  );
}
