/** Helpers that call the coding tools and resources as the MCP server does. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { readResource } from '../../../functions/src/mcp/call.ts';
import { resourcesOf } from '../../../functions/src/mcp/resources.ts';
import { isRecord } from '../../../functions/src/mcp/validation.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { authenticatorOf } from '../../support/principals.ts';
import { call, directory } from '../coordination/calls.ts';
import { silent, Team } from '../coordination/team.ts';

type Fields = Readonly<Record<string, unknown>>;

export const resources = resourcesOf(toolsets);

/** A team with a runner, and with a worker that creates tasks for the runner. */
export class CodingTeam extends Team {
  readonly creator: Principal = { ...this.principal('creator'), owner_uid: `person-${this.workspace}` };
  readonly runner = this.principal('runner');

  async begin(): Promise<this> {
    const { owner_uid: uid } = this.creator;
    await this.app.kernel.store.commit([{ kind: 'setPerson', uid, role: 'leader' }]);
    await this.join('runner', ['claude'], 'workspace');
    return this;
  }

  /** Runs a call that must succeed, and returns its result. */
  async ask(tool: string, args: JsonObject, principal = this.runner): Promise<Fields> {
    const { structuredContent, isError } = await call(this, `coding_${tool}`, args, principal);
    assert.equal(isError, undefined, JSON.stringify(structuredContent));
    assert.equal(structuredContent['status'], 'success');
    return fields(structuredContent['result']);
  }

  /** Runs a call that must fail, and returns its error. */
  async refused(tool: string, args: JsonObject, principal = this.runner): Promise<string> {
    const { structuredContent, isError } = await call(this, `coding_${tool}`, args, principal);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    assert.equal(structuredContent['status'], 'error');
    const { type, details } = fields(structuredContent['error']);
    return `${type} ${structuredContent['message']} ${JSON.stringify(details)}`;
  }

  /** Creates a coding task and returns its id. */
  async order(changes: JsonObject = {}): Promise<string> {
    const draft = { tool: 'CLAUDECODE', description: 'Add a login', instructions: 'Use JWT', ...changes };
    return String((await this.ask('create_task', draft, this.creator))['taskId']);
  }

  /** Claims the next coding task and returns it. */
  async take(changes: JsonObject = {}, principal = this.runner): Promise<Fields> {
    return fields((await this.ask('claim_task', changes, principal))['task']);
  }

  async report(taskId: string): Promise<Fields> {
    return this.ask('report_task', { taskId }, this.creator);
  }

  /** Returns the task from a response of report_task. */
  async shown(taskId: string): Promise<Fields> {
    return fields((await this.report(taskId))['task']);
  }

  log(taskId: string, epoch: number, entries: readonly JsonObject[]): Promise<Fields> {
    return this.ask('append_logs', { taskId, epoch, entries });
  }

  /** Returns the text of the resource with this URI. Throws if the read fails. */
  read(uri: string, principal = this.creator): Promise<string> {
    const found = resources.find(uri);
    assert.ok(found, `unknown resource ${uri}`);
    return readResource(this.ports, this.exchange(principal), found);
  }

  get ports() {
    return { ...this.app.calls, authenticator: authenticatorOf(this.creator), log: silent };
  }

  exchange(principal: Principal, missing = new AbortController().signal) {
    return {
      principal,
      credential: `credential of ${principal.uid}`,
      workspace: this.workspace,
      requestId: 'a-request',
      baseUrl: 'https://muster.example/mcp',
      directory,
      disconnectSignal: () => missing,
      timeLeft: () => 50_000,
    };
  }
}

export function fields(value: unknown): Fields {
  assert.ok(isRecord(value), JSON.stringify(value));
  return value;
}

/** Returns a log entry with the time 10:01 UTC. */
export function entry(sequence: number, message = `line ${sequence}`, changes: JsonObject = {}): JsonObject {
  return { sequence, at: '2040-01-01T10:01:00.000Z', level: 'info', type: 'agent', message, ...changes };
}
