/** People, members of workspaces, and invitations. Source: docs/decisions/0006-roles-and-registration.md. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../kernel/documentCodec.ts';
import { lineage } from './credential.ts';
import { MEMBER_ROLES, ROLES, type Role, WORKSPACE_ACCESS, type WorkspaceAccess } from './role.ts';

/** Document of a person: `people/{uid}`. */
export type Person = ReturnType<typeof personFromDocument>;

/** Document `workspaces/{workspace}/members/{uid}`: a person's role in a workspace, and who granted the role. */
export type Member = ReturnType<typeof memberFromDocument>;
export type Invitation = ReturnType<typeof invitationFromDocument>;

/** States of an account in Firebase Auth. `deleted`: the account existed once. */
export const ACCOUNT_STATES = ['good', 'disabled', 'deleted'] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** Returns whether the account is disabled or deleted, so that no one may act for the person. */
export function isSuspended(account: AccountState | undefined): boolean {
  return account === 'disabled' || account === 'deleted';
}

export interface Email {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly at: Date;
}

/** Changes of roles and access. Each change that concerns two documents updates both in one commit. */
export interface PeopleChanges {
  /** Sets a person's deployment role. `none` overrides the role in the claims of the person's ID token. */
  readonly setPerson: { readonly uid: string; readonly role: Role | 'none' };
  /** Ends earlier sign-ins of a person, or stores the state of the account. Stale if the person has no document. */
  readonly limitAccount: {
    readonly uid: string;
    /** Time before which sign-ins are invalid, in seconds since 1970. */
    readonly validSince?: number;
    readonly account?: AccountState;
    /** Whether the change affects the access of the person or of the person's agents. */
    readonly isNews: boolean;
  };
  /**
   * Sets a member. The commit is stale if the member is not at `version`, or, if that is null, if the member exists.
   */
  readonly setMember: {
    readonly member: Member;
    readonly before?: Member | undefined;
    readonly version?: string | null;
  };
  /** Changes nothing, but the commit is stale if the member does not exist at this version. */
  readonly expectMember: { readonly member: Member; readonly version: string };
  readonly removeMember: {
    readonly workspace: string;
    readonly uid: string;
    readonly before?: Member;
    readonly version?: string;
  };
  /** Adds a workspace to the list of workspaces, or changes its access. The first session creates its document. */
  readonly nameWorkspace: {
    readonly workspace: string;
    readonly access: WorkspaceAccess;
    /** Previous access, for the audit log; absent if the workspace is new. */
    readonly before?: WorkspaceAccess;
  };
  /** Stores an invitation. It replaces an older invitation of the same address to the same workspace. */
  readonly invite: { readonly invitation: Invitation };
  /** Deletes an invitation or, with `at`, lets it expire then. The commit is stale if it no longer exists. */
  readonly endInvitation: { readonly id: string; readonly before?: Invitation; readonly at?: Date };
  /** Queues an email, which Firebase's extension Trigger Email sends. */
  readonly queueEmail: { readonly mail: Email };
}

/** Roles of a person, in one document for the security rules. Without `role`, the claim in the ID token counts. */
export const personDocument = z.object({
  role: z.exactOptional(z.enum([...ROLES, 'none'])),
  workspaces: z._default(z.record(z.string(), z.enum(MEMBER_ROLES)), {}),
  /** Time before which sign-ins are invalid, in seconds since 1970, like `auth_time` in ID tokens. */
  valid_since: z.exactOptional(z.int()),
  /** State of the account when the sweep last read it; absent if the person has never had an account. */
  account: z.exactOptional(z.enum(ACCOUNT_STATES)),
});

export const { toDocument: personToDocument, fromDocument: personFromDocument } = documentCodec(personDocument);

export const { toDocument: memberToDocument, fromDocument: memberFromDocument } = documentCodec(
  z.object({
    uid: z.string(),
    workspace: z.string(),
    role: z.enum(MEMBER_ROLES),
    /** Uid of the agent or person that granted the role. */
    added_by: z.string(),
    added_at: timestamp,
  }),
);

export const memberFields = fieldsCodec<Member>(memberToDocument, memberFromDocument);

export const invitationCodec = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    /** Email address in lower case. */
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    /** Uid of the person who is responsible for the invitation, and must still be a leader when it is accepted. */
    invited_by: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
    lineage: z.exactOptional(lineage),
  }),
);

export const invitationFromDocument = invitationCodec.fromDocument;

export const { toDocument: accessToDocument, fromDocument: accessFromDocument } = documentCodec(
  z.object({
    access: z._default(z.record(z.string(), z.enum(WORKSPACE_ACCESS)), {}),
    /** Workspaces that have approval rules. The rules are in the workspaces' documents. */
    asking: z._default(z.record(z.string(), z.boolean()), {}),
  }),
);

export type Deployment = ReturnType<typeof accessFromDocument>;
