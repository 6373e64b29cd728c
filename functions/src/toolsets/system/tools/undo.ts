import { z } from 'zod';
import type { Principal } from '../../../identity/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import type { Effect } from '../../../kernel/trail.ts';
import { guidance } from '../../../mcp/tool.ts';
import { ownOf, type TrailFilter } from '../rules/audit.ts';
import type { Refused, Undone } from '../rules/undo.ts';
import { cursor, defineTool, placeAfter } from './systemPages.ts';

const thingShape = z.object({ kind: z.string(), id: z.string() });

export const undo = defineTool({
  name: 'undo',
  title: 'Take back',
  description: 'Takes back an event of system.getAudit, or what an agent or a run has done since.',
  details:
    'Each event is taken back in one commit, by a new change, as far as nobody has changed the same since; what was refused says why, and who changed it. What has left Muster (a mail, a pull request, a model that was paid) stays. At most 50 events a call, the newest first; nextCursor goes on with older ones.',
  input: z.strictObject({
    event_id: idOf('an event').optional().describe('One event'),
    agent_id: idOf('an agent').optional().describe('Or what it has done'),
    run_id: idOf('a run').optional().describe('Or what it has done'),
    since: z.iso.datetime({ offset: true }).optional().describe('From then on; with agent_id'),
    cursor,
  }),
  output: z.object({
    success: z.boolean(),
    events: z.array(z.string()).describe('The events that were taken back.'),
    undone: z.array(thingShape).describe('What is as it was.'),
    refused: z
      .array(
        thingShape.extend({
          event_id: z.string(),
          why: guidance(),
          changed_by: z.string().optional().describe('Who has changed it since.'),
          changed_at: z.iso.datetime().optional(),
          changed_with: z.string().optional().describe('By which tool.'),
        }),
      )
      .describe('What is not, and why.'),
    more: z.boolean().describe('Whether there are older events: call again with nextCursor.'),
    nextCursor: z.string().optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: ['approvals', 'budget', 'member', 'access', 'repositories', 'routing'],
  role: 'worker',
  audience: 'those who administer',
  example: { agent_id: 'agent-001', since: '2099-01-01T00:00:00Z' },
  answer: ({ events, things, refused, more, last }: Undone, asked) => ({
    success: refused.length === 0,
    events: [...events],
    undone: things.map(thingAnswer),
    refused: refused.map(refusedAnswer),
    more,
    nextCursor: last && encodeCursor(questionOf(asked), { order: [last.at.getTime()], id: last.id }),
  }),
  handler: ({ services, caller, recordAnswer }, { event_id, ...several }) => {
    const { undoing } = services.system;
    if (event_id !== undefined) {
      if (Object.keys(several).length > 0) throw oneOf();
      return undoing.event(caller, event_id, recordAnswer);
    }
    const { cursor: encoded, ...asked } = several;
    const place = placeAfter(questionOf(asked), encoded);
    const at = place?.order[0];
    const after = place && at !== undefined ? { at: new Date(at), id: place.id } : undefined;
    return undoing.several(caller, filterOf(caller.principal, asked), after, recordAnswer);
  },
});

/** What a cursor is good for, as text. */
function questionOf({ agent_id, run_id, since }: Several): string {
  return JSON.stringify([agent_id, run_id, since]);
}

interface Several {
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly since?: string | undefined;
}

/** Of what was done on the caller's own behalf: what others' agents did is taken back event by event. */
function filterOf(principal: Principal, { agent_id, run_id, since }: Several): TrailFilter {
  const whose = ownOf(principal);
  if (run_id !== undefined) {
    if (agent_id !== undefined || since !== undefined) throw oneOf();
    return { whose, narrowed: { runId: run_id } };
  }
  if (agent_id === undefined || since === undefined) throw oneOf();
  return { whose, narrowed: { agentId: agent_id }, since: new Date(since) };
}

function oneOf(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'It does not say what is to be taken back.', {
    field: 'event_id',
    suggestion: 'Give event_id, or agent_id with since, or run_id.',
  });
}

function thingAnswer({ kind, id }: Effect): z.output<typeof thingShape> {
  return { kind, id };
}

function refusedAnswer({ eventId, effect, error, since }: Refused) {
  return {
    ...thingAnswer(effect),
    event_id: eventId,
    why: error.message,
    changed_by: since && (since.by.agent_id ?? since.by.uid),
    changed_at: since?.at.toISOString(),
    changed_with: since?.by.tool,
  };
}
