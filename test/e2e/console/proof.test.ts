/** Results that must be proven, on the console: accessible at two widths, and live. Hostile corrections stay text. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { DEFAULT_PROOF } from '../../../functions/src/access/rules/proofSettings.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { requestPath, taskPath, workspacePath } from '../../../functions/src/kernel/firestore/paths.ts';
import { requestToDocument } from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { axeViolations, openBrowser } from '../../support/browser.ts';
import { sampleRequest } from '../../support/builders.ts';
import { PAYLOADS } from './support/hostile.ts';
import { type Account, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

const HOUR = 3_600_000;

const LOOKS = [
  { viewport: { width: 1280, height: 900 }, colorScheme: 'light', reducedMotion: 'reduce' },
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark', reducedMotion: 'reduce' },
] as const;

const correction = (round: number, comments: string) => ({
  round,
  at: new Date(Date.now() - HOUR),
  by: round === 1 ? 'muster' : 'terminal-2',
  step: round === 1 ? 'command' : 'review',
  comments,
  digest: `digest-${round}`,
  times: round,
  agent_id: 'terminal-1',
  claim_epoch: round,
});

describe('proof of results on the console', () => {
  const work = new Work();
  let browser: Browser;
  let person: Account;
  let task: string;
  let review: string;
  let asked: string;
  let waiting: string;

  /** Writes the stored form directly, because a result is verified only for a moment while agents are at work. */
  before(async () => {
    browser = await openBrowser();
    person = await seededAccount('Ada Person');
    await work.begin('Ship the login');
    const { uid } = await work.whoIs(person);
    task = await work.task('Add a page to reset the password\nIt asks for the email address.');
    review = await work.task('Review of Add a page to reset the password');
    asked = await work.task('Describe how to sign in');
    waiting = await work.task('Log failed attempts', { context_files: ['src/auth/**', 'docs/security.md'] });
    const set = (id: string, fields: object) => firestore().doc(taskPath(id)).update(fields);
    const acceptance = {
      command: 'npm test -- test/unit',
      review: 'security',
      confirm: 'owner',
      rounds: 3,
      hours: 24,
      otherwise: 'ask',
      terminals: false,
    };
    const handedIn = {
      agent_id: 'terminal-1',
      claim_epoch: 2,
      claimed_at: new Date(Date.now() - 14 * HOUR),
      lease_seconds: 1800,
      since: new Date(Date.now() - 13 * HOUR),
      branch: 'feature/reset',
      commit: 'abcdef1234567890',
    };
    const passed = [{ step: 'command', by: 'runner-1', at: new Date(), commit: 'abcdef1234567890' }];
    const result = { output: 'The page asks for the address and sends a mail.', files_created: [], files_modified: [] };
    const proof = { ...handedIn, step: 'review', round: 2, check: review, passed };
    await set(task, {
      status: 'waiting',
      acceptance,
      proof,
      result,
      proof_until: new Date(Date.now() + 11 * HOUR),
      rounds: 1,
      sent_back: [correction(1, 'test/unit/reset.test.ts: 1 failing'), correction(2, PAYLOADS.join('\n'))],
    });
    await set(review, { reviews: { task_id: task, round: 2, not_by: ['terminal-1'], terminals: false } });
    const until = new Date(Date.now() + 100 * HOUR);
    await set(asked, {
      status: 'waiting',
      acceptance,
      result,
      proof_until: until,
      rounds: 2,
      proof: { ...handedIn, step: 'person', round: 3, check: `question-${asked}`, passed },
      waiting_for: { request_id: `question-${asked}`, who: 'Ada Person', until },
      sent_back: [correction(2, 'The second step is missing.')],
    });
    const since = new Date(Date.now() - 240_000);
    await set(waiting, { files_wait: task, files_since: since, retry_at: until, blockers: 1, file_wait: 10 });
    const request = sampleRequest({
      id: `question-${asked}`,
      workspace: work.workspace,
      kind: 'choice',
      task_id: asked,
      expires_at: until,
      question: 'The result of "Describe how to sign in" was sent back 2 times. Is it right now?',
      options: ['approve', 'request changes', 'give up'],
      asked_by: uid,
      owner_uid: uid,
      asked_of: uid,
      created_at: since,
      proves: { task_id: asked, round: 3, not_by: ['terminal-1'] },
    });
    await firestore().doc(requestPath(request.id)).set(requestToDocument(request));
    const defaults = [{ command: 'npm test', review: 'any', type: 'coding' }, { confirm: uid }];
    await firestore()
      .doc(workspacePath(work.workspace))
      .update({ proof: { ...DEFAULT_PROOF, defaults } });
  });
  after(() => browser?.close());

  const pages = () => ['', 'tasks', 'tasks?view=board', 'tasks?view=graph', `t/${task}`, `t/${waiting}`, 'access'];

  for (const look of LOOKS)
    it(`has no accessibility violations and fits ${look.viewport.width} px, with hostile corrections`, async () => {
      const visit = await Visit.open(browser, look);
      const { page } = visit;
      await visit.signIn(person, `/?workspace=${work.workspace}`);
      for (const path of pages()) {
        await visit.follow(`/${path}${path.includes('?') ? '&' : '?'}workspace=${work.workspace}`);
        await page.locator('main h1').first().waitFor();
        await page.locator('main .bone').first().waitFor({ state: 'detached' });
        if (path === 'access') await page.getByRole('button', { name: 'Change limits' }).click();
        assert.deepEqual(await axeViolations(page), [], path);
        const wide = '[document.documentElement.scrollWidth, innerWidth]';
        const [width, room] = await page.evaluate<[number, number]>(wide);
        assert.ok(width <= room, `${path} is ${width} px wide, of ${room}`);
      }
      await visit.close();
      assert.deepEqual(visit.complaints, []);
    });

  it('shows a verdict as soon as it is stored, on the page of the task and on the board', async () => {
    const visit = await Visit.open(browser);
    const { page } = visit;
    await visit.signIn(person, `/tasks?view=board&workspace=${work.workspace}`);
    const verifying = page.getByRole('region', { name: 'Verifying' });
    await verifying.getByRole('link', { name: /^Add a page/ }).click();
    const proof = page.getByRole('region', { name: 'Proof' });
    await proof.getByText('An agent that can do security approves it').waitFor();
    await page.locator('.sentence').getByText('handed it in').waitFor();
    const stored = firestore().doc(taskPath(task));
    const proven = [{ step: 'review', by: 'terminal-2', at: new Date() }];
    await stored.update({ status: 'done', proof: null, proof_until: null, proven, completed_at: new Date() });
    await page.locator('.sentence .state').getByText('Done').waitFor();
    await proof.getByRole('listitem').filter({ hasText: 'Passed by terminal-2' }).waitFor();
    await page.goBack();
    await verifying.getByRole('link', { name: /^Add a page/ }).waitFor({ state: 'detached' });
    await visit.close();
    assert.deepEqual(visit.complaints, []);
  });
});
