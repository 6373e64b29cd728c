/** Behavior of a local model. It is data, so that tests can set it in the same process or over HTTP. */
import { z } from 'zod';
import { VENDORS } from './dialect.ts';

const milliseconds = z.int().min(0);

const answering = z.strictObject({
  does: z.literal('answer'),
  /** Waits until this many requests with the rule's text have arrived, so that the requests are concurrent. */
  company: z.int().min(2).optional(),
  /** Delay before the first word. */
  afterMs: milliseconds.optional(),
  text: z.string().optional(),
  /** Thoughts before the first word. They count as output. */
  thinks: z.string().optional(),
  /** Why the answer ends: it is complete, reaches the token limit, fills the context, or is a refusal. */
  end: z.enum(['complete', 'limit', 'full', 'refusal']).optional(),
  /** Number of events in a streamed response. Default: 3. */
  pieces: z.int().min(1).optional(),
  betweenMs: milliseconds.optional(),
  /** Whether a server with OpenAI's Chat Completions API reports usage. Default: true. */
  usage: z.boolean().optional(),
  /** Cost in US dollars that such a server reports. */
  costUsd: z.number().optional(),
});

const refusing = z.strictObject({
  does: z.literal('error'),
  status: z.int().min(400).max(599),
  /** Body of the response. Default: the vendor's error body for this status. */
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

/** Sends no response, or only the first `after` events, and leaves the connection open. */
const hanging = z.strictObject({ does: z.literal('hang'), after: z.int().min(1).optional() });

/** Sends the first `after` events, then ends early: normally, with a lost connection, or with an error event. */
const breaking = z.strictObject({
  does: z.literal('break'),
  after: z.int().min(0),
  text: z.string().optional(),
  how: z.enum(['end', 'loss', 'error']),
});

/** Resets the connection before any response. */
const hangingUp = z.strictObject({ does: z.literal('hangUp') });

/** Responds with status 200 and this body. */
const babbling = z.strictObject({ does: z.literal('babble'), body: z.string(), type: z.string().optional() });
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
  /** Vendor to which the requests are sent. Default: any vendor. */
  vendor: z.enum(VENDORS).optional(),
  /** Text that the prompt contains. Default: any text. */
  text: z.string().optional(),
  /** Maximum number of requests that match. Default: no limit. */
  times: z.int().min(1).optional(),
});

/** Conditions that select requests. */
export type Match = z.output<typeof match>;
export const rule = z.strictObject({ match, behavior });
