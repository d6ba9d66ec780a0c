/** Faults of `changes`, and of what the feed needs of other rooms. */
import type { Fault } from "../faults.ts";

export const changesFaults: readonly Fault[] = [
  {
    name: "monitor-after-snapshot",
    what: "The position in the monitor link of a list is read after the page, so a change between the two is missed.",
    noticedBy: "test/http/events",
    test: "the events after a list begin with the first change that its page does not have",
    replacements: [
      [
        "const mark = feed.log.markAt(collection.name, page.sequence);",
        "const mark = feed.log.now([collection.name]).then((marks) => marks[0] as Mark);",
      ],
    ],
  },
  {
    name: "filter-forgets-before",
    what: "A filter of the feed does not look at the text before a change, so a resource that enters the view is not created.",
    noticedBy: "test/client/events",
    test: "a feed gives what a collection's subscriber sees, and resources can be replaced by it",
    replacements: [
      [
        'const wasSeen = change.superseded !== undefined && isSeen(view, parsed(change, "superseded"));',
        "const wasSeen = change.superseded !== undefined;",
      ],
    ],
  },
  {
    name: "page-splits-commit",
    what: "A page of the feed ends between two changes of one commit.",
    noticedBy: "test/http/events",
    test: "a page never ends between the changes of one commit, and they share a group",
    replacements: [
      [
        "const isWithin = isSame && this.#end.splitsCommits !== true;",
        "const isWithin: boolean = isSame && false;",
      ],
    ],
  },
  {
    name: "postgres-head-unlocked",
    what: "PostgreSQL: a commit does not hold the lock of the head until its end, so a later sequence can be committed first.",
    noticedBy: "test/postgres/feed-order",
    test: "a commit that has its sequence holds back later ones, so that nobody reads beyond it",
    replacements: [
      [
        "await transaction.runPlan(flush(this.#parts, staged));",
        "await this.#parts.connections.runPlan(flush(this.#parts, staged));",
      ],
    ],
  },
  {
    name: "erase-without-note",
    what: "An erase does not note the gap in the change log, so since=start is gone again and again.",
    noticedBy: "test/store/sqlite",
    test: "an erase and a time without history are noted as gaps in the log",
    replacements: [
      ["head.gapsUpTo = head.sequence;\n      return done(undefined);", "return done(undefined);"],
    ],
  },
  {
    name: "stream-keeps-rights",
    what: "A stream of events is judged once, so it goes on after the key was revoked.",
    noticedBy: "test/http/event-views",
    test: "a stream ends soon after its key was revoked, and a waiting page is refused",
    replacements: [
      [
        "this.#service.elapsed() - this.#checkedAt > checkedMs;",
        "this.#service.elapsed() - this.#checkedAt > checkedMs * 1e9;",
      ],
    ],
  },
  {
    name: "quiet-stream-unchecked",
    what: "A stream of events without events is not checked until the next heartbeat, so it outlives its key.",
    noticedBy: "test/http/event-rights",
    test: "a stream without events ends soon after its token has expired, or its key was revoked",
    replacements: [["subscriber.hasCredential ? Math.min(now, until) : until", "until"]],
  },
  {
    name: "slow-read-unchecked",
    what: "A stream of events is not checked after a read that took long, so it sends events to a token that has expired.",
    noticedBy: "test/http/event-rights",
    test: "a token that expires while the log is read gets no event of this read",
    replacements: [["if (next.bytes.length > 0 && subscriber.isOld) {", "if (next.bytes.length < 0) {"]],
  },
  {
    name: "quiet-stream-falls-behind",
    what: "The position of a stream moves on only with its events, so that of a filtered stream falls behind the log.",
    noticedBy: "test/http/filtered-streams",
    test: "the position of a stream that sees none of the changes keeps up with the log",
    replacements: [
      [
        "      position = next.position;\n      const isQuiet",
        "      if (next.bytes.length > 0) position = next.position;\n      const isQuiet",
      ],
    ],
  },
  {
    name: "event-text-not-shared",
    what: "The text of an event is made again for each filter.",
    noticedBy: "test/http/shared-streams",
    test: "one read and one text of each event serve all subscribers that see the same",
    replacements: [["recentEvents.set(change, events.set(name, text));", ""]],
  },
  {
    name: "busy-collection-first",
    what: "A feed of several collections always reads the first one first, so a busy one delays the others without end.",
    noticedBy: "test/http/busy-streams",
    test: "a busy collection does not delay the events of the others",
    replacements: [["if (views.length < 2) return views;", "if (views.length > 0) return views;"]],
  },
  {
    name: "open-feed-unaware",
    what: "A feed of all collections does not look for those that another instance has created, so their positions are refused.",
    noticedBy: "test/postgres/feed-wakes",
    test: "now is after the last change, also of a collection that the other instance has just created",
    replacements: [["await store.logHeads([]);", "await Promise.resolve(store);"]],
  },
  {
    name: "heads-not-compared",
    what: "PostgreSQL: the poll of the heads never finds a change, so streams do not get the commits of other instances.",
    noticedBy: "test/postgres/feed-wakes",
    test: "a commit of one instance wakes the streams of the other",
    replacements: [["before?.get(name)?.sequence !== sequence", "before !== before && sequence > 0"]],
  },
  {
    name: "stream-place-kept",
    what: "The place of a stream that has ended is never free again.",
    noticedBy: "test/http/shared-limits",
    test: "streams of many callers are counted as if each had a counter",
    replacements: [["return onlyOnce(() => add(key, -1));", "return () => {};"]],
  },
  {
    name: "live-list-of-other-caller",
    what: "The client's live list goes on with another token as if the rights were the same.",
    noticedBy: "test/client/live-rights",
    test: "a live list is read again with another token, and ends without a valid one",
    replacements: [
      [
        "if (answer.credential === expected.credential) return answer;",
        "if (expected !== undefined) return answer;",
      ],
    ],
  },
  {
    name: "old-receiver",
    what: "After a change of a webhook, deliveries still go out as it was before.",
    noticedBy: "test/capabilities/webhooks/http/changed",
    test: "after the answer to a change, the old address gets nothing more",
    store: "postgres", // with two instances
    replacements: [
      [
        "(await records.webhook(id))?.version === version,",
        "(await records.webhook(id)) !== undefined && version > 0,",
      ],
    ],
  },
  {
    name: "withdrawn-content",
    what: "The feed shows what was withdrawn from its reader.",
    noticedBy: "test/http/withdrawn-events",
    test: "what was public is not in the feed of others once it is private, and they get the event that it left",
    replacements: [
      [
        "states.every((state) => state !== undefined && maySee(view, state))",
        "states.every((state) => state !== undefined || maySee(view, {}))",
      ],
    ],
  },
  {
    name: "withdrawn-lives",
    what: "The feed judges an earlier life of an id by its present life.",
    noticedBy: "test/http/withdrawn-events",
    test: "of an earlier life, the last state of that life decides too, with 0 changes in between",
    replacements: [["return end === undefined ? states : [...states, before(end)];", "return states;"]],
  },
  {
    name: "withdrawn-lives-later",
    what: "A page of the feed that does not reach the end of the log judges an earlier life by the present one.",
    noticedBy: "test/http/withdrawn-events",
    test: "of an earlier life, the last state of that life decides too, with 120 changes in between",
    replacements: [["end === undefined ? [last] : [last, stateOf(end.text)]", "[last]"]],
  },
  {
    name: "withdrawn-frames",
    what: "A stream sends frames that were made before the change that withdraws their content.",
    noticedBy: "test/http/withdrawn-events",
    test: "streams that begin at one place, before and after the change, get different events",
    replacements: [
      [
        "const isKept = !views.some(isConditional);",
        "const isKept = !views.some(isConditional) || views.length > 0;",
      ],
    ],
  },
];
