/** Faults in the hooks of writes. */
import type { Fault } from "../faults.ts";

export const hookFaults: readonly Fault[] = [
  {
    name: "hooks-judge-no-update",
    what: "validate does not run for updates.",
    noticedBy: "test/capabilities/code/hooks",
    test: "before completes a resource and validate refuses it",
    replacements: [
      [
        'await requireValidated(write, next, hooked(state.isRestore === true ? "restore" : usual));',
        'if (current === undefined) await requireValidated(write, next, hooked(state.isRestore === true ? "restore" : usual));',
      ],
    ],
  },
  {
    name: "hooks-judge-no-delete",
    what: "validate does not run for deletes.",
    noticedBy: "test/capabilities/code/hooks",
    test: "before completes a resource and validate refuses it",
    replacements: [['    await requireValidated(write, current?.text ?? "", hooked("delete"));\n', ""]],
  },
  {
    name: "hooks-judge-no-import",
    what: "An import stores what validate refuses.",
    noticedBy: "test/capabilities/code/every-write",
    test: "an import with skipHooks runs no hook",
    replacements: [
      [
        "return validResource({ ...read, proposal }, rules, await hookedViolations(proposal, created, hooks));",
        "return validResource({ ...read, proposal }, rules, await hookedViolations(proposal, created, undefined));",
      ],
    ],
  },
  {
    name: "hooks-judge-no-rewind",
    what: "A rewind brings back what validate refuses.",
    noticedBy: "test/capabilities/code/every-write",
    test: "an earlier state that validate refuses today does not come back",
    replacements: [
      [
        ': await hookedViolations(proposeText(collection, next), { ...item, operation: "restore" }, hooks);',
        ': await hookedViolations(proposeText(collection, next), { ...item, operation: "restore" }, undefined);',
      ],
    ],
  },
  {
    name: "hook-loses-calls",
    what: "The calls behind one that ends its worker get no answer.",
    noticedBy: "test/capabilities/code/hook-failures",
    test: "calls behind an endless loop run on the next worker",
    replacements: [["this.#unsent = [...this.#calls.values()];", "this.#unsent = [];"]],
  },
  {
    name: "hook-changes-id",
    what: "before can change the id of a resource.",
    noticedBy: "test/capabilities/code/hook-failures",
    test: "a hook that fails by id writes nothing, and the log says why",
    replacements: [['if (!isSame) throw new Error("before cannot set or change the id.");', "void isSame;"]],
  },
  {
    name: "hook-names-hidden",
    what: "The refusal of a hook names an attribute that the caller cannot see.",
    noticedBy: "test/capabilities/code/hook-context",
    test: "before sets attributes that the caller cannot set or see, and a refusal at one of them has no pointer",
    replacements: [
      [
        "const isHidden = name !== undefined && (!canRead || visibility?.hidden.has(name) === true);",
        "const isHidden = name !== undefined && !canRead;",
      ],
    ],
  },
  {
    name: "hook-never-pauses",
    what: "A hook that always ends its worker starves the other hooks.",
    noticedBy: "test/capabilities/code/hook-failures",
    test: "a hook that ends its worker five times in a minute fails at once, and other hooks still run",
    replacements: [["if (recent.length >= tooOften.ends) this.#pause(place);", ""]],
  },
  {
    name: "hook-sees-overtaken",
    what: "After another write was faster, before gets the same previous once more, so a count is lost.",
    noticedBy: "test/capabilities/code/hook-instances",
    test: "64 clients that count through before of two instances lose no count",
    replacements: [
      [
        'const hooked = { operation: "update", id, previous, now: at } as const;',
        'const { seen } = Object.assign(write, { seen: (write as { seen?: string }).seen ?? previous });\n  const hooked = { operation: "update", id, previous: seen, now: at } as const;',
      ],
    ],
  },
];
