/** Arguments and answers of the lists whose pages go by cursors. */

import { z } from 'zod';
import { decodeCursor, type Place } from '../../../kernel/paging.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { SystemServices } from '../create.ts';

export const defineTool = toolsFor<SystemServices>();

export const cursor = z
  .string()
  .refine((text) => text.length <= 4000, 'expected a nextCursor of this tool')
  .optional()
  .describe('nextCursor of the page before');

/** What a list says of its end. */
export const pageShape = {
  truncated: z.boolean().optional().describe('Whether there is more; nextCursor, where given, goes on.'),
  nextCursor: z.string().optional(),
};

/** @param filters of the list, as text @throws MusterError INVALID_FORMAT for no cursor of ours, or one of other filters */
export function placeAfter(filters: string, encoded: string | undefined): Place | undefined {
  const suggestion =
    'Send nextCursor with the same filters as before, or leave the cursor out to start again.';
  return decodeCursor(filters, encoded, suggestion);
}
