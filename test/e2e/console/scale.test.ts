/** The console stays smooth however much there is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Firestore } from '@google-cloud/firestore';
import type { Browser } from 'playwright-core';
import { asRead, storedVersions } from '../../stored/documents.ts';
import { openBrowser } from '../../support/browser.ts';
import { eventually } from '../support/waiting.ts';
import { seededAccount, Visit } from './support/visit.ts';

const PROJECT = `demo-console-${process.pid}`;

const LINES_OF_CHUNK = 500;
const CHUNKS = 100;
const TASKS = 2000;
const FIRST_PAGE = 200;
const LOADED = 800;

/** The bound on the processor time of the page's main thread in one step of scrolling. Time that other processes take does not count. */
const MAX_STEP_MILLISECONDS = 100;

/** What makes a coding task of it, as far as a page looks. */
const CODING = {
  ...{ tool: 'CLAUDECODE', instructions: 'Say much.', branch: 'much', config: '{}', project: null },
  ...{ owner_uid: 'person', queue_seconds: 60, queue_ends_at: new Date(), progress: null, failure: null },
  ...{ attempts: [], result: null },
};

const OBSERVE = `
  window.longTaskEnd = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.longTaskEnd = startTime + duration;
  }).observe({ type: 'longtask' });
`;

/** Five seconds after a list has grown, the page lets go of the shorter one. What loading costs is not the price of scrolling. */
const HAS_SETTLED = 'performance.now() - window.longTaskEnd > 7000';

/** Older lines push those that were looked at down; at the beginning there are none. */
const HAS_COME = `(() => {
  const log = document.querySelector('.log');
  return log.scrollTop > 800 || log.querySelector('.number').textContent === '1';
})()`;

describe('the console, where there is much', () => {
  let browser: Browser;
  let database: Firestore;
  before(async () => {
    browser = await openBrowser();
    database = await ownDatabase();
    await database.doc('workspaces/default').set({ session: 'much' });
    const session = {
      id: 'much',
      workspace: 'default',
      goal: 'Much',
      master_plan: '',
      created_at: new Date(),
    };
    await database.doc('workspaces/default/sessions/much').set(session);
    await database.doc('workspaces/default/sessions/much/counters/0').set({ counts: { available: TASKS } });
  });
  after(async () => {
    await database?.terminate();
    await browser?.close();
  });

  async function visit(path: string): Promise<Visit> {
    const made = await Visit.open(browser);
    await made.context.addInitScript(OBSERVE);
    await made.context.route('**/emulators.json', async (route) => {
      const response = await route.fetch();
      const settings = await response.json();
      await route.fulfill({ json: { ...settings, firebase: { ...settings.firebase, projectId: PROJECT } } });
    });
    await made.signIn(await seededAccount('Ada Person'), path);
    return made;
  }

  /** Doubles the number of loaded tasks until there are 800. */
  async function loadMore({ page }: Visit): Promise<void> {
    for (let loaded = FIRST_PAGE; loaded < LOADED; loaded *= 2) {
      await page.getByRole('button', { name: 'Show more tasks' }).click();
      await page.locator(`table[aria-rowcount="${loaded * 2 + 1}"]`).waitFor();
    }
    await eventually('the page is at rest', async () => (await page.evaluate(HAS_SETTLED)) || undefined);
  }

  /** Scrolls to the end of a box and back. Returns the processor time of the longest step, in milliseconds. */
  async function maxStepTime({ page }: Visit, box: string, steps: number): Promise<number> {
    const inspector = await page.context().newCDPSession(page);
    await inspector.send('Performance.enable', { timeDomain: 'threadTicks' });
    const used = async () => {
      const { metrics } = await inspector.send('Performance.getMetrics');
      return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
    };
    let most = 0;
    for (const direction of [-1, 1]) {
      for (let number = 0; number < steps; number++) {
        await page.locator(box).hover();
        const before = await used();
        await page.mouse.wheel(0, direction * 2000);
        await page.evaluate(
          'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
        );
        most = Math.max(most, (await used()) - before);
      }
    }
    await inspector.detach();
    return most;
  }

  it(`shows ${TASKS} tasks as a table without standing still`, async () => {
    const writer = database.bulkWriter();
    for (let number = 1; number <= TASKS; number++) {
      const created_at = new Date(Date.UTC(2026, 10, 24) + number);
      const description = `Task ${number}`;
      void writer.set(
        database.doc(`tasks/task-${number}`),
        taskOf(`task-${number}`, { created_at, description }),
      );
    }
    await writer.close();
    const seen = await visit('/tasks');
    await seen.page.getByRole('link', { name: 'Task 1', exact: true }).waitFor();
    await seen.page.getByText(`of ${TASKS}.`).waitFor();
    await loadMore(seen);
    const most = await maxStepTime(seen, '.scrolled', 20);
    assert.ok(most <= MAX_STEP_MILLISECONDS, `${most} ms of processor time`);
    assert.ok((await seen.page.locator('tbody tr').count()) < 100);
    await seen.close();
  });

  it(`shows who is at work, and what is held up, beside ${TASKS} tasks that wait`, async () => {
    const created_at = new Date(Date.UTC(2026, 10, 25));
    const gone = new Date(Date.now() - 3_600_000);
    const claim = {
      ...{
        status: 'claimed',
        claimed_by: 'w',
        claimed_at: gone,
        lease_seconds: 600,
        claimed_by_runner: false,
      },
      lease_expires_at: new Date(Date.now() + 3_600_000),
    };
    const check = { name: 'build', at: gone, repository: 'octo/app', pull_request: 7 };
    const last = {
      'at-work': { ...claim, description: 'At work' },
      'left-by-holder': { lapsed_claims: [{ agent_id: 'w', claim_epoch: 1 }], description: 'Left' },
      'out-of-reach': { ...claim, lease_expires_at: gone, description: 'Out of reach' },
      'check-failed': { failed_check: check, description: 'Red' },
      'budget-spent': { budget_wait: 'workspace:default', description: 'Too dear' },
    };
    for (const [id, more] of Object.entries(last))
      await database.doc(`tasks/${id}`).set(taskOf(id, { created_at, priority: 9, ...more }));
    const counts = { available: TASKS + 3, claimed: 2 };
    await database.doc('workspaces/default/sessions/much/counters/0').set({ counts });
    const seen = await visit('/tasks?view=board');
    const column = (name: string) =>
      seen.page.locator('.column').filter({ has: seen.page.getByRole('heading', { name }) });
    await column('claimed 2').getByRole('link', { name: 'At work' }).waitFor();
    await column(`available ${TASKS + 3}`)
      .getByRole('button', { name: 'Show more available tasks' })
      .waitFor();
    await seen.follow('/');
    const trouble = seen.page.getByRole('region', { name: 'Does not go on' });
    for (const name of ['Left', 'Out of reach', 'Red', 'Too dear'])
      await trouble.getByRole('link', { name, exact: true }).waitFor();
    assert.equal(await trouble.getByRole('link', { name: 'At work' }).count(), 0);
    await seen.close();
    assert.deepEqual(seen.complaints, []);
  });

  it(`shows a log of ${CHUNKS * LINES_OF_CHUNK} lines, from its end to its beginning`, async () => {
    const writer = database.bulkWriter();
    void writer.set(database.doc('tasks/says-much'), taskOf('says-much', { type: 'coding', coding: CODING }));
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const first_line = chunk * LINES_OF_CHUNK;
      const part = `n${String(first_line).padStart(9, '0')}`;
      void writer.set(database.doc(`tasks/says-much/logs/${chunk}`), {
        ...{ task_id: 'says-much', workspace: 'default', chunk, first_line, lines: LINES_OF_CHUNK, bytes: 1 },
        ...{ claim_epoch: 1, sequence: 1, parts: { [part]: linesFrom(first_line) } },
      });
    }
    await writer.close();
    const seen = await visit('/t/says-much');
    await seen.page.getByText(`says line ${CHUNKS * LINES_OF_CHUNK - 1}.`).waitFor();
    let most = 0;
    for (let time = 0; time < 40 && (await seen.page.getByText('says line 0.').count()) === 0; time++) {
      most = Math.max(most, await maxStepTime(seen, '.log', 4));
      await seen.page.locator('.log').evaluate((log) => log.scrollTo({ top: 0 }));
      await eventually('older lines come', async () => (await seen.page.evaluate(HAS_COME)) || undefined);
    }
    await seen.page.getByText('says line 0.').waitFor();
    most = Math.max(most, await maxStepTime(seen, '.log', 20));
    assert.ok(most <= MAX_STEP_MILLISECONDS, `${most} ms of processor time`);
    await seen.close();
  });
});

/** A task as it is stored, with what differs. */
function taskOf(id: string, more: object): Readonly<Record<string, unknown>> {
  const sample = asRead(storedVersions('firestore', 'tasks').at(-1)?.documents['plain']);
  assert.ok(typeof sample === 'object' && sample !== null);
  return { ...sample, id, session: 'much', ...more };
}

/** Firestore of a project of its own, of whose writes no trigger hears, under the committed rules. */
async function ownDatabase(): Promise<Firestore> {
  const url = `http://${process.env['FIRESTORE_EMULATOR_HOST']}/emulator/v1/projects/${PROJECT}:securityRules`;
  const content = readFileSync(new URL('../../../firestore.rules', import.meta.url), 'utf8');
  const body = JSON.stringify({ rules: { files: [{ name: 'firestore.rules', content }] } });
  const response = await fetch(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
  assert.equal(response.status, 200, 'the rules were not taken');
  return new Firestore({ projectId: PROJECT });
}

function linesFrom(first: number): string {
  const at = new Date().toISOString();
  return Array.from({ length: LINES_OF_CHUNK }, (_, index) =>
    JSON.stringify({
      at,
      level: 'info',
      type: 'output',
      prefix: 'claude',
      message: `says line ${first + index}.`,
    }),
  ).join('\n');
}
