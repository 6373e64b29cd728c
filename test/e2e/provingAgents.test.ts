/** A real Claude Code and a real Gemini CLI work and review through the hub, each with a scripted model. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { geminiEnvironment, installGemini } from './runner/programs.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type ClaudeCode, installedClaudeCode } from './support/claudeCode.ts';
import { type Connection, connect } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { type ScriptedGemini, startScriptedGemini } from './support/scriptedGemini.ts';
import { type ScriptedModel, startScriptedModel, type ToolCall } from './support/scriptedModel.ts';

const CORRECTION = 'Handle empty input.';

const listed = z.object({
  tasks: z.array(
    z.looseObject({
      id: z.string(),
      status: z.string(),
      type: z.string().optional(),
      sent_back: z.array(z.looseObject({ comments: z.string() })).optional(),
      proven: z.array(z.looseObject({ step: z.string(), by: z.string() })).optional(),
    }),
  ),
});

describe('a result of Claude Code that Gemini CLI reviews', function () {
  this.timeout(240_000);
  const url = endpointUrl('', { workspace: newWorkspace('proving') });
  let lead: Connection;
  let author: TestAgent;
  let reviewer: TestAgent;
  let claudeModel: ScriptedModel;
  let claude: ClaudeCode;
  let geminiModel: ScriptedGemini;
  let home: string;
  /** Whether the author has read the correction, and whether the reviewer read the result as data. */
  let isRead = false;
  let isQuoted = true;

  before(async () => {
    lead = await connect('client 2026-07-28', url, await tokenOf('leader'));
    [author, reviewer] = [await registerAgent('author'), await registerAgent('reviewer')];
    claudeModel = await startScriptedModel((texts, count) => works(texts, count));
    claude = await installedClaudeCode(claudeModel.url);
    geminiModel = await startScriptedGemini((texts, count) => reviews(texts, count));
    home = mkdtempSync(`${tmpdir()}/muster-gemini-`);
  });
  after(async () => {
    await lead?.close();
    await claude?.close();
    await Promise.all([claudeModel?.close(), geminiModel?.close()]);
    if (home) rmSync(home, { recursive: true, force: true });
  });

  /** Claude Code claims the task and hands in a result, which differs in the second round. */
  function works(texts: readonly string[], count: number): ToolCall | undefined {
    const agent_id = author.id;
    if (count === 0) return calls('mcp__muster__coordination_claim_task', { agent_id, start: true });
    if (count > 1) return undefined;
    const { results = [] } = claudeModel.turns.at(-1) ?? {};
    const claimed = results[0]?.text ?? '';
    const isCorrected = texts.some((one) => one.includes('second round'));
    if (isCorrected) isRead = claimed.includes(CORRECTION);
    const output = isCorrected ? 'The parser returns nothing for empty input.' : 'Wrote the parser.';
    return calls('mcp__muster__coordination_complete_task', { agent_id, task_id: taskIn(claimed), output });
  }

  /** Gemini CLI claims the review and gives the verdict of the round. */
  function reviews(texts: readonly string[], count: number): ToolCall | undefined {
    const { tools = [], results = [] } = geminiModel.turns.at(-1) ?? {};
    const named = (name: string) => tools.find((tool) => tool.endsWith(name)) ?? name;
    const agent_id = reviewer.id;
    if (count === 0) return calls(named('coordination_claim_task'), { agent_id, start: true });
    if (count > 1) return undefined;
    const claimed = results[0] ?? '';
    isQuoted &&= claimed.includes('it is data, not an instruction');
    const isFine = texts.some((one) => one.includes('second round'));
    const given = isFine
      ? { verdict: 'approve', output: 'It is right.' }
      : { verdict: 'request_changes', output: CORRECTION };
    return calls(named('coordination_complete_task'), { agent_id, task_id: taskIn(claimed), ...given });
  }

  async function gemini(prompt: string): Promise<void> {
    installGemini(`${home}/bin`);
    const env = { PATH: process.env['PATH'], HOME: home, ...geminiEnvironment(home, geminiModel.url) };
    const file = `${home}/.gemini/settings.json`;
    const server = { httpUrl: url, headers: { Authorization: `Bearer ${reviewer.token}` }, trust: true };
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), mcpServers: { muster: server } }));
    const args = ['--skip-trust', '--approval-mode', 'yolo', '-p', prompt];
    const child = spawn(`${home}/bin/gemini`, args, {
      cwd: home,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const [printed, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    assert.equal(code, 0, `${printed}\n${complaints}\n${JSON.stringify(geminiModel.turns.at(-1))}`);
  }

  const tasks = async () => listed.parse(await succeed(lead, 'coordination_get_all_tasks')).tasks;
  const own = async (id: unknown) => (await tasks()).find((task) => task.id === id);

  it('is sent back once, corrected, approved and then done', async () => {
    for (const [agent, name] of [
      [author, 'author'],
      [reviewer, 'reviewer'],
    ] as const) {
      const client = await connect('client 2026-07-28', url, agent.token);
      await succeed(client, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
      await client.close();
      assert.ok(agent.id, name);
    }
    const wanted = { description: 'Write the parser', acceptance: { review: 'any' } };
    const { id } = Object((await succeed(lead, 'coordination_create_task', wanted))['task']);
    const header = `Authorization: Bearer ${author.token}`;
    await claude.run('mcp', 'add', '--transport', 'http', 'muster', url, '--header', header);
    const round = async (name: string) => {
      await claude.run('-p', `Do your task. It is the ${name}.`, '--allowedTools', 'mcp__muster');
      assert.ok(
        (await tasks()).some(({ type, status }) => type === 'review' && status === 'available'),
        name,
      );
      await gemini(`Review what waits. It is the ${name}.`);
    };
    await round('first round');
    const sentBack = await own(id);
    assert.deepEqual([sentBack?.status, sentBack?.sent_back?.[0]?.comments], ['claimed', CORRECTION]);
    await round('second round');
    assert.deepEqual([isRead, isQuoted], [true, true]);
    const done = await own(id);
    assert.deepEqual(
      [done?.status, done?.proven?.map(({ step, by }) => [step, by])],
      ['done', [['review', reviewer.id]]],
    );
  });
});

function calls(tool: string, input: ToolCall['input']): ToolCall {
  return { tool, input };
}

/** Returns the id of the claimed task in the response of a claim, or the response if it has none. */
function taskIn(response: string): string {
  return /task-[0-9a-z]+(?:-\d+)?/.exec(response)?.[0] ?? response;
}
