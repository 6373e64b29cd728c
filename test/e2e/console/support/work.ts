/** Creates data that the console then shows. Agents create it by tool calls, in a workspace of the test. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { endpointUrl, newWorkspace, type Seeded, tokenOf } from '../../support/endpoint.ts';

const answered = z.object({ result: z.unknown().optional(), error: z.unknown().optional() });
const made = z.object({ task: z.object({ id: z.string() }) });
const reported = z.object({ messages: z.array(z.object({ text: z.string() })).default([]) });
const listed = z.object({ members: z.array(z.object({ uid: z.string(), email: z.string().optional() })) });

export class Work {
  readonly workspace = newWorkspace('console');

  /** @throws Error if the tool refuses the call */
  async call(who: Seeded, method: string, params: object = {}): Promise<unknown> {
    const response = await fetch(endpointUrl('/rpc', { workspace: this.workspace }), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await tokenOf(who)}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = answered.parse(await response.json());
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Creates the workspace. It belongs to Ada, who also owns the seeded agents. */
  async begin(goal: string): Promise<void> {
    await this.call('leader', 'coordination.init_coordination', { goal, master_plan: 'As it comes.' });
  }

  async task(description: string, more: object = {}): Promise<string> {
    const answer = await this.call('leader', 'coordination.create_task', { description, ...more });
    return made.parse(answer).task.id;
  }

  /** Registers an agent that then claims and starts the first task of the queue. Returns the task's id. */
  async claim(who: Seeded = 'worker1'): Promise<string> {
    const agentId = `${who}-${randomUUID().slice(0, 8)}`;
    await this.call(who, 'coordination.register_agent', { agent_id: agentId, role: 'worker' });
    const { task } = made.parse(await this.call(who, 'coordination.claim_task', { agent_id: agentId }));
    await this.call(who, 'coordination.start_task', { agent_id: agentId, task_id: task.id });
    this.holders.set(task.id, { who, agentId });
    return task.id;
  }

  async fail(taskId: string, error: string): Promise<void> {
    const holder = this.holders.get(taskId);
    if (holder === undefined) throw new Error(`nobody has claimed ${taskId}`);
    await this.call(holder.who, 'coordination.fail_task', {
      agent_id: holder.agentId,
      task_id: taskId,
      error,
      retryable: false,
    });
  }

  /** Adds a finding as the holder of the task. */
  async find(taskId: string, content: string, tags: readonly string[]): Promise<void> {
    const holder = this.holders.get(taskId);
    if (holder === undefined) throw new Error(`nobody has claimed ${taskId}`);
    await this.call(holder.who, 'coordination.add_discovery', { agent_id: holder.agentId, content, tags });
  }

  /** Sends a heartbeat of the task's holder, and returns the messages in the response. */
  async messagesTo(taskId: string): Promise<readonly string[]> {
    const holder = this.holders.get(taskId);
    if (holder === undefined) throw new Error(`nobody has claimed ${taskId}`);
    const args = { agent_id: holder.agentId };
    const { messages } = reported.parse(await this.call(holder.who, 'coordination.heartbeat', args));
    return messages.map(({ text }) => text);
  }

  /** Returns the member of the workspace who has this email address. */
  async whoIs({ email }: { readonly email: string }): Promise<{ readonly uid: string }> {
    const { members } = listed.parse(await this.call('person', 'access.list_members'));
    const found = members.find((member) => member.email === email);
    if (found === undefined) throw new Error(`${email} is no member.`);
    return found;
  }

  private readonly holders = new Map<string, { readonly who: Seeded; readonly agentId: string }>();
}
