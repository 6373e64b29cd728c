/** A workspace, as it is stored, and what commits may change of it. Source: docs/decisions/0031-members-of-workspaces.md. */

import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { fieldsCodec } from '../../kernel/trail.ts';

/** What is kept of a workspace itself. */
export type StoredWorkspace = ReturnType<typeof workspaceFromDocument>;

/** Before calls of a tool somebody is asked: `asks`, or the owner of the agent that calls. */
export type ApprovalRule = NonNullable<StoredWorkspace['approvals']>[number];

/** Decided on the workspace at this version, null if it had no document. Stale if it has changed since. */
export interface AtWorkspace {
  readonly version?: string | null | undefined;
}

export interface WorkspaceChanges {
  /** Refused as stale where there is one. It has no session until somebody opens one. */
  readonly createWorkspace: { readonly name: string; readonly workspace: StoredWorkspace };
  /** Before which calls somebody is asked, in place of what was said before. */
  readonly demandApprovals: AtWorkspace & {
    readonly workspace: string;
    readonly approvals: readonly ApprovalRule[];
    /** For the trail. */
    readonly before?: readonly ApprovalRule[];
  };
  readonly listRepositories: AtWorkspace & {
    readonly workspace: string;
    readonly repositories: readonly string[];
    /** For the trail. */
    readonly before?: readonly string[];
  };
}

/**
 * A workspace: `workspaces/{workspace}`. It is there from its first session on, or from when somebody has created it;
 * `access/workspaces` says who may come into it.
 */

export const { toDocument: workspaceToDocument, fromDocument: workspaceFromDocument } = documentCodec(
  z.object({
    /** The id of its open session, where one was opened. */
    session: z.string().exactOptional(),
    /** What its members may reach on GitHub: `owner/name`, or `owner/*` for all of an owner's. */
    repositories: z.array(z.string()).default([]),
    /** Which hosted agent is asked for a kind of work. */
    pinned_agents: z.array(z.object({ kind: z.string(), agent: z.string() })).exactOptional(),
    /** The hosted agents that are never asked. */
    forbidden_agents: z.array(z.string()).exactOptional(),
    /** Before which tools' calls somebody is asked. */
    approvals: z
      .array(
        z.object({
          /** Its full name. */
          tool: z.string(),
          /** Only where a call may spend more. */
          above_usd: z.number().nullable(),
          /** The uid of the person who is asked; the caller's owner where there is none. */
          asks: z.string().nullable(),
        }),
      )
      .exactOptional(),
    /** The uid of who created it. */
    created_by: z.string().exactOptional(),
    created_at: timestamp.exactOptional(),
  }),
);

/** Workspaces as the audit log shows them. */
export const workspaceFields = fieldsCodec<StoredWorkspace>(workspaceToDocument, workspaceFromDocument);
