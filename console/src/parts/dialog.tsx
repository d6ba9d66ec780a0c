/** A dialog: a title, a sentence, its content, and its buttons. */
import { Alert, Button, Loader, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { messageOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { texts } from "../texts.ts";

interface DialogProps {
  title: string;
  /** What the dialog is about, in a sentence. */
  about?: ReactNode;
  width?: number;
  /** Whether only a button closes it, for example because it shows something once. */
  isSticky?: boolean;
  children?: ReactNode;
  /** The buttons that do something, and what stands beside them. */
  actions?: ReactNode;
  /** The text of the last button, which only closes the dialog. Without it, the dialog has no such button. */
  closing?: string;
  /** Whether the last button is at the other end. @default false */
  isApart?: boolean;
  /** Whether the last button has the focus at first. @default false */
  hasFocus?: boolean;
  onClose(): void;
}

export function Dialog(props: DialogProps) {
  const { title, about, width = 720, isSticky = false, children, actions, closing, onClose } = props;
  const { isApart = false, hasFocus = false } = props;
  useFocusReturn();
  const content = useRef<HTMLDivElement>(null);
  // A button that is gone or disabled after its press has lost the focus.
  useEffect(() => {
    if (document.activeElement === document.body) content.current?.focus({ preventScroll: true });
  });
  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={width}
      closeOnEscape={!isSticky}
      closeOnClickOutside={!isSticky}
      centered
      classNames={{ content: "dialog" }}
      lockScroll={false} // the page itself never scrolls
    >
      <Modal.Overlay />
      <Modal.Content ref={content} tabIndex={-1}>
        <header>
          <Modal.Title>{title}</Modal.Title>
          {about !== undefined && <Modal.Body>{about}</Modal.Body>}
        </header>
        <div className="dialog-body">{children}</div>
        {(actions !== undefined || closing !== undefined) && (
          <footer>
            {actions}
            {isApart && <span className="grow" />}
            {closing !== undefined && (
              <Button
                size="sm"
                {...(isApart ? { variant: "subtle", color: "gray" } : { variant: "default" })}
                {...(hasFocus && { "data-autofocus": true })}
                onClick={onClose}
              >
                {closing}
              </Button>
            )}
          </footer>
        )}
      </Modal.Content>
    </Modal.Root>
  );
}

interface QuestionProps extends DialogProps {
  /** The text of the button that makes the change. */
  action: string;
  isDangerous?: boolean;
  /** Whether the dialog closes after the change. @default true */
  closes?: boolean;
  run(): Promise<void>;
}

/** Asks before a change, makes it, and closes. An error stays in the dialog. */
export function Question(props: QuestionProps) {
  const { action, isDangerous = false, closes = true, run, children, ...dialog } = props;
  const { mutate, isPending, error } = useAction({
    mutationFn: run,
    ...(closes && { onSuccess: dialog.onClose }),
  });
  return (
    <Dialog
      width={520}
      closing={texts.cancel}
      hasFocus
      {...dialog}
      actions={
        <Button size="sm" {...(isDangerous && { color: "red" })} loading={isPending} onClick={() => mutate()}>
          {action}
        </Button>
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

/** Says what is wrong with what a dialog asks for. */
export function Wrong({ text }: { text: string }) {
  return (
    <Alert color="red" role="alert">
      {text}
    </Alert>
  );
}

/** Says what a dialog waits for. */
export function Busy({ children }: { children: ReactNode }) {
  return (
    <span className="figures" role="status">
      <Loader size="xs" /> {children}
    </span>
  );
}

/** Says what has failed, in the content of a dialog. */
export function Bad({ text }: { text: string }) {
  return (
    <span className="figures" role="alert">
      <span className="bad">{text}</span>
    </span>
  );
}

/** Gives the focus back to what had it. If that is gone, for example the line of a menu, to the panel or the list. */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      setTimeout(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
        const target = isThere
          ? before
          : (document.querySelector<HTMLElement>(".panel, [role=grid]") ?? document.querySelector("main"));
        if (isLost) target?.focus({ preventScroll: true });
      });
    },
    [before],
  );
}
