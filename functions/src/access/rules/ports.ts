/** What the rules of access read and write by, and what its store implements. */

import type { ChangeOf, Store, TrailChanges, Versioned } from '../../kernel/commit.ts';
import type { Batch, Found, Place, Position, Slice } from '../../kernel/paging.ts';
import type { KernelPorts, PortOf } from '../../kernel/ports.ts';
import type { Agent, AgentChanges, AgentCount, Availability } from './agent.ts';
import type { CallRecorder } from './callMetrics.ts';
import type { Credential } from './credential.ts';
import type { Grant, GrantChanges } from './grant.ts';
import type { Deployment, Invitation, Member, PeopleChanges, Person } from './people.ts';
import type { PersonRoles } from './principal.ts';
import type { RateLimiter } from './rateLimiter.ts';
import type { Role, WorkspaceAccess } from './role.ts';
import type { RoutingChanges, StoredWorkspace, WorkspaceChanges } from './workspace.ts';

export interface AccessPorts extends KernelPorts {
  readonly store: Store<AccessChange>;
  readonly agents: AgentQueries;
  readonly accessChanges: AccessChangeQueries;
  readonly grants: GrantQueries;
  readonly directory: AgentDirectory;
  readonly people: PeopleQueries;
  readonly workspaces: WorkspaceQueries;
  readonly roles: RolesOfPeople;
  readonly presence: Presence;
  readonly idTokens: IdTokenVerifier;
  readonly limits: PortOf<RateLimiter>;
  readonly metrics: Pick<CallRecorder, 'record'>;
}

/** What has changed, and as of when that is all of it. */
export interface AccessNews {
  readonly changes: readonly { readonly id: string; readonly subject: string }[];
  readonly position: Date;
}

export interface AgentQuery {
  /** Only agents that are in it. */
  readonly workspace: string;
  readonly availability?: Availability | undefined;
  readonly type?: string | undefined;
  /** All of these, as foldedCapability writes them. */
  readonly capabilities: readonly string[];
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

export interface AgentQueries extends CredentialQueries {
  find(agentId: string): Promise<Versioned<Agent> | undefined>;
  /** Those that there are. */
  findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]>;
  /** Terminals that are offline and were last seen before then, the longest ago first. */
  terminalsGone(before: Date, limit: number, after?: Position): Promise<Batch<Versioned<Agent>>>;
  /** How many agents have each of these skills. */
  skillCounts(
    ids: readonly string[],
  ): Promise<readonly Versioned<{ readonly id: string; readonly agents: number }>[]>;
  /** The credential and the agent that it belongs to, in at most two reads. */
  findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined>;
}

export interface AgentDirectory {
  list(query: AgentQuery, limit: number, after: Place | undefined): Promise<Found<Agent>>;
  /** How many agents of a workspace there are of a kind that is looked up by index; idle agents are the rest. */
  count(workspace: string, kind: 'active' | 'busy' | 'error'): Promise<number>;
  /** How many agents are in a workspace. */
  counts(workspace: string): Promise<AgentCount>;
  /** Agents of a workspace that were alive at the last sweep. */
  live(workspace: string, limit: number): Promise<Slice<Agent>>;
  /** A person's agents, by id. */
  ofOwner(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<Agent>>;
  /** The ids of some agents that lead a workspace. */
  leaders(workspace: string, limit: number): Promise<readonly string[]>;
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

export interface PeopleQueries {
  /** Some of those of whom something is stored, by uid. One that cannot be read has no person. */
  after(uid: string | undefined, limit: number): Promise<readonly StoredPerson[]>;
  find(uid: string): Promise<Person | undefined>;
  /** Which workspaces there are beside `default`, and who may come into each. */
  workspaces(): Promise<Readonly<Record<string, WorkspaceAccess>>>;
  /** The same, and in which of them some calls take an approval. */
  deployment(): Promise<Deployment>;
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

export interface WorkspaceQueries {
  find(workspace: string): Promise<Versioned<StoredWorkspace> | undefined>;
  /** Whether somebody keeps data under the name, in either database, which would become the workspace's. */
  hasData(workspace: string): Promise<boolean>;
}

export interface Presence {
  /**
   * Notes that the agent was just seen, within half a minute, or a tenth of its shortest lease. Cheap: at most one write in
   * that time, over all instances, and an instance asks once in five seconds whether another has written.
   * @param home the agent's own workspace, whose members see it
   * @param leaseSeconds the lease with which it has just claimed, if it has
   * @throws Error where that takes longer than a second
   */
  touch(agentId: string, home?: string, leaseSeconds?: number): Promise<void>;
  /** When each of the agents was last seen; an agent never seen, or swept away, is absent. */
  lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** The agents last seen before `before`, longest ago first, at most `limit`, and when that was. */
  unseenSince(before: Date, limit: number, after?: Position): Promise<ReadonlyMap<string, Date>>;
  /** Puts back what was lost of an agent that was last seen at `lastSeen`, unless it was seen again meanwhile. */
  restore(agentId: string, home: string, lastSeen: Date): Promise<void>;
  /** Forgets an agent unless it was seen again since `before`. Tells whether it did. */
  forget(agentId: string, before: Date): Promise<boolean>;
  /** Writes and reads beside what it keeps. A database that is away makes it wait. */
  check(): Promise<void>;
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

export type AccessChange = ChangeOf<
  AgentChanges & GrantChanges & PeopleChanges & RoutingChanges & WorkspaceChanges & TrailChanges
>;
