/** People, members, invitations and the list of workspaces, as Firestore keeps them. */
import { FieldPath, FieldValue, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/firestore/codec.ts';
import {
  COLLECTIONS,
  invitationPath,
  MEMBERS,
  mailPath,
  memberPath,
  personPath,
  WORKSPACE_ACCESS_PATH,
  workspacePath,
} from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../kernel/firestore/store.ts';
import { fieldsCodec } from '../../kernel/firestore/trail.ts';
import type { Slice } from '../../kernel/paging.ts';
import {
  ACCOUNT_STATES,
  type Invitation,
  MEMBER_ROLES,
  type Member,
  type PeopleChanges,
  type Person,
  WORKSPACE_ACCESS,
  type WorkspaceAccess,
} from '../rules/people.ts';
import { ROLES } from '../rules/principal.ts';
import { EVERYBODY } from '../rules/trust.ts';
import { announceAccess } from './accessChanges.ts';
import { lineage, registrantsIn } from './lineage.ts';

/** Nobody has so many open invitations, and no workspace more. */
const MAX_INVITATIONS = 50;

interface StoredPerson {
  readonly uid: string;
  readonly person: Person | undefined;
}

export class PeopleQueries extends FirestoreReader {
  /** Some of those of whom something is stored, by uid. One that cannot be read has no person. */
  async after(uid: string | undefined, limit: number): Promise<readonly StoredPerson[]> {
    const ordered = this.database.collection(COLLECTIONS.people).orderBy(FieldPath.documentId()).limit(limit);
    const { docs } = await (uid === undefined ? ordered : ordered.startAfter(uid)).get();
    return docs.map((snapshot) => ({
      uid: snapshot.id,
      person: this.documents.readable(snapshot, personFromDocument)[0],
    }));
  }

  async find(uid: string): Promise<Person | undefined> {
    return this.documents.find(await this.database.doc(personPath(uid)).get(), personFromDocument);
  }

  /** Which workspaces there are beside `default`, and who may come into each. */
  async workspaces(): Promise<Readonly<Record<string, WorkspaceAccess>>> {
    return (await this.deployment()).access;
  }

  /** The same, and in which of them some calls take an approval. */
  async deployment(): Promise<Deployment> {
    const snapshot = await this.database.doc(WORKSPACE_ACCESS_PATH).get();
    return this.documents.find(snapshot, accessFromDocument) ?? { access: {}, asking: {} };
  }

  /**
   * Tells of each change of what a person may do, once also in the beginning.
   * @param broke is told where it tells no more
   * @returns ends it
   */
  watch(uid: string, told: () => void, broke: (error: Error) => void): () => void {
    return this.database.doc(personPath(uid)).onSnapshot(told, broke);
  }

  async member(workspace: string, uid: string): Promise<Versioned<Member> | undefined> {
    const snapshot = await this.database.doc(memberPath(workspace, uid)).get();
    return this.documents.findVersioned(snapshot, memberFromDocument);
  }

  /** Some of those who lead the workspace as its members. */
  async leaders(workspace: string, limit: number): Promise<readonly Versioned<Member>[]> {
    const leading = this.membersOf(workspace).where('role', '==', 'leader');
    const { docs } = await leading.limit(limit).get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, memberFromDocument));
  }

  /** By uid. */
  members(workspace: string, limit: number, after?: string): Promise<Slice<Member>> {
    const ordered = this.membersOf(workspace).orderBy(FieldPath.documentId());
    return this.documents.page(
      after === undefined ? ordered : ordered.startAfter(after),
      limit,
      memberFromDocument,
    );
  }

  async invitation(id: string): Promise<Invitation | undefined> {
    return this.documents.find(await this.database.doc(invitationPath(id)).get(), invitationFromDocument);
  }

  /** @param email in lower case */
  async invitationsFor(email: string): Promise<readonly Invitation[]> {
    return this.invitations('email', email);
  }

  async invitationsTo(workspace: string): Promise<readonly Invitation[]> {
    return this.invitations('workspace', workspace);
  }

  /** Those that an agent has sent, or an agent that was registered through it. */
  async invitationsThrough(agentId: string): Promise<readonly Invitation[]> {
    const all = this.database.collection(COLLECTIONS.invitations);
    const { docs } = await all.where('registrants', 'array-contains', agentId).get();
    return docs.flatMap((snapshot) => this.documents.readable(snapshot, invitationFromDocument));
  }

  private membersOf(workspace: string): Query {
    return this.database.doc(workspacePath(workspace)).collection(MEMBERS);
  }

  private async invitations(field: 'email' | 'workspace', value: string): Promise<readonly Invitation[]> {
    const all = this.database.collection(COLLECTIONS.invitations);
    const { docs } = await all.where(field, '==', value).limit(MAX_INVITATIONS).get();
    return docs.flatMap((snapshot) => this.documents.readable(snapshot, invitationFromDocument));
  }
}

/**
 * What a person may do, where. The security rules decide by it, so that one document answers for every workspace.
 * `role` is the deployment's; where it is absent, the ID token's claim says it.
 */
export const { toDocument: personToDocument, fromDocument: personFromDocument } = documentCodec(
  z.object({
    role: z.enum([...ROLES, 'none']).exactOptional(),
    /** The role in each workspace that the person is a member of. */
    workspaces: z.record(z.string(), z.enum(MEMBER_ROLES)).default({}),
    /** Sign-ins before it open nothing; seconds of the epoch, as `auth_time` of ID tokens. */
    valid_since: z.number().int().exactOptional(),
    /** How Firebase Auth's account was when the sweep last looked; absent for owners who never had one. */
    account: z.enum(ACCOUNT_STATES).exactOptional(),
  }),
);

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

const invitationCodec = documentCodec(
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
    lineage: lineage.exactOptional(),
  }),
);

export const invitationFromDocument = invitationCodec.fromDocument;

/** With the agents of its lineage, by which the invitations of an agent are found. */
export function invitationToDocument(invitation: Invitation): Record<string, unknown> {
  return { ...invitationCodec.toDocument(invitation), ...registrantsIn(invitation.lineage) };
}

export const { toDocument: accessToDocument, fromDocument: accessFromDocument } = documentCodec(
  z.object({
    access: z.record(z.string(), z.enum(WORKSPACE_ACCESS)).default({}),
    /** Whether some calls take an approval there: the workspace itself says which. */
    asking: z.record(z.string(), z.boolean()).default({}),
  }),
);

export type Deployment = ReturnType<typeof accessFromDocument>;

export const peopleWriters: ChangeWriters<PeopleChanges> = {
  setPerson({ uid, role }, writes) {
    writes.merge(personPath(uid), { role });
    announceAccess(writes, `person:${uid}`);
  },
  limitAccount({ uid, validSince, account, isNews }, writes) {
    // It brings nobody back whose document was deleted meanwhile.
    writes.update(personPath(uid), {
      ...(validSince !== undefined && { valid_since: validSince }),
      ...(account !== undefined && { account }),
    });
    if (isNews) announceAccess(writes, `person:${uid}`);
  },
  setMember({ member, version }, writes) {
    const { workspace, uid, role } = member;
    const path = memberPath(workspace, uid);
    if (version === undefined) writes.set(path, memberToDocument(member));
    else writes.createOrReplace(path, memberToDocument(member), version ?? undefined);
    writes.merge(personPath(uid), { workspaces: { [workspace]: role } });
    announceAccess(writes, `person:${uid}`);
  },
  expectMember({ member: { workspace, uid, role }, version }, writes) {
    writes.replace(memberPath(workspace, uid), { role }, version);
  },
  removeMember({ workspace, uid, version }, writes) {
    const path = memberPath(workspace, uid);
    if (version === undefined) writes.delete(path);
    else writes.deleteAt(path, version);
    writes.merge(personPath(uid), { workspaces: { [workspace]: FieldValue.delete() } });
    announceAccess(writes, `person:${uid}`);
  },
  nameWorkspace({ workspace, access }, writes) {
    writes.merge(WORKSPACE_ACCESS_PATH, { access: { [workspace]: access } });
    announceAccess(writes, EVERYBODY);
  },
  invite({ invitation }, writes) {
    writes.set(invitationPath(invitation.id), invitationToDocument(invitation));
  },
  endInvitation({ id }, writes) {
    writes.delete(invitationPath(id), { exists: true });
  },
  queueMail({ mail: { id, to, subject, text, at } }, writes) {
    writes.createLasting(mailPath(id), { to: [to], message: { subject, text }, created_at: at });
  },
};
