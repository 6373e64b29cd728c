/** The tools that list changes and undo them. */
import { z } from 'zod';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { AuditEntry } from '../../../kernel/auditLog.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { LOOSENING_KINDS } from '../../../kernel/loosening.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import { type Given, guidance, reading, wholeNumber, writing } from '../../../mcp/tool.ts';
import { type AuditFilter, callWorkspace, ownOf } from '../rules/audit.ts';
import type { RefusedUndo, Undone } from '../rules/undo.ts';
import { cursor, defineTool, pageShape, timeAfter } from './systemPages.ts';

const fields = z.record(z.string(), z.unknown());

const changeShape = z.object({
  kind: z.string().describe('Kind of the item, such as task, todo, member, workflow or document.'),
  id: z.string(),
  before: fields.optional().describe('Earlier values of the changed fields; absent if the item did not exist.'),
  after: fields.optional().describe('New values of the changed fields; absent if the item was deleted.'),
  shortened: z.boolean().optional().describe('Whether long values were truncated.'),
});

const eventShape = z.object({
  event_id: z.string(),
  at: z.iso.datetime(),
  by: z.string().describe("The agent id, or the person's uid."),
  credential_of: z.string().optional().describe('The agent whose credential was used, if it is another agent.'),
  on_behalf_of: z.string().describe("The person's uid."),
  app: z.string().optional().describe('The connection that was used.'),
  run_id: z.string().optional(),
  tool: z.string(),
  workspace: z.string().optional().describe('Workspace of the call; absent if you have no role in it.'),
  changes: z.array(changeShape),
  undoes: z.string().optional().describe('The event that this event undid.'),
  undone_by: z.string().optional().describe('The event that undid this event.'),
});

const instant = z.iso.datetime({ offset: true }).optional();

export const getAudit = defineTool({
  name: 'getAudit',
  title: 'Audit log',
  description: 'Lists who changed what, when and with which tool, newest first. system.undo reverts changes.',
  details:
    'Each event is one commit of one call, with all changed items before and after it. Shows events of you and your agents or, for leaders, of a workspace. Omits heartbeats and reads.',
  input: z.strictObject({
    of: z.enum(['mine', 'workspace']).default('mine').describe("workspace: everyone's changes; leaders only"),
    agent_id: idOf('an agent').optional().describe('By agent'),
    run_id: idOf('a run').optional().describe('By run'),
    thing: z
      .string()
      .max(2000)
      .refine((name) => /^[a-z_]+:./.test(name), 'expected a kind and an id, as in "task:task-123"')
      .optional()
      .describe('Such as "task:task-123"'),
    since: instant.describe('Start time'),
    until: instant.describe('End time'),
    limit: wholeNumber(1, 100).default(20).describe('1 to 100'),
    cursor,
  }),
  output: z.object({ events: z.array(eventShape), ...pageShape }),
  ...reading,
  returnsWhole: true,
  example: { limit: 5 },
  handler: async ({ services, principal, workspace }, { limit, cursor: encoded, ...asked }) => {
    const question = JSON.stringify(asked);
    const page = { limit, after: timeAfter(question, encoded) };
    const { of, since, until } = asked;
    const request = {
      of,
      narrowed: narrowedBy(asked, (name) => services.system.audit.byAgent(principal, name)),
      since: since === undefined ? undefined : new Date(since),
      until: until === undefined ? undefined : new Date(until),
    };
    const { items, more, last } = await services.system.audit.list(principal, workspace, request, page);
    const all = items.map((entry) => eventResponse(principal, entry));
    const events = fittingItems(all, (event) => event);
    const isCut = events.length < all.length;
    const end = isCut ? items[events.length - 1] : last;
    return {
      events,
      truncated: more || isCut,
      ...(end && { nextCursor: encodeCursor(question, { order: [end.at.getTime()], id: end.id }) }),
    };
  },
});

type ByAgent = (name: string) => NonNullable<AuditFilter['narrowed']>;

type Narrowing = Readonly<Partial<Record<'agent_id' | 'run_id' | 'thing', string | undefined>>>;

/** @throws MusterError VALIDATION_ERROR if more than one filter is set */
function narrowedBy({ agent_id, run_id, thing }: Narrowing, byAgent: ByAgent): AuditFilter['narrowed'] {
  const named = [
    ...(agent_id === undefined ? [] : [byAgent(agent_id)]),
    ...(run_id === undefined ? [] : [{ runId: run_id }]),
    ...(thing === undefined ? [] : [{ thing }]),
  ];
  if (named.length <= 1) return named[0];
  throw new MusterError('VALIDATION_ERROR', 'Choose one filter: agent_id, run_id or thing.', {
    field: 'thing',
    suggestion: 'Set only one of them.',
  });
}

function eventResponse(principal: Principal, entry: AuditEntry): Given<z.output<typeof eventShape>> {
  const { id, at, by, effects, undoes, undone_by } = entry;
  return {
    event_id: id,
    at,
    by: by.agent_id ?? by.uid,
    credential_of: by.credential_of,
    on_behalf_of: by.owner_uid,
    app: by.grant_id,
    run_id: by.run_id,
    tool: by.tool,
    workspace: callWorkspace(principal, entry),
    changes: effects.map(({ kind, id, before, after, cut }) => ({ kind, id, before, after, shortened: cut })),
    undoes,
    undone_by,
  };
}

const itemShape = z.object({ kind: z.string(), id: z.string() });

/** Limits that an undo may loosen. The registration of an agent cannot be undone. */
const UNDOABLE = LOOSENING_KINDS.filter((kind) => kind !== 'agent');

export const undo = defineTool({
  name: 'undo',
  title: 'Undo',
  description:
    'Undoes a change listed by system.getAudit, or all changes by a run, or by an agent since a time; restores the earlier state.',
  details:
    'Each event is undone in one commit, if its items have not changed since; refusals say why and who changed them. External effects (email, pull requests, paid model calls) stay. At most 50 events per call, newest first; nextCursor continues with older ones.',
  input: z.strictObject({
    event_id: idOf('an event').optional().describe('One event'),
    agent_id: idOf('an agent').optional().describe("This agent's changes"),
    run_id: idOf('a run').optional().describe("All this run's changes"),
    since: z.iso.datetime({ offset: true }).optional().describe('Start time; with agent_id'),
    cursor,
  }),
  output: z.object({
    success: z.boolean(),
    events: z.array(z.string()).describe('The events that were undone.'),
    undone: z.array(itemShape).describe('Items that were restored.'),
    refused: z
      .array(
        itemShape.extend({
          event_id: z.string(),
          why: guidance(),
          changed_by: z.string().optional().describe('Agent or person that last changed the item after this event.'),
          changed_at: z.iso.datetime().optional(),
          changed_with: z.string().optional().describe('Tool with which that change was made.'),
        }),
      )
      .describe('Items that were not restored, with the reason.'),
    more: z.boolean().describe('Whether there are older events; nextCursor continues with them.'),
    nextCursor: z.string().optional(),
  }),
  ...writing('worker', { destructiveHint: true, idempotentHint: true }, UNDOABLE),
  example: { agent_id: 'agent-001', since: '2099-01-01T00:00:00Z' },
  response: ({ events, things, refused, more, last }: Undone, asked) => ({
    success: refused.length === 0,
    events,
    undone: things,
    refused: refused.map(refusedResponse),
    more,
    nextCursor: last && encodeCursor(questionOf(asked), { order: [last.at.getTime()], id: last.id }),
  }),
  handler: ({ services, caller, workspace, recordResponse }, { event_id, ...several }) => {
    const { undoing, audit } = services.system;
    if (event_id !== undefined) {
      if (Object.keys(several).length > 0) throw requireOneFilter();
      return undoing.undoEvent(caller, event_id, recordResponse);
    }
    const { cursor: encoded, ...asked } = several;
    const after = timeAfter(questionOf(asked), encoded);
    const { principal } = caller;
    const filter = filterOf({ principal, workspace }, asked, (name) => audit.byAgent(principal, name));
    return undoing.undoSeveral(caller, filter, after, recordResponse);
  },
});

/** Returns the arguments that a cursor belongs to, as text. */
function questionOf({ agent_id, run_id, since }: UndoFilter): string {
  return JSON.stringify([agent_id, run_id, since]);
}

type UndoFilter = Readonly<Partial<Record<'agent_id' | 'run_id' | 'since', string | undefined>>>;

/**
 * Selects only changes on behalf of the caller's owner and, of an agent, only those by calls in the workspace. Other
 * changes can be undone only one event at a time.
 */
function filterOf(
  { principal, workspace }: { readonly principal: Principal; readonly workspace: string },
  { agent_id, run_id, since }: UndoFilter,
  byAgent: ByAgent,
): AuditFilter {
  const whose = ownOf(principal);
  if (run_id !== undefined) {
    if (agent_id !== undefined || since !== undefined) throw requireOneFilter();
    return { whose, narrowed: { runId: run_id } };
  }
  if (agent_id === undefined || since === undefined) throw requireOneFilter();
  return { whose: { ...whose, calledIn: workspace }, narrowed: byAgent(agent_id), since: new Date(since) };
}

function requireOneFilter(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'Nothing to undo was specified.', {
    field: 'event_id',
    suggestion: 'Set event_id, run_id, or both agent_id and since.',
  });
}

function refusedResponse({ eventId, effect, error, since }: RefusedUndo) {
  return {
    kind: effect.kind,
    id: effect.id,
    event_id: eventId,
    why: error.message,
    changed_by: since && (since.by.agent_id ?? since.by.uid),
    changed_at: since?.at,
    changed_with: since?.by.tool,
  };
}
