/** Ports to read people, credentials, grants and roles. */
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

export interface AccessInvalidation {
  readonly changes: readonly { readonly id: string; readonly subject: string }[];
  readonly position: Date;
}

export interface StoredPerson {
  readonly uid: string;
  readonly person: Person | undefined;
}

/** A person whose ID token is valid. */
export interface SignedInPerson {
  readonly uid: string;
  /** Time of the sign-in, as the token states it, in seconds since 1970. */
  readonly signedInAt: number;
  /** Deployment role in the claims of the token. */
  readonly role?: Role | undefined;
  /** Email address in lower case; absent if the address is not verified. */
  readonly email?: string | undefined;
}

/** A person's profile in Firebase Auth. People choose their names themselves. */
export interface Profile {
  readonly name?: string;
  readonly email?: string;
}

/** State of an account, with the times of creation and last revocation of tokens, in seconds since 1970. */
export interface KnownAccount {
  readonly isDisabled: boolean;
  readonly createdAt: number;
  readonly validSince: number;
}

export interface AccessChangeQueries {
  /**
   * Returns the access changes after a position, and some before it. Costs one read per change, but at least one.
   * @param position position returned by an earlier call; if undefined, the result contains only the current position
   */
  since(position: Date | undefined): Promise<AccessInvalidation>;
}

export interface GrantQueries {
  find(id: string): Promise<Versioned<Grant> | undefined>;
  /** Returns the grants with these ids. Ids without a grant are omitted. */
  findAll(ids: readonly string[]): Promise<readonly Grant[]>;
  /** Returns the grants of at most 30 agents. */
  ofAgents(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]>;
  /** Like `ofAgents`, but also returns records of ended sign-ins. */
  withEnds(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]>;
}

export interface PersonAndDeployment extends Deployment {
  readonly person: Person | undefined;
}

export interface PeopleQueries {
  /** Returns the people after a uid, ordered by uid. `person` is undefined if the document is unreadable. */
  after(uid: string | undefined, limit: number): Promise<readonly StoredPerson[]>;
  find(uid: string): Promise<Person | undefined>;
  /** Returns the access of all workspaces except `default`. */
  workspaces(): Promise<Readonly<Record<string, WorkspaceAccess>>>;
  /** Returns a person and the list of workspaces in one snapshot, because one commit can change both. */
  findWithDeployment(uid: string): Promise<PersonAndDeployment>;
  /**
   * Calls `onChange` when the watch starts, and after each change of the person's roles.
   * @param onError called when the watch has failed and ended
   * @returns a function that ends the watch
   */
  watch(uid: string, onChange: () => void, onError: (error: Error) => void): () => void;
  member(workspace: string, uid: string): Promise<Versioned<Member> | undefined>;
  leaders(workspace: string, limit: number): Promise<readonly Versioned<Member>[]>;
  /** Returns the members of a workspace, ordered by uid. */
  members(workspace: string, limit: number, after?: string): Promise<ListPage<Member>>;
  invitation(id: string): Promise<Invitation | undefined>;
  /** @param email address in lower case */
  invitationsFor(email: string): Promise<readonly Invitation[]>;
  invitationsTo(workspace: string): Promise<readonly Invitation[]>;
  /** Returns the invitations that an agent, or an agent registered through it, has sent. */
  invitationsThrough(agentId: string): Promise<readonly Invitation[]>;
}

export interface IdTokenVerifier {
  /**
   * Verifies an ID token and checks the account, because a token stays valid for up to an hour after its account is
   * disabled. Source: https://firebase.google.com/docs/auth/admin/verify-id-tokens and …/manage-sessions
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; FIREBASE_ERROR if the state of the account is unknown
   */
  verify(idToken: string): Promise<SignedInPerson>;
  /**
   * Returns the role in an account's claims; undefined without a claim, or if the account is disabled or missing.
   * @throws MusterError FIREBASE_ERROR if the state of the account is unknown
   */
  roleOf(uid: string): Promise<Role | undefined>;
  /** Like `verify`, without the cache. @throws MusterError TOKEN_EXPIRED if the sign-in is older than `seconds` */
  verifyRecent(idToken: string, seconds: number): Promise<SignedInPerson>;
  /** Returns whether an account exists and is enabled. @throws MusterError FIREBASE_ERROR if this is unknown */
  isValid(uid: string): Promise<boolean>;
  /** Returns profiles by uid. People without an account have none. */
  profiles(uids: readonly string[]): Promise<ReadonlyMap<string, Profile>>;
  /**
   * Returns the accounts of at most `MAX_PROFILES` people, by uid; undefined without Firebase Auth.
   * @throws MusterError FIREBASE_ERROR if the states of the accounts are unknown
   */
  states(uids: readonly string[]): Promise<ReadonlyMap<string, KnownAccount> | undefined>;
  /** Returns the uid of the person who has verified an email address. An unverified address proves nothing. */
  uidOf(email: string): Promise<string | undefined>;
}

export interface CredentialQueries {
  credentials(agentId: string): Promise<readonly Credential[]>;
  /** Returns the credentials of at most 30 agents. */
  credentialsOf(agentIds: readonly string[]): Promise<readonly Credential[]>;
  /** Returns whether an agent has a credential, including a credential that this version cannot read. */
  hasCredential(agentId: string): Promise<boolean>;
  /** Returns the credentials of the given lines. Reads by id first, so that a concurrent renewal is not missed. */
  ofLines(lines: readonly string[]): Promise<readonly Credential[]>;
  /** Returns the credentials that were registered through an agent, directly or indirectly, ordered by id. */
  credentialsThrough(agentId: string, limit: number, after?: string): Promise<readonly Credential[]>;
}

export interface AccountStatus {
  readonly isClaimed?: true;
  /** Set if the account is disabled or deleted. */
  readonly isOut?: true;
  /** Time before which sign-ins are invalid, in seconds since 1970. */
  readonly validSince?: number;
}

/** Roles of people, read from their documents and the claims of their accounts. */
export interface RolesOfPeople {
  /**
   * Returns the roles of a person. A person whose account is disabled or deleted has no roles, unless `claimed` is
   * given. `isClaimed`: whether the deployment role, or its absence, comes from the account's claims.
   * @param claimed returns the role if the deployment stores none; by default, the role in the account's claims
   */
  of(uid: string, claimed?: () => Promise<Role | undefined>): Promise<PersonRoles & AccountStatus>;
}
