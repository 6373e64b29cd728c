/** A workspace, as it is stored, and what commits may change of it. Source: docs/decisions/0006-roles-and-registration.md. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../kernel/documentCodec.ts';

/** A kind of work is what an agent does in a step. */
export const KINDS_OF_WORK = ['plan', 'execute', 'review'] as const;

export type KindOfWork = (typeof KINDS_OF_WORK)[number];

/** The models behind a vendor's API that a deployment can have, in the order of the orchestration specification, list_agents. */
export const HOSTED_AGENTS = ['claude', 'gemini'] as const;

export interface Pin {
  readonly kind: string;
  readonly agent: string;
}

export interface Routing {
  /** Each kind of work at most once. */
  readonly pins: readonly Pin[];
  readonly forbidden: readonly string[];
}

export const NO_ROUTING: Routing = { pins: [], forbidden: [] };

export function pinnedFor({ pins }: Routing, kind: KindOfWork): string | undefined {
  return pins.find((pin) => pin.kind === kind)?.agent;
}

export interface RoutingChanges {
  /** In place of all that was pinned, or of all that was forbidden: what is left out stays, whatever it is by then. */
  readonly routeWorkspace: AtWorkspace & {
    readonly workspace: string;
    readonly routing: Partial<Routing>;
    /** For the trail. */
    readonly before?: Partial<Routing>;
  };
}

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

/** `workspaces/{workspace}`, from its first session or its creation on; `access/workspaces` says who may come in. */
export const workspaceDocument = z.object({
  /** The id of its open session, where one was opened. */
  session: z.exactOptional(z.string()),
  /** What its members may reach on GitHub: `owner/name`, or `owner/*` for all of an owner's. */
  repositories: z._default(z.array(z.string()), []),
  /** Which hosted agent is asked for a kind of work. */
  pinned_agents: z.exactOptional(z.array(z.object({ kind: z.string(), agent: z.string() }))),
  /** The hosted agents that are never asked. */
  forbidden_agents: z.exactOptional(z.array(z.string())),
  /** Before which tools' calls somebody is asked. */
  approvals: z.exactOptional(
    z.array(
      z.object({
        /** Its full name. */
        tool: z.string(),
        /** Only where a call may spend more. */
        above_usd: z.nullable(z.number()),
        /** The uid of the person who is asked; the caller's owner where there is none. */
        asks: z.nullable(z.string()),
      }),
    ),
  ),
  /** The uid of who created it. */
  created_by: z.exactOptional(z.string()),
  created_at: z.exactOptional(timestamp),
});

export const { toDocument: workspaceToDocument, fromDocument: workspaceFromDocument } =
  documentCodec(workspaceDocument);

/** Workspaces as the audit log shows them. */
export const workspaceFields = fieldsCodec<StoredWorkspace>(workspaceToDocument, workspaceFromDocument);

/** Lists of repositories, as workspaces and the deployment have them: `owner/name`, or `owner/*` for all of an owner's. */

/** @param name `owner/name`, or `owner/*` for whether all of theirs are; GitHub's names are the same in capitals */
export function isListed(listed: readonly string[], name: string): boolean {
  const [owner = ''] = name.split('/');
  const wanted = [name, `${owner}/*`].map((one) => one.toLowerCase());
  return listed.some((one) => wanted.includes(one.toLowerCase()));
}
