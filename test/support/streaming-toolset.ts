/** A toolset for tests of streaming: a tool that sends notifications, and the real event subscriptions. */
import { z } from 'zod';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { templatesFor } from '../../functions/src/mcp/resource.ts';
import { type Toolset, toolsFor } from '../../functions/src/mcp/tool.ts';
import { eventSource, templates } from '../../functions/src/toolsets/firebase/index.ts';

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Counters for calls of the tool `tell`. */
export interface Told {
  /** Number of calls that wait for their client to disconnect. */
  waiting: number;
  /** Number of calls whose client has disconnected. */
  missing: number;
}

export function streamingToolset(reported: Told): Toolset {
  const tell = toolsFor<unknown>()({
    name: 'tell',
    title: 'Tell',
    description: 'Notifies of each text, and then answers, or waits until its client has gone.',
    input: z.strictObject({
      texts: z.array(z.string()).default([]).describe('What to notify of'),
      stages: z.number().default(0).describe('How many stages of progress to tell'),
      stay: z.boolean().default(false).describe('Whether to wait'),
    }),
    output: z.object({ reported: z.number() }),
    annotations: reads,
    role: 'viewer',
    example: {},
    notifies: true,
    handler: async ({ notify, progress, disconnectSignal }, { texts, stages, stay }) => {
      for (let stage = 1; stage <= stages; stage++) progress({ progress: stage, message: `Stage ${stage}` });
      for (const text of texts) notify({ method: 'firebase.event', params: { text } });
      if (stay) await untilAborted(disconnectSignal(), reported);
      return { reported: texts.length };
    },
  });
  const shelf = templatesFor<unknown>()({
    uriTemplate: 'firebase://shelves/{shelf}/books/{book}',
    name: 'book',
    title: 'Book',
    description: 'A book on a shelf.',
    mimeType: 'application/json',
    role: 'viewer',
    variables: z.strictObject({ shelf: z.string(), book: z.string().max(10) }),
    read: async (_context, { shelf: where, book }) => {
      if (where === 'empty') throw new MusterError('NOT_FOUND', 'There is no such book.');
      return JSON.stringify({ shelf: where, book });
    },
  });
  return {
    name: 'firebase',
    instructions: 'Tells.',
    tools: [tell, { ...tell, name: 'report', notifies: 'stages' }],
    resources: [],
    templates: [shelf, ...templates],
    events: eventSource,
  };
}

function untilAborted(signal: AbortSignal, reported: Told): Promise<void> {
  return new Promise((resolve) => {
    reported.waiting += 1;
    const aborted = () => {
      reported.missing += 1;
      resolve();
    };
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}
