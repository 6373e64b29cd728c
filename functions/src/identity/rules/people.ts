/** People, memberships and invitations. Source: docs/decisions/0006-roles-and-registration.md. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../kernel/documentCodec.ts';
import { lineage } from './credential.ts';
import { MEMBER_ROLES, ROLES, type Role, WORKSPACE_ACCESS, type WorkspaceAccess } from './role.ts';

/** Person document: `people/{uid}`. */
export type Person = ReturnType<typeof personFromDocument>;

/** A person's role in a workspace, and who granted it: `workspaces/{workspace}/members/{uid}`. */
export type Member = ReturnType<typeof memberFromDocument>;

export type Invitation = ReturnType<typeof invitationFromDocument>;

/** States of a Firebase Auth account. `deleted`: the account existed. */
export const ACCOUNT_STATES = ['good', 'disabled', 'deleted'] as const;

export type AccountState = (typeof ACCOUNT_STATES)[number];

/** Returns whether the account is disabled or deleted, so that no one can act for the person. */
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

/** Changes of roles and access. Each updates its two documents in one commit. */
export interface PeopleChanges {
  /** Sets a person's deployment role. `none` overrides the role that an ID token claims. */
  readonly setPerson: { readonly uid: string; readonly role: Role | 'none' };
  /** Ends sign-ins, or stores the account's state. Refused if the person has no document. */
  readonly limitAccount: {
    readonly uid: string;
    /** Seconds since the epoch. Earlier sign-ins are invalid. */
    readonly validSince?: number;
    readonly account?: AccountState;
    /** Whether this changes anyone's access. */
    readonly isNews: boolean;
  };
  /** With a version, stale if the member has another version; with null, stale if the member exists. */
  readonly setMember: {
    readonly member: Member;
    /** For the audit log. */
    readonly before?: Member | undefined;
    readonly version?: string | null;
  };
  /** Stale if the member does not exist at this version. */
  readonly expectMember: { readonly member: Member; readonly version: string };
  readonly removeMember: {
    readonly workspace: string;
    readonly uid: string;
    /** For the audit log. */
    readonly before?: Member;
    readonly version?: string;
  };
  /** Lists a workspace with its access. Its first session creates its document. */
  readonly nameWorkspace: {
    readonly workspace: string;
    readonly access: WorkspaceAccess;
    /** For the audit log; absent if the workspace is new. */
    readonly before?: WorkspaceAccess;
  };
  /** Replaces an earlier invitation of the same address to the same workspace. */
  readonly invite: { readonly invitation: Invitation };
  /** Stale if the invitation no longer exists. */
  readonly endInvitation: { readonly id: string; readonly before?: Invitation };
  /** Sends an email through Firebase's extension Trigger Email. */
  readonly queueEmail: { readonly mail: Email };
}

/** A person's roles, in one document for the security rules. Without `role`, the ID token's claim counts. */
export const personDocument = z.object({
  role: z.exactOptional(z.enum([...ROLES, 'none'])),
  /** Roles by workspace, for the person's memberships. */
  workspaces: z._default(z.record(z.string(), z.enum(MEMBER_ROLES)), {}),
  /** Earlier sign-ins are invalid. Seconds since the epoch, like `auth_time` of ID tokens. */
  valid_since: z.exactOptional(z.int()),
  /** State of the Firebase Auth account at the last cleanup job; absent for owners who never had one. */
  account: z.exactOptional(z.enum(ACCOUNT_STATES)),
});

export const { toDocument: personToDocument, fromDocument: personFromDocument } = documentCodec(personDocument);

export const { toDocument: memberToDocument, fromDocument: memberFromDocument } = documentCodec(
  z.object({
    uid: z.string(),
    workspace: z.string(),
    role: z.enum(MEMBER_ROLES),
    /** Uid of the person or agent that granted the role. */
    added_by: z.string(),
    added_at: timestamp,
  }),
);

/** Fields of members in the audit log. */
export const memberFields = fieldsCodec<Member>(memberToDocument, memberFromDocument);

export const invitationCodec = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    /** In lower case. */
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    /** Uid of the responsible person, who must be a leader when the invitation is accepted. */
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
    /** Workspaces with approval rules. The workspace document contains the rules. */
    asking: z._default(z.record(z.string(), z.boolean()), {}),
  }),
);

export type Deployment = ReturnType<typeof accessFromDocument>;
