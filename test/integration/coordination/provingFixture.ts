/** A workspace of Ada and Ben, who lead it, and their agents, in which results must be proven. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import type { Request } from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer, call } from './calls.ts';

export class ProvingFixture extends AccessFixture {
  private people: Readonly<Record<string, Principal>> = {};

  async open(): Promise<void> {
    await this.closeTo({ ada: 'leader', ben: 'leader' });
    this.people = {
      ada: await this.person('ada'),
      ben: await this.person('ben'),
      author: await this.agentOf('ada', 'leader'),
      reviewer: await this.agentOf('ben', 'leader'),
    };
    await this.does('author', 'init_coordination', { goal: 'Prove it' });
    await this.joins('author');
    await this.joins('reviewer');
  }

  who(name: string): Principal {
    return this.people[name] ?? assert.fail(name);
  }

  name(name: string): string {
    return String(this.who(name).agent_id);
  }

  joins(name: string, more: JsonObject = {}): Promise<JsonObject> {
    return this.does(name, 'register_agent', { agent_id: this.name(name), role: 'worker', ...more });
  }

  /** Advances the clock by one second, and calls a tool of coordination as a person or agent. */
  async does(name: string, tool: string, args: JsonObject): Promise<JsonObject> {
    this.pass(1);
    return answer(this, `coordination_${tool}`, args, this.who(name));
  }

  /** Calls a tool that must be refused, and returns the error message. */
  async cannot(name: string, tool: string, args: JsonObject): Promise<string> {
    this.pass(1);
    const { structuredContent, isError } = await call(this, `coordination_${tool}`, args, this.who(name));
    assert.equal(isError, true, JSON.stringify(structuredContent));
    return String(structuredContent['error']);
  }

  async creates(acceptance: JsonObject | undefined, more: JsonObject = {}): Promise<string> {
    const task = { description: 'Write the parser', ...(acceptance !== undefined && { acceptance }), ...more };
    return Object(await this.does('author', 'create_task', task)).task.id;
  }

  claims(name: string, more: JsonObject = {}): Promise<JsonObject> {
    return this.does(name, 'claim_task', { agent_id: this.name(name), start: true, ...more });
  }

  completes(name: string, taskId: string, output: string, more: JsonObject = {}): Promise<JsonObject> {
    return this.does(name, 'complete_task', { agent_id: this.name(name), task_id: taskId, output, ...more });
  }

  /** Claims the task as the author, and hands in a result. */
  async handsIn(taskId: string, output = 'Wrote it', more: JsonObject = {}): Promise<JsonObject> {
    const claimed = await this.claims('author');
    assert.equal(Object(claimed['task']).id, taskId, JSON.stringify(claimed));
    return this.completes('author', taskId, output, more);
  }

  /** Claims the review as the reviewer, and gives the verdict. */
  async reviews(verdict: 'approve' | 'request_changes', comments = 'Fine'): Promise<JsonObject> {
    const claimed = await this.claims('reviewer');
    const { id, type } = Object(claimed['task']);
    assert.equal(type, 'review', JSON.stringify(claimed));
    return this.completes('reviewer', id, comments, { verdict });
  }

  async checkOf(taskId: string): Promise<Task> {
    return this.task((await this.task(taskId)).proof?.check ?? assert.fail('no check'));
  }

  async questionOf(taskId: string): Promise<Request> {
    const { proof } = await this.task(taskId);
    assert.equal(proof?.step, 'person');
    const found = await this.app.inbox.ports.requests.find(proof.check ?? '');
    return found?.value ?? assert.fail('no question');
  }

  async answers(name: string, taskId: string, choice: string, comment?: string): Promise<JsonObject> {
    const { id } = await this.questionOf(taskId);
    this.pass(1);
    const given = { request_id: id, answer: choice, ...(comment !== undefined && { comment }) };
    return answer(this, 'inbox_answer', given, this.who(name));
  }
}
