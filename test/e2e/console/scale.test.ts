/** The console stays smooth however much there is. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskLogChunkPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { openBrowser } from '../../support/browser.ts';
import { IS_NIGHT } from '../../support/night.ts';
import { eventually } from '../support/waiting.ts';
import { seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

const LINES_OF_CHUNK = 500;
const CHUNKS = 100;
/** Each that is written calls a trigger, which takes longer than all that is measured here. */
const TASKS = IS_NIGHT ? 2000 : 600;

/** The longest that a page may stand still while somebody scrolls. */
const LONGEST_TASK_MILLISECONDS = 100;

const OBSERVE = `
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask' });
`;

/** Older lines push those that were looked at down; at the beginning there are none. */
const HAS_COME = `(() => {
  const log = document.querySelector('.log');
  return log.scrollTop > 800 || log.querySelector('.number').textContent === '1';
})()`;

describe('the console, where there is much', () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  /** Scrolls through a box, to its end and back, and says how long the page stood still at most. */
  async function longestWhileScrolling({ page }: Visit, box: string, steps: number): Promise<number> {
    await page.evaluate('window.longTasks.length = 0');
    for (const direction of [-1, 1]) {
      for (let number = 0; number < steps; number++) {
        await page.locator(box).hover();
        await page.mouse.wheel(0, direction * 2000);
        await page.evaluate(
          'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
        );
      }
    }
    return Number(await page.evaluate('Math.max(0, ...window.longTasks)'));
  }

  it(`shows ${TASKS} tasks as a table without standing still`, async () => {
    const work = new Work();
    await work.begin('Much');
    const id = await work.task('The first of many');
    const { data } = await stored(taskPath(id));
    const database = firestore();
    const writer = database.bulkWriter();
    for (let number = 1; number < TASKS; number++) {
      const copy = `${id}-${number}`;
      const created_at = new Date(Date.now() + number);
      void writer.set(database.doc(taskPath(copy)), {
        ...data,
        id: copy,
        created_at,
        description: `Task ${number}`,
      });
    }
    await writer.close();
    const visit = await Visit.open(browser);
    await visit.context.addInitScript(OBSERVE);
    await visit.signIn(await seededAccount('Ada Person'), `/tasks?workspace=${work.workspace}`);
    await visit.page.getByRole('link', { name: 'Task 1', exact: true }).waitFor();
    const longest = await longestWhileScrolling(visit, '.scrolled', 20);
    assert.ok(longest <= LONGEST_TASK_MILLISECONDS, `${longest} ms`);
    assert.ok((await visit.page.locator('tbody tr').count()) < 100);
    await visit.close();
  });

  it(`shows a log of ${CHUNKS * LINES_OF_CHUNK} lines, from its end to its beginning`, async () => {
    const work = new Work();
    await work.begin('Long');
    const id = await work.task('Says much');
    const { data } = await stored(taskPath(id));
    const database = firestore();
    await database.doc(taskPath(id)).update({ type: 'coding', coding: coding(data) });
    const writer = database.bulkWriter();
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const first_line = chunk * LINES_OF_CHUNK;
      const part = `n${String(first_line).padStart(9, '0')}`;
      void writer.set(database.doc(taskLogChunkPath(id, chunk)), {
        ...{ task_id: id, workspace: work.workspace, chunk, first_line, lines: LINES_OF_CHUNK, bytes: 1 },
        ...{ claim_epoch: 1, sequence: 1, parts: { [part]: linesFrom(first_line) } },
      });
    }
    await writer.close();
    const visit = await Visit.open(browser);
    await visit.context.addInitScript(OBSERVE);
    await visit.signIn(await seededAccount('Ada Person'), `/t/${id}?workspace=${work.workspace}`);
    await visit.page.getByText(`says line ${CHUNKS * LINES_OF_CHUNK - 1}.`).waitFor();
    let longest = 0;
    for (let time = 0; time < 40 && (await visit.page.getByText('says line 0.').count()) === 0; time++) {
      longest = Math.max(longest, await longestWhileScrolling(visit, '.log', 4));
      await visit.page.locator('.log').evaluate((log) => log.scrollTo({ top: 0 }));
      await eventually('older lines come', async () => (await visit.page.evaluate(HAS_COME)) || undefined);
    }
    await visit.page.getByText('says line 0.').waitFor();
    longest = Math.max(longest, await longestWhileScrolling(visit, '.log', 20));
    assert.ok(longest <= LONGEST_TASK_MILLISECONDS, `${longest} ms`);
    await visit.close();
  });
});

async function stored(path: string): Promise<{ readonly data: Readonly<Record<string, unknown>> }> {
  const data = (await firestore().doc(path).get()).data();
  assert.ok(data, `${path} is not there`);
  return { data };
}

/** What makes a coding task of it, as far as a page looks. */
function coding({ owner_uid }: Readonly<Record<string, unknown>>): object {
  return {
    ...{
      tool: 'CLAUDECODE',
      instructions: 'Say much.',
      branch: 'much',
      config: '{}',
      project: null,
      owner_uid,
    },
    ...{
      queue_seconds: 60,
      queue_ends_at: new Date(),
      progress: null,
      failure: null,
      attempts: [],
      result: null,
    },
  };
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
