import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { isWrappedJson, JSON_TYPES, jsonTypeOf } from '../../../kernel/json.ts';
import { listedAs, OPEN_OBJECT } from '../../../mcp/jsonSchema.ts';
import { OPERATIONS, type WriteOutcome } from '../rules/databaseAccess.ts';
import { database, defineTool, path } from './dataAnswers.ts';

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
