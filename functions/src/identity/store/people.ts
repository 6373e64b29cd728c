/** People, members, invitations and the list of workspaces in Firestore. */
import { FieldPath, FieldValue, type Query } from '@google-cloud/firestore';
import type { Versioned } from '../../kernel/commit.ts';
import { effectsOf } from '../../kernel/effects.ts';
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
import type { ChangeWriters, EffectsOf } from '../../kernel/firestore/store.ts';
import type { ListPage } from '../../kernel/paging.ts';
import { EVERYONE } from '../rules/credential.ts';
import {
  accessFromDocument,
  type Deployment,
  type Invitation,
  invitationCodec,
  invitationFromDocument,
  type Member,
  memberFromDocument,
  memberToDocument,
  type PeopleChanges,
  type Person,
  personFromDocument,
} from '../rules/people.ts';
import type { PeopleQueries, PersonAndDeployment, StoredPerson } from '../rules/ports.ts';
import type { WorkspaceAccess } from '../rules/role.ts';
import { recordAccessChange, registrantsIn } from './credentials.ts';

/** Maximum number of invitations in a query. A person and a workspace have fewer pending invitations. */
const MAX_INVITATIONS = 50;
const NO_WORKSPACES: Deployment = { access: {}, asking: {} };

export class FirestorePeopleQueries extends FirestoreReader implements PeopleQueries {
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

  async workspaces(): Promise<Readonly<Record<string, WorkspaceAccess>>> {
    const snapshot = await this.database.doc(WORKSPACE_ACCESS_PATH).get();
    return (this.documents.find(snapshot, accessFromDocument) ?? NO_WORKSPACES).access;
  }

  async findWithDeployment(uid: string): Promise<PersonAndDeployment> {
    // A transaction reads both documents from one snapshot. Separate reads could see only half of a commit.
    const paths = [WORKSPACE_ACCESS_PATH, personPath(uid)];
    const [access, person] = await this.database.runTransaction(
      (transaction) => transaction.getAll(...paths.map((path) => this.database.doc(path))),
      { readOnly: true },
    );
    if (person === undefined || access === undefined) throw new Error('Firestore returned too few documents.');
    const deployment = this.documents.find(access, accessFromDocument) ?? NO_WORKSPACES;
    return { person: this.documents.find(person, personFromDocument), ...deployment };
  }

  watch(uid: string, onChange: () => void, onError: (error: Error) => void): () => void {
    return this.database.doc(personPath(uid)).onSnapshot(onChange, onError);
  }

  async member(workspace: string, uid: string): Promise<Versioned<Member> | undefined> {
    const snapshot = await this.database.doc(memberPath(workspace, uid)).get();
    return this.documents.findVersioned(snapshot, memberFromDocument);
  }

  async leaders(workspace: string, limit: number): Promise<readonly Versioned<Member>[]> {
    const leading = this.membersOf(workspace).where('role', '==', 'leader');
    const { docs } = await leading.limit(limit).get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, memberFromDocument));
  }

  members(workspace: string, limit: number, after?: string): Promise<ListPage<Member>> {
    const ordered = this.membersOf(workspace).orderBy(FieldPath.documentId());
    return this.documents.page(after === undefined ? ordered : ordered.startAfter(after), limit, memberFromDocument);
  }

  async invitation(id: string): Promise<Invitation | undefined> {
    return this.documents.find(await this.database.doc(invitationPath(id)).get(), invitationFromDocument);
  }

  async invitationsFor(email: string): Promise<readonly Invitation[]> {
    return this.invitations('email', email);
  }

  async invitationsTo(workspace: string): Promise<readonly Invitation[]> {
    return this.invitations('workspace', workspace);
  }

  invitationsThrough(agentId: string): Promise<readonly Invitation[]> {
    const all = this.database.collection(COLLECTIONS.invitations);
    return this.documents.all(all.where('registrants', 'array-contains', agentId), invitationFromDocument);
  }

  private membersOf(workspace: string): Query {
    return this.database.doc(workspacePath(workspace)).collection(MEMBERS);
  }

  private invitations(field: 'email' | 'workspace', value: string): Promise<readonly Invitation[]> {
    const all = this.database.collection(COLLECTIONS.invitations);
    return this.documents.all(all.where(field, '==', value).limit(MAX_INVITATIONS), invitationFromDocument);
  }
}

/** Converts an invitation to its document, and adds the agents of its credential chain, by which queries find it. */
export function invitationToDocument(invitation: Invitation): Record<string, unknown> {
  return { ...invitationCodec.toDocument(invitation), ...registrantsIn(invitation.lineage) };
}

export const peopleWriters: ChangeWriters<PeopleChanges> = {
  setPerson({ uid, role }, writes) {
    writes.merge(personPath(uid), { role });
    recordAccessChange(writes, `person:${uid}`);
  },
  limitAccount({ uid, validSince, account, isNews }, writes) {
    // `update` does not recreate a deleted document.
    writes.update(personPath(uid), {
      ...(validSince !== undefined && { valid_since: validSince }),
      ...(account !== undefined && { account }),
    });
    if (isNews) recordAccessChange(writes, `person:${uid}`);
  },
  setMember({ member, version }, writes) {
    const { workspace, uid, role } = member;
    const path = memberPath(workspace, uid);
    if (version === undefined) writes.set(path, memberToDocument(member));
    else writes.createOrReplace(path, memberToDocument(member), version ?? undefined);
    writes.merge(personPath(uid), { workspaces: { [workspace]: role } });
    recordAccessChange(writes, `person:${uid}`);
  },
  expectMember({ member: { workspace, uid, role }, version }, writes) {
    writes.replace(memberPath(workspace, uid), { role }, version);
  },
  removeMember({ workspace, uid, version }, writes) {
    const path = memberPath(workspace, uid);
    if (version === undefined) writes.delete(path);
    else writes.deleteAt(path, version);
    writes.merge(personPath(uid), { workspaces: { [workspace]: FieldValue.delete() } });
    recordAccessChange(writes, `person:${uid}`);
  },
  nameWorkspace({ workspace, access }, writes) {
    writes.merge(WORKSPACE_ACCESS_PATH, { access: { [workspace]: access } });
    recordAccessChange(writes, EVERYONE);
  },
  invite({ invitation }, writes) {
    writes.set(invitationPath(invitation.id), invitationToDocument(invitation));
  },
  endInvitation({ id, at }, writes) {
    if (at === undefined) writes.delete(invitationPath(id), { exists: true });
    else writes.update(invitationPath(id), { expires_at: at });
  },
  queueEmail({ mail: { id, to, subject, text, at } }, writes) {
    writes.createPermanent(mailPath(id), { to: [to], message: { subject, text }, created_at: at });
  },
};

const ofMember = effectsOf(
  ({ workspace, uid }: Member) => ({ kind: 'member', id: `${workspace}/${uid}`, workspace }),
  memberToDocument,
);
const ofInvitation = effectsOf(
  ({ id, workspace }: Invitation) => ({ kind: 'invitation', id, workspace }),
  invitationToDocument,
);

export const peopleEffects: EffectsOf<PeopleChanges> = {
  setMember: ({ member, before }) => ofMember(member, { before, after: member }),
  removeMember: ({ before }) => before && ofMember(before, { before }),
  invite: ({ invitation }) => ofInvitation(invitation, { after: invitation }),
  endInvitation: ({ before }) => before && ofInvitation(before, { before }),
  nameWorkspace: ({ workspace, access, before }) => ({
    kind: 'workspace',
    id: workspace,
    workspace,
    ...(before && { before: { access: before } }),
    after: { access },
  }),
};
