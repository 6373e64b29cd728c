/** People, the workspaces they have roles in, and who may let them in. Source: docs/decisions/0006-roles-and-registration.md. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../kernel/documentCodec.ts';
import { lineage } from './credential.ts';
import { MEMBER_ROLES, ROLES, type Role, WORKSPACE_ACCESS, type WorkspaceAccess } from './role.ts';

/** What is stored of a person: `people/{uid}`. */
export type Person = ReturnType<typeof personFromDocument>;

/** A person's role in a workspace, and who gave it: `workspaces/{workspace}/members/{uid}`. */
export type Member = ReturnType<typeof memberFromDocument>;

export type Invitation = ReturnType<typeof invitationFromDocument>;

/** How an account of Firebase Auth is. `deleted`: there was one. */
export const ACCOUNT_STATES = ['good', 'disabled', 'deleted'] as const;

export type AccountState = (typeof ACCOUNT_STATES)[number];

/** Whether nobody may act for the person any more. */
export function isOut(account: AccountState | undefined): boolean {
  return account === 'disabled' || account === 'deleted';
}

export interface Mail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly at: Date;
}

/** Changes of who may do what, where. Each keeps in one commit the two documents that say so. */
export interface PeopleChanges {
  /** The role that the deployment gives a person, `none` for none, whatever an ID token claims. */
  readonly setPerson: { readonly uid: string; readonly role: Role | 'none' };
  /** Ends sign-ins, or notes how the account is. Refused where nothing is stored of the person. */
  readonly limitAccount: {
    readonly uid: string;
    /** Seconds of the epoch: sign-ins before it open nothing. */
    readonly validSince?: number;
    readonly account?: AccountState;
    /** Whether it changes what anybody may do. */
    readonly isNews: boolean;
  };
  /** With a version, stale where the member is at another; with null, where there is one. */
  readonly setMember: {
    readonly member: Member;
    /** For the trail. */
    readonly before?: Member | undefined;
    readonly version?: string | null;
  };
  /** Refused as stale where the member is not there at this version. */
  readonly expectMember: { readonly member: Member; readonly version: string };
  readonly removeMember: {
    readonly workspace: string;
    readonly uid: string;
    /** For the trail. */
    readonly before?: Member;
    readonly version?: string;
  };
  /** Makes a workspace known; its document is made by whoever opens it. */
  readonly nameWorkspace: {
    readonly workspace: string;
    readonly access: WorkspaceAccess;
    /** For the trail; absent where it is new. */
    readonly before?: WorkspaceAccess;
  };
  /** In place of an earlier one of the same address to the same workspace. */
  readonly invite: { readonly invitation: Invitation };
  /** Refused as stale where there is none any more. */
  readonly endInvitation: { readonly id: string; readonly before?: Invitation };
  /** Has a mail sent, by Firebase's extension Trigger Email. */
  readonly queueMail: { readonly mail: Mail };
}

/** What a person may do, where: one document for the security rules. Without `role`, the ID token's claim holds. */
export const personDocument = z.object({
  role: z.exactOptional(z.enum([...ROLES, 'none'])),
  /** The role in each workspace that the person is a member of. */
  workspaces: z._default(z.record(z.string(), z.enum(MEMBER_ROLES)), {}),
  /** Sign-ins before it open nothing; seconds of the epoch, as `auth_time` of ID tokens. */
  valid_since: z.exactOptional(z.int()),
  /** How Firebase Auth's account was when the sweep last looked; absent for owners who never had one. */
  account: z.exactOptional(z.enum(ACCOUNT_STATES)),
});

export const { toDocument: personToDocument, fromDocument: personFromDocument } =
  documentCodec(personDocument);

export const { toDocument: memberToDocument, fromDocument: memberFromDocument } = documentCodec(
  z.object({
    uid: z.string(),
    workspace: z.string(),
    role: z.enum(MEMBER_ROLES),
    /** The uid of who gave the role. */
    added_by: z.string(),
    added_at: timestamp,
  }),
);

/** Members as the trail tells of them. */
export const memberFields = fieldsCodec<Member>(memberToDocument, memberFromDocument);

export const invitationCodec = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    /** In lower case. */
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    /** The uid of the person who answers for it, who must lead the workspace when it is taken. */
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
    /** Whether some calls take an approval there: the workspace itself says which. */
    asking: z._default(z.record(z.string(), z.boolean()), {}),
  }),
);

export type Deployment = ReturnType<typeof accessFromDocument>;
