import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import type { Reopened } from '../rules/archives.ts';
import { archivedAnswer, archivedShape, defineTool } from './coordinationAnswers.ts';

export const reopen = defineTool({
  name: 'reopen',
  title: 'Reopen a session',
  description: 'Brings an archived session back with its tasks, and archives the open one.',
  details:
    'Without session_id it is the one that was archived last. Tasks that runs waited for were cancelled with the archiving, and their runs have ended: start those workflows again. All other tasks are as they were.',
  input: z.strictObject({
    session_id: idOf('a session').optional().describe('The last archived if left out'),
  }),
  output: z.object({
    success: z.boolean(),
    session_id: z.string(),
    goal: z.string(),
    created_at: z.string(),
    open_tasks: archivedShape.open_tasks,
    held_tasks: archivedShape.held_tasks,
    archived_session: z.object(archivedShape).optional().describe('The session that made room.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {},
  answer: ({ session, open, held, archived }: Reopened) => ({
    success: true,
    session_id: session.id,
    goal: session.goal,
    created_at: session.created_at.toISOString(),
    open_tasks: open,
    held_tasks: held,
    archived_session: archived && archivedAnswer(archived),
  }),
  handler: ({ services, workspace, recordAnswer }, { session_id }) =>
    services.coordination.archives.reopen(workspace, session_id, recordAnswer),
});
