/** Arguments and outputs of paginated lists. */
import { z } from 'zod';
import { decodeCursor, type ListCursor, type PageRequest } from '../../../kernel/paging.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { SystemServices } from '../create.ts';

export const defineTool = toolsFor<SystemServices>();

export const cursor = z
  .string()
  .refine((text) => text.length <= 4000, 'expected a nextCursor of this tool')
  .optional()
  .describe('Previous nextCursor');

export const pageShape = {
  truncated: z.boolean().optional().describe('Whether more results exist; if given, nextCursor returns them.'),
  nextCursor: z.string().optional(),
};

/** @param filters filters of the list, as text @throws MusterError INVALID_FORMAT if the cursor has other filters */
export function cursorAfter(filters: string, encoded: string | undefined): ListCursor | undefined {
  const suggestion = 'Send nextCursor as cursor with the same filters, or omit cursor to start over.';
  return decodeCursor(filters, encoded, suggestion);
}

/** Returns the place after which a list that is ordered by one time continues. @throws like `cursorAfter` */
export function timeAfter(filters: string, encoded: string | undefined): PageRequest['after'] {
  const after = cursorAfter(filters, encoded);
  return after && { at: new Date(after.order[0] ?? 0), id: after.id };
}
