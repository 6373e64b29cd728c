/** Tools that read and write both databases with the caller's rights. Source: the network specification. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { isWrappedJson, JSON_TYPES, jsonTypeOf } from '../../../kernel/json.ts';
import { listedAs, OPEN_OBJECT } from '../../../mcp/jsonSchema.ts';
import { reading, writing } from '../../../mcp/tool.ts';
import { OPERATIONS, type WriteOutcome } from '../rules/databaseAccess.ts';
import { asStructured, database, defineTool, path, structured } from './dataResponses.ts';

const bound = z.union([z.string(), z.number(), z.boolean()]);

const query = z.strictObject({
  orderBy: z.string().optional().describe('Field'),
  limit: z.number().int().min(1).max(1000).optional().describe('Maximum'),
  startAt: bound.optional().describe('First value included'),
  endAt: bound.optional().describe('Last value included'),
  cursor: z.string().min(1).max(4000).optional().describe('From nextCursor'),
});

export const read = defineTool({
  name: 'read',
  title: 'Read data',
  description:
    'Reads a Firestore document or collection, or a Realtime Database node, as you; security rules apply. Even-segment Firestore paths are documents.',
  details:
    'Firestore paths with an odd number of segments are collections; a call returns up to `limit` documents, by default 100. If `truncated` is true, nextCursor continues. A Realtime Database node that is a string, number or boolean is returned as {".value": …}.',
  rare: ['endAt', 'startAt'],
  input: z.strictObject({
    database: database('Database'),
    path: path('Segments separated by "/"'),
    query: query.optional().describe('For a collection or children'),
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
        truncated: z.boolean().describe('Whether there is more; nextCursor continues.'),
        nextCursor: z.string(),
        indexed: z.boolean().describe('false if the whole node was read and sorted because an index is missing.'),
        note: z.string().describe('Rule to add if an index is missing.'),
      })
      .partial()
      .optional(),
  }),
  // No role is required, because the security rules decide about each access.
  ...reading,
  returnsWhole: true,
  ifTooLarge:
    'Use a deeper path, or read the children in pages with query.limit; for the Realtime Database, shallow returns only the keys. A response of /mcp/rpc contains the data only once, so a document that is too large here may fit there.',
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
        ...(missingIndex !== undefined && { indexed: false, note: `${NO_INDEX} ${missingIndex}.` }),
      },
    };
  },
});

const NO_INDEX = 'This order has no index, so the whole node was read and then sorted. This only works up to 1 MiB.';

const TYPES = [
  OPEN_OBJECT,
  { type: 'array', items: {} },
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'null' },
];

/** Accepts all types but lists one: Genkit omits required properties with several types, and Gemini rejects this. */
const data = listedAs({ ...OPEN_OBJECT, anyOf: TYPES }, z.json());

const writeInput = z.strictObject({
  database: database('Database'),
  path: path('Path to write'),
  data: data.describe('Data to write'),
  operation: z.enum(OPERATIONS).default('set').describe('Operation'),
  merge: z.boolean().default(false).describe('Firestore set: keep other fields'),
  transaction: z.boolean().default(false).describe('CONFLICT if data changed since read'),
  expectedVersion: z.string().max(200).optional().describe('With transaction: metadata.version of your read'),
  mustNotExist: z.boolean().optional().describe('With transaction: CONFLICT if data exists'),
});

export const write = defineTool({
  name: 'write',
  title: 'Write data',
  description:
    'Writes to Firebase as you; security rules apply. set replaces, update changes fields, push adds a key, delete removes (data: {}). messages/, shared/: free-form.',
  details:
    'set with merge keeps other fields. update requires an existing target. delete succeeds even if nothing is there. With transaction, a write is a CONFLICT if the data has changed, is not at expectedVersion, or exists despite mustNotExist.',
  input: writeInput,
  output: z.object({
    success: z.boolean(),
    key: z.string().optional().describe('Generated key for push operations'),
    metadata: z
      .object({
        path: z.string(),
        timestamp: z.iso.datetime(),
        operation: z.string(),
        version: z.string(),
        type: z.enum(JSON_TYPES).describe('Type of the data as stored'),
        note: z.string().describe('Present if the data was stored as text but looks like an object or a list'),
      })
      .partial()
      .optional(),
  }),
  // No role is required, because the security rules decide about each access.
  ...writing('viewer', { destructiveHint: true, idempotentHint: false }),
  example: {
    database: 'firestore',
    path: 'messages/conversations/conv-123',
    data: {
      from: 'agent-001',
      to: 'agent-002',
      message: 'Task completed successfully',
      timestamp: '2025-11-03T10:35:00Z',
    },
    operation: 'push',
  },
  handler: async ({ services, caller, operation }, input) => {
    const { database: name, path: text, mustNotExist, ...rest } = input;
    const request = { ...rest, expectedVersion: expected(input) };
    const answer = ({ key, timestamp, version }: WriteOutcome) => ({
      success: true,
      ...(key !== undefined && { key }),
      metadata: {
        path: text,
        timestamp: timestamp.toISOString(),
        operation: input.operation,
        ...(version !== undefined && { version }),
        ...(input.operation !== 'delete' && storedAs(input.data)),
      },
    });
    const recordResponse = (written: WriteOutcome) => operation.recordResponse(answer(written));
    const place = { database: name, text };
    const outcome = await services.data.write(caller, place, request, { operation, recordResponse });
    return answer(outcome);
  },
});

const STORED_AS_TEXT =
  'The data was stored as text. To store an object or a list, send it directly as data, not as JSON text.';

/** Returns the stored type of the data, and a note if the data is text that looks like JSON. */
function storedAs(data: unknown) {
  return { type: jsonTypeOf(data), ...(isWrappedJson(data) && { note: STORED_AS_TEXT }) };
}

/** @throws MusterError VALIDATION_ERROR if `mustNotExist` is used with a version or without `transaction` */
function expected({ mustNotExist = false, expectedVersion, transaction }: z.output<typeof writeInput>) {
  if (!mustNotExist) return expectedVersion;
  const wrong =
    expectedVersion === undefined ? 'requires transaction: true' : 'cannot be combined with expectedVersion';
  if (expectedVersion === undefined && transaction) return null;
  throw new MusterError('VALIDATION_ERROR', `mustNotExist ${wrong}.`, {
    field: 'mustNotExist',
    reason: 'INVALID_REQUEST',
  });
}
