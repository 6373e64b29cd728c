/** What a coding task's document has beside other tasks'. */

import { z } from 'zod';
import { jsonText } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { CODING_TOOLS, FAILURE_CLASSES } from '../rules/codingWork.ts';

const failure = z.object({ class: z.enum(FAILURE_CLASSES), message: z.string() });

export const codingDocument = z.object({
  tool: z.enum(CODING_TOOLS),
  instructions: z.string(),
  branch: z.string(),
  config: jsonText,
  project: z.string().nullable(),
  owner_uid: z.string(),
  queue_seconds: z.number(),
  queue_ends_at: timestamp,
  progress: z.string().nullable(),
  failure: failure.nullable(),
  attempts: z.array(
    z.object({
      claim_epoch: z.int(),
      agent_id: z.string(),
      ended_at: timestamp,
      failure,
      commits: z.array(z.object({ sha: z.string(), subject: z.string() })),
    }),
  ),
  result: z.object({ claim_epoch: z.int(), bytes: z.int(), parts: z.int() }).nullable(),
});

const resultPart = z.object({ json: z.string() });

/** A part of the JSON of what an attempt brought. */
export function resultPartFromDocument(data: unknown): string {
  return resultPart.parse(data).json;
}
