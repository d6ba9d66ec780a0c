/** A dialog: a title, a sentence, its content, and its buttons. */
import { Button, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";

interface DialogProps {
  title: string;
  /** What the dialog is about, in a sentence. */
  about?: ReactNode;
  width?: number;
  /** Whether only a button closes it, for example because it shows something once. */
  isSticky?: boolean;
  children?: ReactNode;
  /** The buttons. */
  footer?: ReactNode;
  onClose(): void;
}

export function Dialog({
  title,
  about,
  width = 720,
  isSticky = false,
  children,
  footer,
  onClose,
}: DialogProps) {
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
        {footer !== undefined && <footer>{footer}</footer>}
      </Modal.Content>
    </Modal.Root>
  );
}

interface DialogButtonsProps {
  /** The buttons that do something. */
  children?: ReactNode;
  /** The text of the button that only closes the dialog. */
  closing: string;
  /** Whether this button is at the other end. @default false */
  isApart?: boolean;
  /** Whether this button has the focus at first. @default false */
  hasFocus?: boolean;
  onClose(): void;
}

/** The buttons of a dialog. The last one closes it. */
export function DialogButtons({
  children,
  closing,
  isApart = false,
  hasFocus = false,
  onClose,
}: DialogButtonsProps) {
  const look = isApart ? ({ variant: "subtle", color: "gray" } as const) : ({ variant: "default" } as const);
  return (
    <>
      {children}
      {isApart && <span className="grow" />}
      <Button size="sm" {...look} {...(hasFocus && { "data-autofocus": true })} onClick={onClose}>
        {closing}
      </Button>
    </>
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
