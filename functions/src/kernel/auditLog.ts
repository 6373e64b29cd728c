/** Audit log entries, one per commit of a call that changes a thing. Source: docs/decisions/0036-trail.md. */

import { z } from 'zod/mini';
import { documentCodec, type Fields, isTimestamp, jsonText, mapped, timestamp } from './documentCodec.ts';

/** Name of free-form data, stored as one text: Firestore documents cannot hold all JSON. */
export const AS_JSON = '.json';

/** Fields of any document. Times are dates, as everywhere outside of documents. */
const fields = z.pipe(
  z.record(z.string(), z.unknown()),
  z.transform((stored): Fields => (AS_JSON in stored ? jsonText.parse(stored[AS_JSON]) : dated(stored))),
);

export const auditEntryCodec = documentCodec(
  z.object({
    id: z.string(),
    at: timestamp,
    /** The caller, and the call. */
    by: z.object({
      /** Uid for the security rules: `agent:…`, or a person's uid. */
      uid: z.string(),
      agent_id: z.nullable(z.string()),
      /** The agent's owner, or the person. */
      owner_uid: z.string(),
      /** Grant of the app through which the call came. */
      grant_id: z.nullable(z.string()),
      /** Full name: `coordination.create_task`. */
      tool: z.string(),
      workspace: z.string(),
      request_id: z.string(),
      /** Run that made the change on behalf of the person who started it. */
      run_id: z._default(z.nullable(z.string()), null),
      /** Uid of the person who approved an agent's call; null if no approval was needed. */
      approved_by: z._default(z.nullable(z.string()), null),
    }),
    effects: z.array(
      z.object({
        /** Kind of thing, named by its feature: `task`, `todo`. */
        kind: z.string(),
        id: z.string(),
        /** Workspace of the thing; null if it belongs only to its owner. */
        workspace: z.nullable(z.string()),
        owner_uid: z.nullable(z.string()),
        /** Changed fields as stored in the thing's document; all fields of a new or deleted thing. */
        before: z.nullable(fields),
        after: z.nullable(fields),
        /** Some new fields were too large to keep, or the previous ones could not be kept. */
        cut: z.exactOptional(z.literal(true)),
        /** Digests of the new fields that are not kept, by name. */
        digests: z.exactOptional(z.record(z.string(), z.string())),
        /** The fields are free-form. */
        free_form: z.exactOptional(z.literal(true)),
      }),
    ),
    /** Entry that this one undid. */
    undoes: z.nullable(z.string()),
    /** Entry that undid this one. */
    undone_by: z.nullable(z.string()),
  }),
);

export const auditEntryFromDocument = auditEntryCodec.fromDocument;

/** Audit entry of one commit. */
export type AuditEntry = ReturnType<typeof auditEntryFromDocument>;

/** Caller of a writing call, and the call itself. */
export type Actor = AuditEntry['by'] & {
  /** Loosenings that the approving person saw, as text; not stored. Absent if the call loosens no limit. */
  readonly shown?: readonly string[] | undefined;
};

/** A thing that a commit changes. `before` is absent if the thing is new, `after` if it was deleted. */
export type AuditEffect = AuditEntry['effects'][number];

function dated(stored: Fields): Fields {
  return mapped(stored, (part) => (isTimestamp(part) ? part.toDate() : undefined));
}
