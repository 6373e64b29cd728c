/** The tools that read and write both databases as the caller. Source: the network specification. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { isWrappedJson, JSON_TYPES, jsonTypeOf } from '../../../kernel/json.ts';
import { listedAs, OPEN_OBJECT } from '../../../mcp/jsonSchema.ts';
import { OPERATIONS, type WriteOutcome } from '../rules/databaseAccess.ts';
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

/** The types that the specification lists. */
const TYPES = [
  OPEN_OBJECT,
  { type: 'array', items: {} },
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'null' },
];

/** All types are accepted, listed as one: Genkit drops a required property without a plain type, and Gemini then refuses it. */
const data = listedAs({ ...OPEN_OBJECT, anyOf: TYPES }, z.json());

export const write = defineTool({
  name: 'write',
  title: 'Write data',
  description:
    'Writes to Firebase as yourself: security rules decide; messages/ and shared/ are free-form. set replaces, update changes the fields named, push adds under a new key, delete removes (data: {}).',
  details:
    'set with merge keeps other fields. update is of what exists. delete succeeds whether or not something is there. With transaction, nothing is overwritten that was not read: what changed meanwhile, is not at expectedVersion, or exists despite mustNotExist, is a CONFLICT.',
  input: z.strictObject({
    database: database('Which database'),
    path: path('Path to write'),
    data: data.describe('Data to write'),
    operation: z.enum(OPERATIONS).default('set').describe('What to do'),
    merge: z.boolean().default(false).describe('Firestore set: keep other fields'),
    transaction: z.boolean().default(false).describe('Fail with CONFLICT if it changed meanwhile'),
    expectedVersion: z
      .string()
      .max(200)
      .optional()
      .describe('With transaction: metadata.version of your read'),
    mustNotExist: z.boolean().optional().describe('With transaction: nothing may be there yet'),
  }),
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
        note: z
          .string()
          .describe('Present if the data was stored as text and looks like an object or a list'),
      })
      .partial()
      .optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  // The rules decide, and nothing before them.
  role: 'viewer',
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
    const recordAnswer = (written: WriteOutcome) => operation.recordAnswer(answer(written));
    const place = { database: name, text };
    const outcome = await services.data.write(caller, place, request, { operation, recordAnswer });
    return answer(outcome);
  },
});

const STORED_AS_TEXT =
  'The data was stored as text. To store an object or a list, send it as data itself, not as JSON text.';

/** Returns the type of the data, with a note if the caller probably meant another one. */
function storedAs(data: unknown) {
  return { type: jsonTypeOf(data), ...(isWrappedJson(data) && { note: STORED_AS_TEXT }) };
}

/** @throws MusterError VALIDATION_ERROR if `mustNotExist` comes with a version, or without `transaction` */
function expected({
  mustNotExist = false,
  expectedVersion,
  transaction,
}: {
  readonly mustNotExist?: boolean | undefined;
  readonly expectedVersion?: string | undefined;
  readonly transaction: boolean;
}): string | null | undefined {
  if (!mustNotExist) return expectedVersion;
  const wrong =
    expectedVersion === undefined ? 'goes with transaction: true' : 'goes without expectedVersion';
  if (expectedVersion === undefined && transaction) return null;
  throw new MusterError('VALIDATION_ERROR', `mustNotExist ${wrong}.`, {
    field: 'mustNotExist',
    reason: 'INVALID_REQUEST',
  });
}
