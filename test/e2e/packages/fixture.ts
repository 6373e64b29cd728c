/** A workspace with a leader, an agent and fake models, for the workflows of docs/guides/cookbook.md. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Vendor } from '../../support/models/dialect.ts';
import { RemoteModels } from '../../support/models/remote.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { type Connection, connect } from '../support/clients.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';
import { eventually } from '../support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

const CAPABILITIES = ['coding', 'merging', 'asking', 'reporting'];
const task = z.object({ id: z.string(), description: z.string(), claim_epoch: z.number() });
type Task = z.output<typeof task>;

const run = z.looseObject({
  runId: z.string(),
  status: z.string(),
  result: z.string().optional(),
  steps: z.array(z.looseObject({ name: z.string(), agent: z.string(), status: z.string() })),
});
export type Run = z.output<typeof run>;
export const models = new RemoteModels(process.env['ANTHROPIC_BASE_URL'] ?? '');

/** A workspace with a leader, which starts workflows, and an agent, which does the steps for live agents. */
export class CookbookFixture {
  /** Text in every prompt of this test. By this text, the fake models find out which test made a request. */
  readonly mark = randomUUID();
  readonly leader: Connection;
  private readonly worker: Connection;
  private readonly agent: TestAgent;

  private constructor(leader: Connection, worker: Connection, agent: TestAgent) {
    [this.leader, this.worker, this.agent] = [leader, worker, agent];
  }

  static async open(): Promise<CookbookFixture> {
    const url = endpointUrl('', { workspace: newWorkspace('cookbook'), toolsets: 'all' });
    const [lead, agent] = await Promise.all([
      registerAgent('cook', { role: 'leader' }),
      registerAgent('cook', { capabilities: CAPABILITIES }),
    ]);
    const [leader, worker] = await Promise.all(
      [lead.token, agent.token].map((token) => connect('client 2026-07-28', url, token)),
    );
    assert.ok(leader !== undefined && worker !== undefined);
    const wishes = { agent_id: agent.id, role: 'worker', capabilities: CAPABILITIES };
    await succeed(worker, 'coordination_register_agent', wishes);
    return new CookbookFixture(leader, worker, agent);
  }

  async close(): Promise<void> {
    await Promise.all([this.leader.close(), this.worker.close()]);
  }

  /** Sets the answers of the fake models, in the order of the requests to each vendor. */
  async say(...answers: readonly { readonly text: string; readonly vendor: Vendor }[]): Promise<void> {
    // The fake models apply the rule that was added last, so the rules are added in reverse order.
    for (const { text, vendor } of [...answers].reverse())
      await models.when({ text: this.mark, vendor, times: 1 }, { does: 'answer', text });
  }

  /** Starts the workflow in a file, and returns the run. The run may still be in progress. */
  async start(name: string, more: Fields = {}): Promise<Run> {
    const path = new URL(`../../../examples/workflows/${name}.json`, import.meta.url).pathname;
    const { workflow } = await succeed(this.leader, 'orchestration_save_workflow', {
      workflow: JSON.parse(readFileSync(path, 'utf8')),
    });
    const saved = z.object({ name: z.literal(name) }).parse(workflow);
    const input = `Mend the roof (${this.mark})`;
    const wishes = { workflow: saved.name, input, ...more };
    return run.parse(await succeed(this.leader, 'orchestration_orchestrate_workflow', wishes));
  }

  /** Waits for the run's next task and claims it as the agent. */
  claim(): Promise<Task> {
    return eventually('a step can be claimed', async () => {
      const { task: claimed } = await this.work('coordination_claim_task', { agent_id: this.agent.id });
      return claimed === undefined ? undefined : task.parse(claimed);
    });
  }

  async complete({ id, claim_epoch }: Task, output: string): Promise<void> {
    const mine = { agent_id: this.agent.id, task_id: id, claim_epoch };
    await this.work('coordination_complete_task', { ...mine, output });
  }

  /** Claims the run's next task, asserts its description and completes it. */
  async does(wanted: RegExp, output: string): Promise<void> {
    const claimed = await this.claim();
    assert.match(claimed.description, wanted);
    await this.complete(claimed, output);
  }

  work(tool: string, args: Fields): Promise<Fields> {
    return succeed(this.worker, tool, args);
  }

  /** Waits until the run has succeeded, and returns the run. */
  ended({ runId }: Run): Promise<Run> {
    return eventually(
      `run ${runId} succeeds`,
      async () => {
        const answer = run.parse(await succeed(this.leader, 'orchestration_get_run', { runId, full: true }));
        assert.ok(!['failed', 'cancelled'].includes(answer.status), JSON.stringify(answer));
        return answer.status === 'succeeded' ? answer : undefined;
      },
      240_000,
    );
  }
}
