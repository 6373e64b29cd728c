/** Workspaces as stored, and changes of workspaces. Source: docs/decisions/0006-roles-and-registration.md. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../kernel/documentCodec.ts';
import { type ProofSettings, proofSettings } from './proofSettings.ts';

export const KINDS_OF_WORK = ['plan', 'execute', 'review'] as const;
export type KindOfWork = (typeof KINDS_OF_WORK)[number];

export interface Routing {
  /** Pinned agents, at most one per kind of work. */
  readonly pins: readonly { readonly kind: string; readonly agent: string }[];
  readonly forbidden: readonly string[];
}

export const NO_ROUTING: Routing = { pins: [], forbidden: [] };

export function pinnedFor({ pins }: Routing, kind: KindOfWork): string | undefined {
  return pins.find((pin) => pin.kind === kind)?.agent;
}

export interface RoutingChanges {
  /** Replaces the list of pins, the list of forbidden agents, or both. A list that is not given stays unchanged. */
  readonly routeWorkspace: WorkspaceChange<'routing', Partial<Routing>>;
}

export type StoredWorkspace = ReturnType<typeof workspaceFromDocument>;

/** Approval rule: calls of a tool need an approval by `asks` or, if `asks` is null, by the calling agent's owner. */
export type ApprovalRule = NonNullable<StoredWorkspace['approvals']>[number];

/** Replaces the value of one setting of a workspace. */
type WorkspaceChange<Setting extends string, Value> = Readonly<Record<Setting, Value>> & {
  readonly workspace: string;
  /** Value before the change, for the audit log. */
  readonly before?: Value;
  /** Version of the workspace's document that the change requires; null if the document must not exist. */
  readonly version?: string | null | undefined;
};

export interface WorkspaceChanges {
  /** Creates a workspace without a session. The commit is stale if the workspace exists. */
  readonly createWorkspace: { readonly name: string; readonly workspace: StoredWorkspace };
  readonly setApprovalRules: WorkspaceChange<'approvals', readonly ApprovalRule[]>;
  readonly setProof: WorkspaceChange<'proof', ProofSettings>;
  readonly listRepositories: WorkspaceChange<'repositories', readonly string[]>;
}

/** Document `workspaces/{workspace}`. `access/workspaces` states whether the workspace is open. */
export const workspaceDocument = z.object({
  session: z.exactOptional(z.string()),
  /** GitHub repositories that the workspace may use: `owner/name`, or `owner/*` for all repositories of an owner. */
  repositories: z._default(z.array(z.string()), []),
  /** Hosted agents that are always used for a kind of work. */
  pinned_agents: z.exactOptional(z.array(z.object({ kind: z.string(), agent: z.string() }))),
  forbidden_agents: z.exactOptional(z.array(z.string())),
  approvals: z.exactOptional(
    z.array(
      z.object({
        /** Full name of the tool. */
        tool: z.string(),
        /** Cost above which a call needs an approval; null if every call needs one. */
        above_usd: z.nullable(z.number()),
        /** Uid of the person who approves; null for the owner of the caller. */
        asks: z.nullable(z.string()),
      }),
    ),
  ),
  proof: z.exactOptional(proofSettings),
  created_by: z.exactOptional(z.string()),
  created_at: z.exactOptional(timestamp),
});

export const { toDocument: workspaceToDocument, fromDocument: workspaceFromDocument } =
  documentCodec(workspaceDocument);

export const workspaceFields = fieldsCodec<StoredWorkspace>(workspaceToDocument, workspaceFromDocument);

/** Returns whether a list includes a repository, as `owner/name` or by `owner/*`. Like GitHub, ignores case. */
export function isListed(listed: readonly string[], name: string): boolean {
  const [owner = ''] = name.split('/');
  const wanted = [name, `${owner}/*`].map((one) => one.toLowerCase());
  return listed.some((one) => wanted.includes(one.toLowerCase()));
}
