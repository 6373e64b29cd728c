/** Events of the audit log, as `system.getAudit` returns them. */
import { z } from 'zod/mini';
import { callTool } from '../../calls/tools.ts';

const fields = z.record(z.string(), z.unknown());

const change = z.object({
  kind: z.string(),
  id: z.string(),
  before: z.exactOptional(fields),
  after: z.exactOptional(fields),
  shortened: z.exactOptional(z.boolean()),
});
export type Change = z.output<typeof change>;

const page = z.object({
  events: z.array(
    z.object({
      event_id: z.string(),
      at: z.string(),
      by: z.string(),
      on_behalf_of: z.string(),
      app: z.exactOptional(z.string()),
      run_id: z.exactOptional(z.string()),
      tool: z.string(),
      changes: z.array(change),
      undoes: z.exactOptional(z.string()),
      undone_by: z.exactOptional(z.string()),
    }),
  ),
  nextCursor: z.exactOptional(z.string()),
});
export type AuditPage = z.output<typeof page>;
export type Event = AuditPage['events'][number];

/** Which events: one of the filters at most. */
export interface AuditFilter {
  readonly of?: 'mine' | 'workspace';
  readonly agent_id?: string;
  readonly thing?: string;
  readonly since?: string;
}

export const askAudit = (asked: AuditFilter, limit: number, cursor?: string): Promise<AuditPage> =>
  callTool('system.getAudit', { ...asked, limit, ...(cursor !== undefined && { cursor }) }, page);
