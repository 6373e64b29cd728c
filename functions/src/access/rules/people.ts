/** People, the workspaces they have roles in, and who may let them in. Source: docs/decisions/0031-members-of-workspaces.md. */
import type { invitationFromDocument, memberFromDocument, personFromDocument } from '../store/people.ts';
import type { Role } from './principal.ts';

/** What is stored of a person: `people/{uid}`. */
export type Person = ReturnType<typeof personFromDocument>;

/** A person's role in a workspace, and who gave it: `workspaces/{workspace}/members/{uid}`. */
export type Member = ReturnType<typeof memberFromDocument>;

export type Invitation = ReturnType<typeof invitationFromDocument>;

/** The roles that a workspace gives. The deployment alone has admins. */
export const MEMBER_ROLES = ['viewer', 'worker', 'leader'] as const satisfies readonly Role[];

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Who may come into a workspace: everybody whom the deployment knows, or its members alone. */
export const WORKSPACE_ACCESS = ['open', 'private'] as const;

export type WorkspaceAccess = (typeof WORKSPACE_ACCESS)[number];

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

declare module '../../kernel/commit.ts' {
  interface ChangeKinds extends PeopleChanges {}
}
