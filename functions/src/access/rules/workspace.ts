/** Stored workspaces and their changes. Source: docs/decisions/0006-roles-and-registration.md. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../kernel/documentCodec.ts';

/** Kinds of work that an agent does in a step. */
export const KINDS_OF_WORK = ['plan', 'execute', 'review'] as const;

export type KindOfWork = (typeof KINDS_OF_WORK)[number];

/** Hosted agents: models behind a vendor's API. Order: the orchestration specification, list_agents. */
export const HOSTED_AGENTS = ['claude', 'gemini'] as const;

export interface AgentPin {
  readonly kind: string;
  readonly agent: string;
}

export interface Routing {
  /** At most one pin per kind of work. */
  readonly pins: readonly AgentPin[];
  readonly forbidden: readonly string[];
}

export const NO_ROUTING: Routing = { pins: [], forbidden: [] };

export function pinnedFor({ pins }: Routing, kind: KindOfWork): string | undefined {
  return pins.find((pin) => pin.kind === kind)?.agent;
}

export interface RoutingChanges {
  /** Replaces all pins or all forbidden agents. An omitted list stays unchanged. */
  readonly routeWorkspace: AtWorkspace & {
    readonly workspace: string;
    readonly routing: Partial<Routing>;
    /** For the audit log. */
    readonly before?: Partial<Routing>;
  };
}

/** Workspace document. */
export type StoredWorkspace = ReturnType<typeof workspaceFromDocument>;

/** Approval rule: calls of a tool require approval by `asks`, or by the owner of the calling agent. */
export type ApprovalRule = NonNullable<StoredWorkspace['approvals']>[number];

/** Version of the workspace that the change is based on; null without a document. Stale if it has changed since. */
export interface AtWorkspace {
  readonly version?: string | null | undefined;
}

export interface WorkspaceChanges {
  /** Stale if the workspace exists. A new workspace has no session. */
  readonly createWorkspace: { readonly name: string; readonly workspace: StoredWorkspace };
  /** Replaces the approval rules. */
  readonly setApprovalRules: AtWorkspace & {
    readonly workspace: string;
    readonly approvals: readonly ApprovalRule[];
    /** For the audit log. */
    readonly before?: readonly ApprovalRule[];
  };
  readonly listRepositories: AtWorkspace & {
    readonly workspace: string;
    readonly repositories: readonly string[];
    /** For the audit log. */
    readonly before?: readonly string[];
  };
}

/** `workspaces/{workspace}`, created with the workspace or its first session. `access/workspaces` has its access. */
export const workspaceDocument = z.object({
  /** Id of the open session. */
  session: z.exactOptional(z.string()),
  /** Accessible GitHub repositories: `owner/name`, or `owner/*` for all repositories of an owner. */
  repositories: z._default(z.array(z.string()), []),
  /** Hosted agents pinned for kinds of work. */
  pinned_agents: z.exactOptional(z.array(z.object({ kind: z.string(), agent: z.string() }))),
  /** Hosted agents that are never used. */
  forbidden_agents: z.exactOptional(z.array(z.string())),
  /** Approval rules. */
  approvals: z.exactOptional(
    z.array(
      z.object({
        /** Full name. */
        tool: z.string(),
        /** Minimum cost: only calls that may spend more require approval. */
        above_usd: z.nullable(z.number()),
        /** Uid of the approver; null for the caller's owner. */
        asks: z.nullable(z.string()),
      }),
    ),
  ),
  /** Uid of the creator. */
  created_by: z.exactOptional(z.string()),
  created_at: z.exactOptional(timestamp),
});

export const { toDocument: workspaceToDocument, fromDocument: workspaceFromDocument } =
  documentCodec(workspaceDocument);

/** Fields of workspaces in the audit log. */
export const workspaceFields = fieldsCodec<StoredWorkspace>(workspaceToDocument, workspaceFromDocument);

/** Returns whether a list contains a repository, as `owner/name` or by `owner/*`. Ignores case, as GitHub does. */
export function isListed(listed: readonly string[], name: string): boolean {
  const [owner = ''] = name.split('/');
  const wanted = [name, `${owner}/*`].map((one) => one.toLowerCase());
  return listed.some((one) => wanted.includes(one.toLowerCase()));
}
