import { z } from 'zod';
import type { ErrorEnvelope } from '../../../mcp/tool.ts';

/** spec/coding.md, "Tool Response Format". */
export const errorEnvelope: ErrorEnvelope = {
  show: ({ code, message }, { entries: _entries, ...details }) => ({
    status: 'error',
    message,
    error: { type: code, details },
  }),
  schema: z.object({
    status: z.enum(['success', 'error']),
    message: z.string(),
    error: z.object({ type: z.string(), details: z.record(z.string(), z.unknown()) }),
  }),
};
