/** A toolset whose calls become MCP tasks, with the tools that the conformance suite requires. Its jobs are in memory. */
import { z } from 'zod';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import type {
  CallContext,
  ClientQuestions,
  ElicitationQuestion,
  McpTaskState,
} from '../../functions/src/mcp/callContext.ts';
import { type Toolset, toolsFor } from '../../functions/src/mcp/tool.ts';

interface Job {
  readonly id: string;
  readonly createdAt: Date;
  /** Names of the questions for the person that are still open. */
  readonly open: Set<string>;
  status: McpTaskState['status'];
  result: () => { text: string };
}

const form = (field: string): ElicitationQuestion => ({ message: `Which ${field}?`, form: { field, title: field } });
const common = {
  output: z.object({ text: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  role: 'viewer' as const,
  text: ({ text }: { text: string }) => text,
};

/** Returns the toolset and its port for questions. */
export function taskToolset(): { readonly toolset: Toolset; readonly questions: ClientQuestions } {
  const jobs = new Map<string, Job>();
  const defineTool = toolsFor<unknown>();
  const jobOf = (id: string): Job => {
    const job = jobs.get(id);
    if (job === undefined) throw new MusterError('NOT_FOUND', 'There is no such job.');
    return job;
  };
  const stateOf = ({ id, createdAt, status, open }: Job): McpTaskState => ({
    id,
    status,
    createdAt,
    changedAt: createdAt,
    kept: 'runs',
    pollMs: 100,
    ...(status === 'working' && { message: 'Working.' }),
    ...(open.size > 0 && { waitsFor: { request: id } }),
    cancel: { tool: 'test.cancel_job', args: { id } },
  });
  const task = {
    ids: /^job-/,
    state: async (_context: CallContext<unknown>, id: string) => stateOf(jobOf(id)),
    response: async (_context: CallContext<unknown>, id: string) => jobOf(id).result(),
  };
  /** Starts a job, which ends after a time, or when all its questions are answered. */
  const start = (
    { respondWithTask }: CallContext<unknown>,
    seconds: number,
    { open, result }: Pick<Job, 'open' | 'result'>,
  ) => {
    const job: Job = { id: `job-${jobs.size + 1}`, createdAt: new Date(), status: 'working', open, result };
    jobs.set(job.id, job);
    const end = () => {
      if (job.status === 'working') job.status = 'ended';
    };
    if (open.size === 0) setTimeout(end, seconds * 1000).unref();
    respondWithTask?.(stateOf(job));
    return respondWithTask === undefined ? result() : { text: 'The job has started.' };
  };
  const ended = (text: string) => ({ open: new Set<string>(), result: () => ({ text }) });
  const asking = (...names: string[]) => ({ open: new Set(names), result: () => ({ text: 'Answered.' }) });
  const jobTool = { ...common, notifies: true as const, task };
  const tools = [
    defineTool({
      ...common,
      name: 'greet',
      title: 'Greet',
      description: 'Greets at once.',
      input: z.strictObject({ name: z.string() }),
      example: { name: 'Ada' },
      handler: async (_context, { name }) => ({ text: `Hello, ${name}!` }),
    }),
    defineTool({
      ...jobTool,
      name: 'slow_compute',
      title: 'Compute slowly',
      description: 'Takes some seconds.',
      input: z.strictObject({ seconds: z.number(), label: z.string().optional() }),
      example: { seconds: 1 },
      handler: async (context, { seconds, label = '' }) => start(context, seconds, ended(`Computed ${label}`)),
    }),
    defineTool({
      ...jobTool,
      name: 'failing_job',
      title: 'Fail',
      description: 'Fails after a while.',
      taskOnly: true,
      input: z.strictObject({}),
      example: {},
      handler: async (context) => {
        const result = (): never => {
          throw new MusterError('CONFLICT', 'The job has failed.');
        };
        return start(context, 0.1, { open: new Set(), result });
      },
    }),
    defineTool({
      ...jobTool,
      name: 'protocol_error_job',
      title: 'Break',
      description: 'Breaks after a while.',
      input: z.strictObject({}),
      example: {},
      handler: async (context) => {
        const result = (): never => {
          throw new Error('secret detail at /srv/path');
        };
        return start(context, 0.1, { open: new Set(), result });
      },
    }),
    defineTool({
      ...jobTool,
      name: 'confirm_delete',
      title: 'Confirm',
      description: 'Asks one question.',
      input: z.strictObject({ filename: z.string() }),
      example: { filename: 'a.txt' },
      handler: async (context) => start(context, 0, asking('confirm')),
    }),
    defineTool({
      ...jobTool,
      name: 'multi_input',
      title: 'Ask twice',
      description: 'Asks two questions.',
      input: z.strictObject({}),
      example: {},
      handler: async (context) => start(context, 0, asking('first', 'second')),
    }),
    defineTool({
      ...jobTool,
      name: 'test_tool_with_task',
      title: 'Ask, then work',
      description: 'Asks before the job starts.',
      taskOnly: true,
      input: z.strictObject({}),
      example: {},
      handler: async (context) => {
        const response = context.elicitation?.response('user_name');
        if (response !== undefined) return start(context, 0.1, ended(`Hello, ${response.content?.['name']}!`));
        context.elicitation?.ask('user_name', form('name'));
        return { text: 'Asked.' };
      },
    }),
    defineTool({
      ...common,
      name: 'cancel_job',
      title: 'Cancel',
      description: 'Cancels a job.',
      input: z.strictObject({ id: z.string() }),
      example: { id: 'job-1' },
      handler: async (_context, { id }) => {
        const job = jobOf(id);
        if (job.status === 'working') job.status = 'cancelled';
        return { text: 'Cancelled.' };
      },
    }),
  ];
  const keyOf = (id: string, name: string) => `${id}:${name}`;
  return {
    toolset: { name: 'test', instructions: 'Jobs.', tools, resources: [] },
    questions: {
      async pending(_principal, waitsFor) {
        const { id, open } = jobOf('request' in waitsFor ? waitsFor.request : '');
        return new Map([...open].map((name) => [keyOf(id, name), form(name)]));
      },
      async shown(_principal, key) {
        const [id = '', name = ''] = key.split(':');
        const job = jobOf(id);
        job.open.delete(name);
        if (job.open.size === 0) job.status = 'ended';
      },
      decided: async () => undefined,
    },
  };
}
