/** By what people, credentials and their roles are found. */
import type { Versioned } from '../../kernel/commit.ts';
import type { Slice } from '../../kernel/paging.ts';
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

/** What has changed, and as of when that is all of it. */
export interface AccessNews {
  readonly changes: readonly { readonly id: string; readonly subject: string }[];
  readonly position: Date;
}

export interface StoredPerson {
  readonly uid: string;
  readonly person: Person | undefined;
}

/** A person whose ID token is good. */
export interface SignedInPerson {
  readonly uid: string;
  /** Seconds of the epoch, as the token says it. */
  readonly signedInAt: number;
  /** As the token claims it. */
  readonly role?: Role | undefined;
  /** In lower case; absent where nobody has verified it. */
  readonly email?: string | undefined;
}

/** What Firebase Auth says of a person. They chose their name themselves. */
export interface Profile {
  readonly name?: string;
  readonly email?: string;
}

/** When an account was made and its tokens were last revoked; seconds of the epoch. */
export interface KnownAccount {
  readonly isDisabled: boolean;
  readonly createdAt: number;
  readonly validSince: number;
}

export interface AccessChangeQueries {
  /**
   * The changes since a position, and some of those shortly before it. One read for each, and one where there is none.
   * @param position of an earlier answer; without it, none of the changes and the position to begin at
   */
  since(position: Date | undefined): Promise<AccessNews>;
}

export interface GrantQueries {
  find(id: string): Promise<Versioned<Grant> | undefined>;
  /** Those that there are. */
  findAll(ids: readonly string[]): Promise<readonly Grant[]>;
  /** Those of several agents, at most 30. */
  ofAgents(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]>;
  /** Like `ofAgents`, with the records of sign-ins that ended. */
  withEnds(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]>;
}

export interface PersonAndDeployment extends Deployment {
  readonly person: Person | undefined;
}

export interface PeopleQueries {
  /** Some of those of whom something is stored, by uid. One that cannot be read has no person. */
  after(uid: string | undefined, limit: number): Promise<readonly StoredPerson[]>;
  find(uid: string): Promise<Person | undefined>;
  /** Which workspaces there are beside `default`, and who may come into each. */
  workspaces(): Promise<Readonly<Record<string, WorkspaceAccess>>>;
  /** A person, and what the deployment says of its workspaces: both at the same moment, for one commit may change both. */
  findWithDeployment(uid: string): Promise<PersonAndDeployment>;
  /**
   * Tells of each change of what a person may do, once also in the beginning.
   * @param broke is told where it tells no more
   * @returns ends it
   */
  watch(uid: string, told: () => void, broke: (error: Error) => void): () => void;
  member(workspace: string, uid: string): Promise<Versioned<Member> | undefined>;
  /** Some of those who lead the workspace as its members. */
  leaders(workspace: string, limit: number): Promise<readonly Versioned<Member>[]>;
  /** By uid. */
  members(workspace: string, limit: number, after?: string): Promise<Slice<Member>>;
  invitation(id: string): Promise<Invitation | undefined>;
  /** @param email in lower case */
  invitationsFor(email: string): Promise<readonly Invitation[]>;
  invitationsTo(workspace: string): Promise<readonly Invitation[]>;
  /** Those that an agent has sent, or an agent that was registered through it. */
  invitationsThrough(agentId: string): Promise<readonly Invitation[]>;
}

export interface IdTokenVerifier {
  /**
   * A signature is good for an hour, whatever becomes of the account; so its account is looked at too. Source:
   * https://firebase.google.com/docs/auth/admin/verify-id-tokens and …/manage-sessions
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; FIREBASE_ERROR where it is not known whether the account is good
   */
  verify(idToken: string): Promise<SignedInPerson>;
  /**
   * The role that a person's account claims; undefined where it claims none, is disabled, or there is no account.
   * @throws MusterError FIREBASE_ERROR where nobody knows
   */
  roleOf(uid: string): Promise<Role | undefined>;
  /** The same of an account asked anew. @throws MusterError TOKEN_EXPIRED if the sign-in is older than `seconds` */
  verifyRecent(idToken: string, seconds: number): Promise<SignedInPerson>;
  /** Whether a person's account is there and is not disabled. @throws MusterError FIREBASE_ERROR where nobody knows */
  isGood(uid: string): Promise<boolean>;
  /** What is known of people, by uid; of those who have no account, nothing. */
  profiles(uids: readonly string[]): Promise<ReadonlyMap<string, Profile>>;
  /**
   * How the accounts of at most `MAX_PROFILES` people are, by uid; undefined if the project has no Authentication.
   * @throws MusterError FIREBASE_ERROR where nobody knows
   */
  states(uids: readonly string[]): Promise<ReadonlyMap<string, KnownAccount> | undefined>;
  /** Returns the uid of the person who has verified an address. Anyone can register an address that is not theirs. */
  uidOf(email: string): Promise<string | undefined>;
}

export interface CredentialQueries {
  credentials(agentId: string): Promise<readonly Credential[]>;
  /** Those of several agents, at most 30. */
  credentialsOf(agentIds: readonly string[]): Promise<readonly Credential[]>;
  /** Whether an agent has a credential, including one that this version cannot read. */
  hasCredential(agentId: string): Promise<boolean>;
  /** Those of lines, first by id (a key's line before it is renewed), to find one that is renewed meanwhile. */
  ofLines(lines: readonly string[]): Promise<readonly Credential[]>;
  /** Those that were registered through an agent, at whatever remove, by id. */
  credentialsThrough(agentId: string, limit: number, after?: string): Promise<readonly Credential[]>;
}

export interface AccountStanding {
  readonly isClaimed?: true;
  /** The account is disabled or deleted. */
  readonly isOut?: true;
  /** Sign-ins before it open nothing; seconds of the epoch. */
  readonly validSince?: number;
}

/** What people may do, where: as it is stored of them, and as their accounts claim. */
export interface RolesOfPeople {
  /**
   * A person whose account is disabled or deleted has no role, except for who has verified their ID token.
   * `isClaimed`: whether the role, or that there is none, is the account's word.
   * @param claimed the role by which to go where the deployment has stored none: of the account, unless it is given
   */
  of(uid: string, claimed?: () => Promise<Role | undefined>): Promise<PersonRoles & AccountStanding>;
}
