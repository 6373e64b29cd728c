/** A runner with --commands checks the work of an agent that needs no runner. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { git } from '../../../runner/test/support/folders.ts';
import { installStandIn } from '../../../runner/test/support/standIn.ts';
import { eventually } from '../support/waiting.ts';
import { TIMEOUT_MS, withRunnerFixture } from './fixture.ts';

const step = z.object({ step: z.string(), commit: z.string().optional() });
const task = z.object({
  id: z.string(),
  status: z.string(),
  sent_back: z.array(z.object({ comments: z.string(), by: z.string() })).optional(),
  proven: z.array(step).optional(),
});

describe('the command of an acceptance', () => {
  it(
    'sends a result back that fails it, and proves the corrected one',
    withRunnerFixture('commands', async (fixture) => {
      const { leader, repo } = fixture;
      installStandIn(fixture.bin, "result('Not needed.');");
      git(repo, 'branch', 'feature/parser');
      const own = { agent_id: leader.id };
      await fixture.lead('register_agent', { ...own, role: 'worker' });
      const acceptance = { command: 'test -f parser.js' };
      const created = await fixture.lead('create_task', { description: 'Write the parser', acceptance });
      const { id } = task.parse(created['task']);
      const until = (isReached: (now: z.output<typeof task>) => boolean) =>
        eventually(
          'the command has run',
          async () => {
            const listed = z.array(task).parse((await fixture.lead('get_all_tasks', {}))['tasks']);
            return listed.find((one) => one.id === id && isReached(one));
          },
          TIMEOUT_MS,
        );
      const handIn = async (output: string) => {
        await fixture.lead('claim_task', { ...own, start: true });
        await fixture.lead('complete_task', { ...own, task_id: id, output, branch: 'feature/parser' });
      };
      const runner = fixture.startRunner(['--commands', '--for', 'workspace']);
      await handIn('Wrote it');
      const { sent_back: [correction] = [] } = await until(({ sent_back }) => sent_back !== undefined);
      assert.match(correction?.comments ?? '', /test -f parser\.js/);
      git(repo, 'worktree', 'add', '--quiet', `${fixture.folder}/work`, 'feature/parser');
      writeFileSync(`${fixture.folder}/work/parser.js`, '');
      git(`${fixture.folder}/work`, 'add', '.');
      git(`${fixture.folder}/work`, 'commit', '--quiet', '-m', 'Add the parser');
      await handIn('Added the missing file');
      const { proven = [] } = await until(({ status }) => status === 'done');
      assert.deepEqual(proven, [{ step: 'command', commit: git(repo, 'rev-parse', 'feature/parser') }]);
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.output());
    }),
  );
});
