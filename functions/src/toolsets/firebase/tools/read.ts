import { z } from 'zod';
import { asStructured, database, defineTool, path, structured } from './dataAnswers.ts';

const bound = z.union([z.string(), z.number(), z.boolean()]);

const query = z.strictObject({
  orderBy: z.string().optional().describe('A field'),
  limit: z.number().int().min(1).max(1000).optional().describe('How many'),
  startAt: bound.optional().describe('First value included'),
  endAt: bound.optional().describe('Last value included'),
  cursor: z.string().min(1).max(4000).optional().describe('nextCursor of the page before'),
});

export const read = defineTool({
  name: 'read',
  title: 'Read data',
  description:
    'Reads a document, a collection or a node of Firebase as yourself: security rules decide. A Firestore path of an even number of segments is a document.',
  details:
    'With an odd number it is a collection, which is answered 100 documents at a time unless limit says otherwise; truncated tells that there is more, and nextCursor where it goes on. A single text, number or boolean of the Realtime Database comes as {".value": …}.',
  input: z.strictObject({
    database: database('Which database'),
    path: path('Segments with "/" between them'),
    query: query.optional().describe('Of a collection or children'),
    shallow: z.boolean().default(false).describe('Realtime Database: only the keys'),
  }),
  output: z.object({
    success: z.boolean(),
    data: structured.describe('Retrieved data'),
    metadata: z
      .object({
        path: z.string(),
        timestamp: z.iso.datetime(),
        count: z.int(),
        version: z.string().describe('For expectedVersion of firebase.write.'),
        truncated: z.boolean().describe('Whether there is more than this.'),
        nextCursor: z.string(),
        indexed: z
          .boolean()
          .describe('false where the whole node was read and sorted, for want of an index.'),
        note: z.string().describe('What to add to the rules, where there is no index.'),
      })
      .partial()
      .optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  ifTooLarge:
    'Name a deeper path, or read the children page by page with query.limit; of the Realtime Database, shallow gives the keys alone. At /mcp/rpc an answer goes out once, so one document that is too large here may fit there.',
  // The rules decide, and nothing before them.
  role: 'viewer',
  example: { database: 'firestore', path: 'agents/agent-001', query: { limit: 10 } },
  handler: async ({ services, caller }, input) => {
    const { query: asked, shallow } = input;
    const outcome = await services.data.read(caller, input.database, input.path, { query: asked, shallow });
    const { data, count, timestamp, version, nextCursor, missingIndex } = outcome;
    return {
      success: true,
      data: asStructured(data),
      metadata: {
        path: input.path,
        timestamp: timestamp.toISOString(),
        count,
        truncated: nextCursor !== undefined,
        ...(version !== undefined && { version }),
        ...(nextCursor !== undefined && { nextCursor }),
        ...(missingIndex !== undefined && { indexed: false, note: noteOf(missingIndex) }),
      },
    };
  },
});

function noteOf(missingIndex: string): string {
  return `There is no index for this order: the whole node was read and sorted, which ends at 1 MiB. ${missingIndex}.`;
}
