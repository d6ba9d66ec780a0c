/** Words and phrases that pages and messages do not use, with what to write instead. The glossary has one word for one thing. */

/** A phrase. */
export interface Avoided {
  pattern: RegExp;
  /** What to write instead. */
  instead: string;
}

const person = "you, a client, a caller, anyone; or name the role";

/** In the order in which faults are reported. Each pattern is looked for in all of a text, without regard to case. */
export const avoided: readonly Avoided[] = [
  { pattern: /\b(?:whoever|whom|whomever|nobody|somebody|everybody|anybody)\b/, instead: person },
  { pattern: /\b(?:those|ones?|one) who\b|\bwho(?:ever)? asks\b/, instead: "callers that, users who" },
  { pattern: /\banew\b/, instead: "again" },
  { pattern: /\b(?:thus|hence)\b/, instead: "so, therefore" },
  { pattern: /\bheeds?\b/, instead: "follows, respects" },
  {
    // "The error tells you whether …" and "you cannot tell whether …" are good English.
    pattern: /\b(?:is|are|was|were|be|been) told\b|\btells?\b(?! (?:you|an?|the|whether|which|how)\b)/,
    instead: "says, shows, reports; receives",
  },
  { pattern: /\bstands? for\b/, instead: "means, represents" },
  // "The resource as it is now" is good English.
  {
    pattern: /\bsuch as it is\b|\bas (?:it|they) (?:is|are)\b(?! (?:now|today|at)\b)/,
    instead: "unchanged",
  },
  { pattern: /\bin the end\b/, instead: "at the end, finally, eventually" },
  // "A word of its own" is good English.
  { pattern: /(?<!\ban? (?:[\w-]+ ){1,2})\bof (?:its|their) own\b/, instead: "its own …, separate" },
  { pattern: /\bbe it\b/, instead: "whether" },
  { pattern: /\ball the same\b/, instead: "nevertheless, also" },
  {
    pattern: /\b(?:is|are|was|were) (?:not |no longer )?there\b(?! (?:is|are))|\bnot there\b/,
    instead: "exists, does not exist",
  },
  {
    pattern: /\b(?:is|are|has|have|had|gives?|of) none\b|\bwhat is none\b/,
    instead: "has no …, does not exist",
  },
  {
    pattern: /\bwhat is (?:kept|declared|stored|sent|written|asked)\b/,
    instead: "the noun: stored resources, the declaration",
  },
  {
    pattern: /\blets? in\b|\bleads? on\b|\blooks? after\b|\bgoes along\b|\bgo along\b/,
    instead: "accepts; links to; maintains; includes",
  },
  { pattern: /\bspr(?:ings?|ang|ung) into being\b/, instead: "is created" },
  { pattern: /\bthe latter\b|\bthe former\b|\brespectively\b/, instead: "repeat the noun" },
  { pattern: /\baffairs?\b/, instead: "responsibility, task" },
  { pattern: /\bbegun\b/, instead: "started" },
  {
    pattern: /\b(?:service|client|list|request|response|schema|store|tool|program|database) wants\b/,
    instead: "needs, asks for",
  },
  { pattern: /\bno room\b|\broom (?:for|left|to write)\b|\bneeds? leave\b/, instead: "space; permission" },
  { pattern: /\bof (?:which|whom)\b/, instead: "a second sentence" },
  { pattern: /(?:^|[.!?:] )meanwhile\b/, instead: "at the same time" },
  { pattern: /\bheader fields?\b|\bfield lines?\b/, instead: "header, headers" },
  {
    pattern: /\b(?:an|the|its|each|every|no|any|first|kept|stored|this|that|whole) answers?\b/,
    instead: "response",
  },
  { pattern: /\bmistakes?\b/, instead: "error" },
  { pattern: /\buser agents?\b/, instead: "client" },
];

/** A sentence has at most this many words. */
export const longestSentence = 40;
