/** The tool calls with which a runner works on a coding task, made by an agent of the test. */
import { z } from 'zod';
import { registerAgent } from './agents.ts';
import { succeed } from './calls.ts';
import { type Connection, connect } from './clients.ts';
import { endpointUrl } from './endpoint.ts';

/** Arguments of the create_task example in the coding specification. */
export const PRINTED_TASK = {
  tool: 'CLAUDECODE',
  description: 'Add authentication to the app',
  instructions: 'Implement JWT authentication with login/logout endpoints',
  branch: 'feature/auth',
} as const;

const claimed = z.object({ result: z.object({ task: z.object({ epoch: z.number() }) }) });

export class CodingWork {
  private readonly client: Connection;
  private readonly taskId: string;
  private readonly epoch: number;
  private logged = 0;

  private constructor(client: Connection, taskId: string, epoch: number) {
    this.client = client;
    this.taskId = taskId;
    this.epoch = epoch;
  }

  /** Registers an agent as a runner, which claims the task. */
  static async begin(workspace: string, taskId: string, project?: string): Promise<CodingWork> {
    const runner = await registerAgent('runner');
    const client = await connect('client 2026-07-28', endpointUrl('/coding', { workspace }), runner.token);
    await succeed(client, 'register_runner', { programs: [{ name: 'claude', version: '2.1.197' }] });
    const wishes = { taskId, ...(project !== undefined && { project }) };
    const { task } = claimed.parse(await succeed(client, 'claim_task', wishes)).result;
    return new CodingWork(client, taskId, task.epoch);
  }

  /** Adds a log entry, and returns the entry's time in RFC 3339. */
  async log(message: string): Promise<string> {
    const { taskId, epoch } = this;
    const at = new Date().toISOString();
    const entry = { sequence: this.logged++, at, level: 'info', type: 'agent', message };
    await succeed(this.client, 'append_logs', { taskId, epoch, entries: [entry] });
    return at;
  }

  async complete(result: Readonly<Record<string, unknown>>): Promise<void> {
    const { taskId, epoch } = this;
    await succeed(this.client, 'end_task', { taskId, epoch, status: 'completed', result });
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
