import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { listUpTo } from '../../../mcp/tool.ts';
import { text } from '../../coordination/index.ts';
import { answerShape, defineTool, success, writing } from './codingAnswers.ts';

export const registerRunner = defineTool({
  name: 'register_runner',
  title: 'Register a runner',
  description: 'For runners: declares the coding agents that are installed where you are.',
  details:
    'With their versions, as your capabilities, in place of those that you had. It answers who you are. A runner has the credential of an agent of its own.',
  input: z.strictObject({
    programs: listUpTo(
      20,
      z.strictObject({
        name: text('The program: claude or gemini', 100),
        version: text('What it says of itself', 100),
      }),
      'programs',
    )
      .min(1)
      .describe('The coding agents that you can start'),
    serves: z
      .enum(['owner', 'workspace'])
      .default('owner')
      .describe(
        'Whose tasks you take: those of your owner, or of all workers here, whose prompts you then run',
      ),
  }),
  output: answerShape(z.object({ agentId: z.string(), workspace: z.string() })),
  annotations: { ...writing, idempotentHint: true },
  loosens: [],
  role: 'worker',
  audience: 'runners',
  example: { programs: [{ name: 'claude', version: '2.1.197' }] },
  answer: (runner: { agentId: string; workspace: string }) =>
    success(`You are the runner ${runner.agentId}.`, runner),
  handler: async ({ services, workspace, principal, recordAnswer }, { programs, serves }) => {
    const { agent_id } = principal;
    if (agent_id === undefined)
      throw new MusterError('FORBIDDEN', 'Only an agent can be a runner, and you are a person.', {
        suggestion: 'Register an agent for it with onboarding.registerAgent, and use its credential.',
      });
    const runner = { agentId: agent_id, workspace };
    const capabilities = programs.map(({ name, version }) => ({
      name,
      category: 'coding agent',
      parameters: { version },
    }));
    await services.membership.join(principal, { ...runner, role: 'worker', capabilities, serves }, () =>
      recordAnswer(runner),
    );
    return runner;
  },
});
