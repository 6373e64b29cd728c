/** Fixture over the real services: a team whose to-dos, tasks, runs and pull requests are parts of each other. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import {
  type NodeRef,
  nodeFromDocument,
  nodeKey,
  type StoredNode,
} from '../../../functions/src/graph/rules/graphNode.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, graphPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { isRecord } from '../../../functions/src/mcp/validation.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import { GitHubWebhook } from '../../../functions/src/vendors/octokit/webhook.ts';
import { seedClaudeNetwork } from '../../support/github/seed.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import type { Repo } from '../../support/github/state.ts';
import { LocalModels } from '../../support/models/server.ts';
import { answer, call } from '../coordination/calls.ts';
import { silent, Team, type TeamBindings } from '../coordination/team.ts';
import { agentsAt } from '../orchestration/fixture.ts';

type Fields = Readonly<Record<string, unknown>>;

const SECRET = "It's a Secret to Everybody";

export class GraphFixture extends Team {
  readonly gitHub: LocalGitHub;
  readonly models: LocalModels;
  readonly repo: Repo;
  private readonly deliveries = new Set<Promise<unknown>>();

  private constructor(
    vendors: { readonly gitHub: LocalGitHub; readonly models: LocalModels },
    database?: TeamBindings['database'],
  ) {
    super({
      gitHub: () => vendors.gitHub.asApp,
      hosted: () => agentsAt(vendors.models.url),
      budget: { tokens: 1_000_000, cost_usd: 10 },
      dispatch: { dispatch: async (runId) => this.execute(runId) },
      ...(database && { database }),
    });
    this.gitHub = vendors.gitHub;
    this.models = vendors.models;
    this.repo = seedClaudeNetwork(this.gitHub.world);
  }

  static async open(database?: TeamBindings['database']): Promise<GraphFixture> {
    const vendors = { gitHub: new LocalGitHub(), models: new LocalModels() };
    await vendors.gitHub.start();
    await vendors.models.start();
    return new GraphFixture(vendors, database);
  }

  /** Gives the owner a role in the workspace. Runs continue only while their owner has a role. */
  async enrolOwner(): Promise<void> {
    const { workspace, leader, now: addedAt } = this;
    const member = { uid: leader.owner_uid, workspace, role: 'leader', added_by: 'a-test', added_at: addedAt } as const;
    await this.app.kernel.store.commit([
      { kind: 'nameWorkspace', workspace, access: 'private' },
      { kind: 'setMember', member },
    ]);
  }

  async close(): Promise<void> {
    await this.settled();
    await Promise.all([this.gitHub.stop(), this.models.stop()]);
    assert.deepEqual([this.gitHub.problems, this.models.problems], [[], []]);
  }

  /** Calls a tool, which must succeed, and returns its result. Results of coding tools have no envelope. */
  async ask(tool: string, args: JsonObject, principal?: Principal): Promise<Fields> {
    const content = await answer(this, tool, args, principal ?? this.leader);
    const { result } = content;
    return tool.startsWith('coding_') && isRecord(result) ? result : content;
  }

  async refused(tool: string, args: JsonObject, principal?: Principal): Promise<string> {
    const { structuredContent, isError } = await call(this, tool, args, principal ?? this.leader);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    return JSON.stringify(structuredContent);
  }

  async node(ref: NodeRef): Promise<StoredNode | undefined> {
    const snapshot = await firestore()
      .doc(graphPath(nodeKey(ref)))
      .get();
    return snapshot.exists ? nodeFromDocument(snapshot.data()) : undefined;
  }

  /** Runs the graph's trigger twice for an item and all items below it, and repeats this until nothing changes. */
  async follow(ref: NodeRef): Promise<void> {
    for (;;) {
      const before = await this.documentsAt(ref);
      for (const { data } of before) for (const app of [this.app, this.app]) await app.services.followGraph(data);
      const after = await this.documentsAt(ref);
      if (JSON.stringify(after) === JSON.stringify(before)) return;
    }
  }

  async documentsAt(ref: NodeRef) {
    const graph = firestore().collection(COLLECTIONS.graph);
    const own = await graph.doc(nodeKey(ref)).get();
    const { docs } = await graph.where('ancestors', 'array-contains', nodeKey(ref)).get();
    return [own, ...docs].filter((one) => one.exists).map((one) => ({ key: one.id, data: one.data() }));
  }

  /** Delivers the GitHub webhook of a merged pull request. */
  async merge(number: number, more: JsonObject = {}): Promise<void> {
    const pull_request = { number, merged: true, merge_commit_sha: 'c'.repeat(40), ...more };
    const text = JSON.stringify({ action: 'closed', repository: { id: this.repo.id }, pull_request });
    const webhook = new GitHubWebhook({
      secret: () => SECRET,
      deliveries: new Deliveries({ ...this.app.gitHub.ports, log: silent }),
    });
    const signature = `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`;
    const headers = { 'x-github-event': 'pull_request', 'x-hub-signature-256': signature };
    const { status } = await webhook.receive({ method: 'POST', headers, body: async () => Buffer.from(text) });
    assert.ok(status < 300, String(status));
  }

  /** Waits until all runs in progress have stopped. */
  async settled(): Promise<void> {
    while (this.deliveries.size > 0) await Promise.all(this.deliveries);
  }

  private execute(runId: string): void {
    const delivery: Promise<unknown> = this.app.services.runExecution
      .deliver({ runId })
      .catch(() => undefined)
      .finally(() => this.deliveries.delete(delivery));
    this.deliveries.add(delivery);
  }
}
