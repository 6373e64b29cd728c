/** What the console listens to: each thing once, by the rights of now, and only while somebody looks at the page. */
import assert from 'node:assert/strict';
import { getAuth } from 'firebase-admin/auth';
import type { Browser } from 'playwright-core';
import { firebaseApp } from '../../../functions/src/kernel/platform.ts';
import { openBrowser } from '../../support/browser.ts';
import { newWorkspace } from '../support/endpoint.ts';
import { signUp } from '../support/people.ts';
import { seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

describe('a page that listens', () => {
  let browser: Browser;
  let visit: Visit;

  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());
  afterEach(async () => {
    await visit?.close();
    assert.deepEqual(visit?.complaints ?? [], []);
  });

  it('asks for each thing once, when somebody signs in and when they come again', async () => {
    const { work, task } = await begun('Once');
    const person = await signUp();
    await work.call('person', 'access.set_member', { uid: person.uid, role: 'viewer' });
    visit = await Visit.open(browser);
    const { asked } = visit.listening;
    await visit.signIn(person, `/tasks?workspace=${work.workspace}`);
    await visit.page.getByRole('link', { name: task }).waitFor();
    await shows('Another');
    assertOnce(asked);

    asked.length = 0;
    await visit.page.reload();
    await visit.page.getByRole('link', { name: task }).waitFor();
    await shows('A third');
    assertOnce(asked);

    /** By then whatever is listened to twice has been asked for twice. */
    async function shows(description: string): Promise<void> {
      await work.task(description);
      await visit.page.getByRole('link', { name: description }).waitFor();
    }
  });

  it('goes by the role that an account was given while the page was away', async () => {
    const person = await signUp();
    visit = await Visit.open(browser);
    await visit.signIn(person, `/tasks?workspace=${newWorkspace('unlisted')}`);
    await visit.page.getByRole('heading', { name: 'You have no role here yet' }).waitFor();
    await getAuth(firebaseApp()).setCustomUserClaims(person.uid, { role: 'leader' });
    await visit.page.reload();
    await visit.page.getByText('No tasks.').waitFor();
    visit.complaints.length = 0; // Firebase's SDK warns of each refusal
  });

  it('rests when it is left, and goes on when it comes back', async () => {
    const { work, task } = await begun('Back');
    visit = await Visit.open(browser);
    await visit.signIn(await seededAccount('Ada Person'), `/tasks?workspace=${work.workspace}`);
    await visit.page.getByRole('link', { name: task }).waitFor();
    assert.ok(await visit.listening.end());
    await work.task('While it was away');
    await visit.page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await visit.page.getByRole('link', { name: 'While it was away' }).waitFor();
  });
});

async function begun(goal: string): Promise<{ readonly work: Work; readonly task: string }> {
  const work = new Work();
  await work.begin(goal);
  const task = `A task of ${goal}`;
  await work.task(task);
  return { work, task };
}

function assertOnce(targets: readonly string[]): void {
  assert.ok(targets.length > 2, `${targets.length} were asked for`);
  assert.deepEqual(targets.toSorted(), [...new Set(targets)].sort());
}
