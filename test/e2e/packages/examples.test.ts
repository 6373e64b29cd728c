/** Runs the workers of examples/ as a person would: as programs, with their documented settings. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { registerAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { connect } from '../support/clients.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';

const EXAMPLES = new URL('../../../examples', import.meta.url).pathname;
const run = promisify(execFile);

describe('the example worker', () => {
  for (const [file, program] of [
    ['worker.js', process.execPath],
    ['worker.py', 'python3'],
  ] as const)
    it(`${file} completes all tasks in order, and waits while all are blocked`, async () => {
      const url = endpointUrl('', { workspace: newWorkspace('example') });
      const leader = await registerAgent('lead', { role: 'leader' });
      const workers = await Promise.all([registerAgent('worker'), registerAgent('worker')]);
      const lead = await connect('client 2026-07-28', url, leader.token);
      try {
        await succeed(lead, 'coordination_create_tasks_batch', {
          tasks: [{ description: 'Write the parser' }, { description: 'Test it', dependencies: ['task-1'] }],
        });
        const { PATH, HOME } = process.env;
        const outputs = workers.map(async ({ id, token }) => {
          const env = { PATH, HOME, MUSTER_URL: url, MUSTER_TOKEN: token };
          return (await run(program, [`${EXAMPLES}/${file}`, id], { env })).stdout;
        });
        const printed = await Promise.all(outputs);
        assert.equal(printed.join('').match(/: done/g)?.length, 2);
        // The second worker could leave only after the last task was claimed.
        for (const text of printed) assert.match(text, /No task is available: all are claimed or closed\.\n$/);
        const { progress_percent } = await succeed(lead, 'coordination_get_status');
        assert.equal(progress_percent, 100);
        assert.match(JSON.stringify(await succeed(lead, 'coordination_get_results')), /3 words.*2 words/);
      } finally {
        await lead.close();
      }
    });
});
