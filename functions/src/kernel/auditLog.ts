/** Audit entries. Each records one commit of a call that changes items. Source: docs/decisions/0036-trail.md. */
import { z } from 'zod/mini';
import { documentCodec, type Fields, isTimestamp, jsonText, mapped, timestamp } from './documentCodec.ts';

/** Name of the field that holds free-form data as one JSON text, because Firestore cannot store every JSON value. */
export const AS_JSON = '.json';

/** Stored fields of any document. Firestore timestamps become dates. */
const fields = z.pipe(
  z.record(z.string(), z.unknown()),
  z.transform((stored): Fields => {
    if (AS_JSON in stored) return jsonText.parse(stored[AS_JSON]);
    return mapped(stored, (part) => (isTimestamp(part) ? part.toDate() : undefined));
  }),
);

export const auditEntryCodec = documentCodec(
  z.object({
    id: z.string(),
    at: timestamp,
    by: z.object({
      /** Caller's uid in the security rules: `agent:…`, or a person's uid. */
      uid: z.string(),
      /** Id of the agent that acted. */
      agent_id: z.nullable(z.string()),
      /** Id of the agent whose credential was used, if another agent acted with it. */
      credential_of: z._default(z.nullable(z.string()), null),
      /** Uid of the agent's owner, or of the calling person. */
      owner_uid: z.string(),
      /** Id of the grant of the app through which the call came. */
      grant_id: z.nullable(z.string()),
      /** Full tool name: `coordination.create_task`. */
      tool: z.string(),
      workspace: z.string(),
      request_id: z.string(),
      /** Id of the run that made the change on behalf of the person who started the run. */
      run_id: z._default(z.nullable(z.string()), null),
      /** Uid of the person who approved an agent's call; null if no approval was needed. */
      approved_by: z._default(z.nullable(z.string()), null),
    }),
    effects: z.array(
      z.object({
        /** Kind of the changed item, as its feature names it: `task`, `todo`. */
        kind: z.string(),
        id: z.string(),
        /** Workspace of the item; null if the item belongs only to its owner. */
        workspace: z.nullable(z.string()),
        owner_uid: z.nullable(z.string()),
        /** Stored fields that changed, or all stored fields if the item is new or deleted. */
        before: z.nullable(fields),
        after: z.nullable(fields),
        /** Set if some fields of `after` were too large to store, or the fields of `before` could not be stored. */
        cut: z.exactOptional(z.literal(true)),
        /** Digests, by field name, of the fields of `after` that were too large to store. */
        digests: z.exactOptional(z.record(z.string(), z.string())),
        free_form: z.exactOptional(z.literal(true)),
      }),
    ),
    undoes: z.nullable(z.string()),
    undone_by: z.nullable(z.string()),
  }),
);

export const auditEntryFromDocument = auditEntryCodec.fromDocument;
export type AuditEntry = ReturnType<typeof auditEntryFromDocument>;

/** Caller of a call that writes, with data about the call. */
export type Actor = AuditEntry['by'] & {
  /** Weakened limits, in words, as the approving person saw them; not stored. Absent if no limit is weakened. */
  readonly shown?: readonly string[] | undefined;
};

/** One item that a commit changes. `before` is absent if the item is new, `after` if the item was deleted. */
export type AuditEffect = AuditEntry['effects'][number];
