/** Workspaces in Firestore, and detection of data that exists under a workspace's name. */
import type { Firestore } from '@google-cloud/firestore';
import type { Database } from 'firebase-admin/database';
import { EVERYONE } from '../../identity/rules/credential.ts';
import { recordAccessChange } from '../../identity/store/credentials.ts';
import type { Versioned } from '../../kernel/commit.ts';
import { WORKSPACE_ACCESS_PATH, workspacePath } from '../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters, CommitWrites, EffectsOf } from '../../kernel/firestore/store.ts';
import type { WorkspaceQueries } from '../rules/ports.ts';
import {
  type ApprovalRule,
  type Routing,
  type RoutingChanges,
  type StoredWorkspace,
  type WorkspaceChanges,
  workspaceFromDocument,
  workspaceToDocument,
} from '../rules/workspace.ts';

export function routingToFields({ pins, forbidden }: Partial<Routing>): Record<string, unknown> {
  return { ...(pins && { pinned_agents: pins }), ...(forbidden && { forbidden_agents: forbidden }) };
}

export function approvalToDocument({ tool, above_usd, asks }: ApprovalRule) {
  return { tool, above_usd: above_usd ?? null, asks: asks ?? null };
}

/** Roots of free-form data. Data below the name of a workspace belongs to that workspace. */
const SHARED_DATA = ['messages', 'shared'] as const;

export class FirestoreWorkspaceQueries extends FirestoreReader implements WorkspaceQueries {
  private readonly realtime: () => Promise<Database>;

  constructor(database: Firestore, documents: DocumentReading, realtime: () => Promise<Database>) {
    super(database, documents);
    this.realtime = realtime;
  }

  async find(workspace: string): Promise<Versioned<StoredWorkspace> | undefined> {
    const snapshot = await this.database.doc(workspacePath(workspace)).get();
    return this.documents.findVersioned(snapshot, workspaceFromDocument);
  }

  async hasData(workspace: string): Promise<boolean> {
    const found = await Promise.all(
      SHARED_DATA.flatMap((root) => [this.hasDocuments(`${root}/${workspace}`), this.hasNode(`${root}/${workspace}`)]),
    );
    return found.includes(true);
  }

  /** Collections can exist below a document that does not exist. */
  private async hasDocuments(path: string): Promise<boolean> {
    const document = this.database.doc(path);
    const [{ exists }, collections] = await Promise.all([document.get(), document.listCollections()]);
    return exists || collections.length > 0;
  }

  private async hasNode(path: string): Promise<boolean> {
    const node = (await this.realtime()).ref(path);
    // A node can hold megabytes, so a query reads only its first child. A node that is one value has no child.
    if ((await node.orderByKey().limitToFirst(1).get()).exists()) return true;
    return (await node.get()).exists();
  }
}

export const workspaceWriters: ChangeWriters<WorkspaceChanges & RoutingChanges> = {
  createWorkspace({ name, workspace }, writes) {
    writes.createPermanent(workspacePath(name), workspaceToDocument(workspace));
  },
  setApprovalRules({ workspace, approvals, version }, writes) {
    setFields(writes, workspace, { approvals: approvals.map(approvalToDocument) }, version);
    writes.merge(WORKSPACE_ACCESS_PATH, { asking: { [workspace]: approvals.length > 0 } });
    recordAccessChange(writes, EVERYONE);
  },
  setProof({ workspace, proof, version }, writes) {
    setFields(writes, workspace, { proof }, version);
  },
  listRepositories({ workspace, repositories, version }, writes) {
    setFields(writes, workspace, { repositories }, version);
  },
  routeWorkspace({ workspace, routing, version }, writes) {
    setFields(writes, workspace, routingToFields(routing), version);
  },
};

/** Sets fields of a workspace. If a version is given, the write requires that version. */
function setFields(
  writes: CommitWrites,
  workspace: string,
  fields: Record<string, unknown>,
  version: string | null | undefined,
): void {
  if (version === undefined) writes.merge(workspacePath(workspace), fields);
  else writes.createOrReplace(workspacePath(workspace), fields, version ?? undefined);
}

const ofWorkspace = (id: string) => ({ kind: 'workspace', id, workspace: id }) as const;

export const workspaceEffects: EffectsOf<WorkspaceChanges & RoutingChanges> = {
  createWorkspace: ({ name, workspace }) => ({ ...ofWorkspace(name), after: workspaceToDocument(workspace) }),
  setApprovalRules: ({ workspace, approvals, before }) =>
    before && {
      ...ofWorkspace(workspace),
      before: { approvals: before.map(approvalToDocument) },
      after: { approvals: approvals.map(approvalToDocument) },
    },
  setProof: ({ workspace, proof, before }) =>
    before && { ...ofWorkspace(workspace), before: { proof: before }, after: { proof } },
  listRepositories: ({ workspace, repositories, before }) =>
    before && { ...ofWorkspace(workspace), before: { repositories: before }, after: { repositories } },
  routeWorkspace: ({ workspace, routing, before }) =>
    before && { ...ofWorkspace(workspace), before: routingToFields(before), after: routingToFields(routing) },
};
