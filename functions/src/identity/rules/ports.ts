/** Ports of identity: queries for people, credentials and roles. */
import type { Versioned } from '../../kernel/commit.ts';
import type { ListPage } from '../../kernel/paging.ts';
import type { Credential } from './credential.ts';
import type { Grant } from './grant.ts';
import type { Deployment, Invitation, Member, Person } from './people.ts';
import type { PersonRoles } from './principal.ts';
import type { Role, WorkspaceAccess } from './role.ts';

export interface IdentityPorts {
  readonly accessChanges: AccessChangeQueries;
  readonly grants: GrantQueries;
  readonly people: PeopleQueries;
  readonly roles: RolesOfPeople;
  readonly idTokens: IdTokenVerifier;
}

/** Access changes, complete up to a position. */
export interface AccessInvalidation {
  readonly changes: readonly { readonly id: string; readonly subject: string }[];
  readonly position: Date;
}

export interface StoredPerson {
  readonly uid: string;
  readonly person: Person | undefined;
}

/** Person with a valid ID token. */
export interface SignedInPerson {
  readonly uid: string;
  /** Time of sign-in from the token, in seconds since the epoch. */
  readonly signedInAt: number;
  /** Role that the token claims. */
  readonly role?: Role | undefined;
  /** In lower case; absent if it is not verified. */
  readonly email?: string | undefined;
}

/** A person's Firebase Auth profile. People choose their own names. */
export interface Profile {
  readonly name?: string;
  readonly email?: string;
}

/** Account state, with the times of creation and of the last token revocation in seconds since the epoch. */
export interface KnownAccount {
  readonly isDisabled: boolean;
  readonly createdAt: number;
  readonly validSince: number;
}

export interface AccessChangeQueries {
  /**
   * Returns the changes since a position, and some shortly before it. Costs one read per change, at least one.
   * @param position from an earlier result; if undefined, only the start position is returned
   */
  since(position: Date | undefined): Promise<AccessInvalidation>;
}

export interface GrantQueries {
  find(id: string): Promise<Versioned<Grant> | undefined>;
  /** Returns the existing grants. */
  findAll(ids: readonly string[]): Promise<readonly Grant[]>;
  /** Returns the grants of at most 30 agents. */
  ofAgents(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]>;
  /** Like `ofAgents`, including records of ended sign-ins. */
  withEnds(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]>;
}

export interface PersonAndDeployment extends Deployment {
  readonly person: Person | undefined;
}

export interface PeopleQueries {
  /** Returns a page of stored people, ordered by uid. `person` is undefined for an unreadable document. */
  after(uid: string | undefined, limit: number): Promise<readonly StoredPerson[]>;
  find(uid: string): Promise<Person | undefined>;
  /** Returns all workspaces except `default`, with their access. */
  workspaces(): Promise<Readonly<Record<string, WorkspaceAccess>>>;
  /** Returns a person and the workspace list in one snapshot, because one commit may change both. */
  findWithDeployment(uid: string): Promise<PersonAndDeployment>;
  /**
   * Calls `told` once at the start and after each change of a person's roles.
   * @param broke called when the watch fails and ends
   * @returns a function that ends the watch
   */
  watch(uid: string, told: () => void, broke: (error: Error) => void): () => void;
  member(workspace: string, uid: string): Promise<Versioned<Member> | undefined>;
  /** Returns members who lead the workspace. */
  leaders(workspace: string, limit: number): Promise<readonly Versioned<Member>[]>;
  /** Returns members ordered by uid. */
  members(workspace: string, limit: number, after?: string): Promise<ListPage<Member>>;
  invitation(id: string): Promise<Invitation | undefined>;
  /** @param email in lower case */
  invitationsFor(email: string): Promise<readonly Invitation[]>;
  invitationsTo(workspace: string): Promise<readonly Invitation[]>;
  /** Returns invitations sent by an agent or by its descendants. */
  invitationsThrough(agentId: string): Promise<readonly Invitation[]>;
}

export interface IdTokenVerifier {
  /**
   * Verifies an ID token and checks its account, because tokens stay valid for an hour after the account is disabled.
   * Source: https://firebase.google.com/docs/auth/admin/verify-id-tokens and …/manage-sessions
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; FIREBASE_ERROR if the account's state is unknown
   */
  verify(idToken: string): Promise<SignedInPerson>;
  /**
   * Returns the role in an account's claims; undefined without a claim, or if the account is disabled or missing.
   * @throws MusterError FIREBASE_ERROR if the account's state is unknown
   */
  roleOf(uid: string): Promise<Role | undefined>;
  /** Like `verify`, without the cache. @throws MusterError TOKEN_EXPIRED if the sign-in is older than `seconds` */
  verifyRecent(idToken: string, seconds: number): Promise<SignedInPerson>;
  /** Returns whether an account exists and is enabled. @throws MusterError FIREBASE_ERROR if its state is unknown */
  isValid(uid: string): Promise<boolean>;
  /** Returns profiles by uid. People without an account are absent. */
  profiles(uids: readonly string[]): Promise<ReadonlyMap<string, Profile>>;
  /**
   * Returns the accounts of at most `MAX_PROFILES` people by uid; undefined if the project has no Authentication.
   * @throws MusterError FIREBASE_ERROR if the states are unknown
   */
  states(uids: readonly string[]): Promise<ReadonlyMap<string, KnownAccount> | undefined>;
  /** Returns the uid of the person who has verified an address. Anyone can register an address that is not theirs. */
  uidOf(email: string): Promise<string | undefined>;
}

export interface CredentialQueries {
  credentials(agentId: string): Promise<readonly Credential[]>;
  /** Returns the credentials of at most 30 agents. */
  credentialsOf(agentIds: readonly string[]): Promise<readonly Credential[]>;
  /** Returns whether an agent has a credential, even one that this version cannot read. */
  hasCredential(agentId: string): Promise<boolean>;
  /** Returns the credentials of lines. Reads by id first, so that a concurrent renewal is not missed. */
  ofLines(lines: readonly string[]): Promise<readonly Credential[]>;
  /** Returns an agent's direct and indirect descendants, ordered by id. */
  credentialsThrough(agentId: string, limit: number, after?: string): Promise<readonly Credential[]>;
}

export interface AccountStatus {
  readonly isClaimed?: true;
  /** Whether the account is disabled or deleted. */
  readonly isOut?: true;
  /** Earlier sign-ins are invalid. Seconds since the epoch. */
  readonly validSince?: number;
}

/** Roles of people, from their documents and account claims. */
export interface RolesOfPeople {
  /**
   * Returns a person's roles. A person with a disabled or deleted account has none, unless `claimed` is given.
   * `isClaimed`: whether the deployment role, or its absence, comes from the account's claims.
   * @param claimed role to use if the deployment has stored none; by default the account's claim
   */
  of(uid: string, claimed?: () => Promise<Role | undefined>): Promise<PersonRoles & AccountStatus>;
}
