/** What a local model does with a request. It can be said in-process or, since it is data, over HTTP. */
import { z } from 'zod';

const milliseconds = z.int().min(0);

const answering = z.strictObject({
  does: z.literal('answer'),
  /** Only when so many requests that hold the rule's text have come, whoever they are for: races are sure to run. */
  company: z.int().min(2).optional(),
  /** How long it thinks before its first word. */
  afterMs: milliseconds.optional(),
  text: z.string().optional(),
  /** What it thinks before its first word, where that is shown; it counts as output. */
  thinks: z.string().optional(),
  /** How it ends: by itself, cut at the limit of tokens or where the context is full, or with a refusal. */
  end: z.enum(['complete', 'limit', 'full', 'refusal']).optional(),
  /** How many events a streamed answer has; 3 where absent. */
  pieces: z.int().min(1).optional(),
  betweenMs: milliseconds.optional(),
});

const refusing = z.strictObject({
  does: z.literal('error'),
  status: z.int().min(400).max(599),
  /** The body; the vendor's own for this status where absent. */
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

/** Never answers, or never more than so many events. */
const hanging = z.strictObject({ does: z.literal('hang'), after: z.int().min(1).optional() });

/** Breaks off after so many events: orderly, with the connection lost, or with an event that tells of an error. */
const breaking = z.strictObject({
  does: z.literal('break'),
  after: z.int().min(0),
  text: z.string().optional(),
  how: z.enum(['end', 'loss', 'error']),
});

/** The connection is reset before a word. */
const hangingUp = z.strictObject({ does: z.literal('hangUp') });

/** 200, and this. */
const babbling = z.strictObject({ does: z.literal('babble'), body: z.string(), type: z.string().optional() });

/** Sends the client elsewhere. */
const redirecting = z.strictObject({ does: z.literal('redirect'), location: z.string() });

export const behaviour = z.discriminatedUnion('does', [
  answering,
  refusing,
  hanging,
  breaking,
  hangingUp,
  babbling,
  redirecting,
]);

export type Behaviour = z.output<typeof behaviour>;

export const match = z.strictObject({
  /** Those of this vendor's API; all where absent. */
  vendor: z.enum(['anthropic', 'gemini']).optional(),
  /** Those whose prompt or system text holds this; all where absent. */
  text: z.string().optional(),
  /** So many of them; all where absent. */
  times: z.int().min(1).optional(),
});

/** Which requests. */
export type Match = z.output<typeof match>;

export const rule = z.strictObject({ match, behaviour });
