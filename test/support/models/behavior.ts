/** Responses of a local model to a request. As data, they can be set in-process or over HTTP. */
import { z } from 'zod';

const milliseconds = z.int().min(0);

const answering = z.strictObject({
  does: z.literal('answer'),
  /** Waits for this many requests that contain the rule's text, to any vendor, so that races run concurrently. */
  company: z.int().min(2).optional(),
  /** Thinking time before the first word. */
  afterMs: milliseconds.optional(),
  text: z.string().optional(),
  /** Thoughts before the first word, if shown; they count as output. */
  thinks: z.string().optional(),
  /** Reason for the end: complete, token limit, full context, or a refusal. */
  end: z.enum(['complete', 'limit', 'full', 'refusal']).optional(),
  /** Number of events in a streamed response; 3 if omitted. */
  pieces: z.int().min(1).optional(),
  betweenMs: milliseconds.optional(),
});

const refusing = z.strictObject({
  does: z.literal('error'),
  status: z.int().min(400).max(599),
  /** The body; the vendor's own for this status if omitted. */
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

/** Never responds, or stops after this many events. */
const hanging = z.strictObject({ does: z.literal('hang'), after: z.int().min(1).optional() });

/** Ends early after this many events: in order, with a lost connection, or with an error event. */
const breaking = z.strictObject({
  does: z.literal('break'),
  after: z.int().min(0),
  text: z.string().optional(),
  how: z.enum(['end', 'loss', 'error']),
});

/** Resets the connection before any response. */
const hangingUp = z.strictObject({ does: z.literal('hangUp') });

/** Status 200 with this body. */
const babbling = z.strictObject({ does: z.literal('babble'), body: z.string(), type: z.string().optional() });

/** Redirects the client. */
const redirecting = z.strictObject({ does: z.literal('redirect'), location: z.string() });

export const behavior = z.discriminatedUnion('does', [
  answering,
  refusing,
  hanging,
  breaking,
  hangingUp,
  babbling,
  redirecting,
]);

export type Behavior = z.output<typeof behavior>;

export const match = z.strictObject({
  /** Requests to this vendor's API; all if omitted. */
  vendor: z.enum(['anthropic', 'gemini']).optional(),
  /** Requests whose prompt or system text contains this; all if omitted. */
  text: z.string().optional(),
  /** Number of matching requests; all if omitted. */
  times: z.int().min(1).optional(),
});

/** Selects requests. */
export type Match = z.output<typeof match>;

export const rule = z.strictObject({ match, behavior });
