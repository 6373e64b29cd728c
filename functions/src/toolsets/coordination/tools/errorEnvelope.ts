import { z } from 'zod';
import type { ErrorEnvelope } from '../../../mcp/tool.ts';

/** spec/coordination.md, "Error Handling". */
export const errorEnvelope: ErrorEnvelope = {
  show: ({ message, details: { suggestion } }) => ({
    error: suggestion === undefined ? message : `${message} ${suggestion}`,
  }),
  schema: z.object({ error: z.string() }),
};
