/** Asks before unsaved changes are lost. */
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { Dialog, DialogButtons } from "../parts/dialog.tsx";
import { type Route, setGuard } from "../route.ts";
import { texts } from "../texts.ts";

interface LeaveGuardProps {
  hasChanges: boolean;
  /** Whether a route shows the same resource. */
  staysOn(route: Route): boolean;
}

export function LeaveGuard({ hasChanges, staysOn }: LeaveGuardProps) {
  const [leave, setLeave] = useState<() => void>();
  useEffect(() => {
    if (!hasChanges) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    setGuard((next, go) => {
      if (staysOn(next)) return true;
      setLeave(() => go);
      return false;
    });
    return () => {
      removeEventListener("beforeunload", warn);
      setGuard(undefined);
    };
  }, [hasChanges, staysOn]);
  if (leave === undefined) return null;
  const stay = () => setLeave(undefined);
  return (
    <Dialog
      width={520}
      title={texts.resource.leaveTitle}
      about={texts.resource.leaveAbout}
      onClose={stay}
      footer={
        <DialogButtons closing={texts.resource.keepEditing} hasFocus onClose={stay}>
          <Button size="sm" color="red" onClick={leave}>
            {texts.resource.discardAndLeave}
          </Button>
        </DialogButtons>
      }
    />
  );
}
