/** The trail: each commit of a call that changes a thing leaves one entry. Source: docs/decisions/0036-trail.md. */

import { z } from 'zod/mini';
import { documentCodec, type Fields, isTimestamp, jsonText, mapped, timestamp } from './documentCodec.ts';

/** What is free-form is stored as one text under this name: Firestore's documents do not hold all that JSON does. */
export const AS_JSON = '.json';

/** Fields of a document, whatever they are. Times are dates, as everywhere outside of documents. */
const fields = z.pipe(
  z.record(z.string(), z.unknown()),
  z.transform((stored): Fields => (AS_JSON in stored ? jsonText.parse(stored[AS_JSON]) : dated(stored))),
);

export const entryCodec = documentCodec(
  z.object({
    id: z.string(),
    at: timestamp,
    /** Who made the call, and which it was. */
    by: z.object({
      /** As security rules know them: `agent:…`, or a person's uid. */
      uid: z.string(),
      agent_id: z.nullable(z.string()),
      /** On whose behalf: an agent's owner, or the person. */
      owner_uid: z.string(),
      /** The grant of the app through which they called. */
      grant_id: z.nullable(z.string()),
      /** By its full name: `coordination.create_task`. */
      tool: z.string(),
      /** The workspace of the call. */
      workspace: z.string(),
      request_id: z.string(),
      /** The run that did it, in the name of who started it. */
      run_id: z._default(z.nullable(z.string()), null),
      /** The uid of the person who approved the call, if an agent's call needed it. */
      approved_by: z._default(z.nullable(z.string()), null),
    }),
    effects: z.array(
      z.object({
        /** `task`, `todo`: each feature names its own. */
        kind: z.string(),
        id: z.string(),
        /** The workspace that it belongs to; null where it is its owner's alone. */
        workspace: z.nullable(z.string()),
        owner_uid: z.nullable(z.string()),
        /** The fields that were changed, as the thing's document has them; of what is new or gone, all. */
        before: z.nullable(fields),
        after: z.nullable(fields),
        /** What was made was too much to be kept a second time, or what was there could not be kept. */
        cut: z.exactOptional(z.literal(true)),
        /** Of what was made and is not kept: digests of the fields, by their names. */
        digests: z.exactOptional(z.record(z.string(), z.string())),
        /** The fields are whatever callers have written. */
        free_form: z.exactOptional(z.literal(true)),
      }),
    ),
    /** The entry that this one has taken back. */
    undoes: z.nullable(z.string()),
    /** The entry that has taken this one back. */
    undone_by: z.nullable(z.string()),
  }),
);

export const entryFromDocument = entryCodec.fromDocument;

/** What the commit of one call has changed. */
export type TrailEntry = ReturnType<typeof entryFromDocument>;

/** Who makes a call that writes, and which call it is. */
export type Actor = TrailEntry['by'] & {
  /** The loosenings that the person who approved the call was shown, in words; not stored. Absent if the call had none to show. */
  readonly shown?: readonly string[] | undefined;
};

/** A thing that a commit changes. Without `before` there was none, without `after` there is none any more. */
export type Effect = TrailEntry['effects'][number];

function dated(stored: Fields): Fields {
  return mapped(stored, (part) => (isTimestamp(part) ? part.toDate() : undefined));
}
