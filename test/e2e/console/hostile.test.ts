/** The console shows text from agents as plain text, so that hostile text causes no requests to other hosts. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../../support/browser.ts';
import { PAYLOADS } from './support/hostile.ts';
import { CONSOLE_URL, seededAccount, Visit } from './support/visit.ts';
import { Work } from './support/work.ts';

/** Selector of elements that the page itself never creates. They would be a sign of executed markup. */
const FOREIGN = 'img, iframe, object, embed, video, audio, base, form[action], meta[http-equiv], script:not([src])';

/** A window that shows all rows, because rows outside of it have no content. */
const TALL = { viewport: { width: 1280, height: 8000 } };

describe('the console', () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  it('shows hostile markup, scripts and links of tasks, to-dos and questions only as text', async () => {
    assert.ok(PAYLOADS.length >= 60);
    const work = new Work();
    await work.begin(PAYLOADS.slice(0, 10).join(' '));
    const first = await work.task(PAYLOADS.join('\n').slice(0, 9000), { priority: 1 });
    assert.equal(await work.claim(), first);
    for (const payload of PAYLOADS) {
      await work.task(`${payload} `, { hints: payload });
      // The tool rejects titles that contain forbidden characters.
      await work
        .call('person2', 'todo.add_task', { title: payload, description: payload, tags: [payload.slice(0, 40)] })
        .catch(() => undefined);
    }
    for (const payload of PAYLOADS.slice(0, 12)) {
      const asked = { question: payload, kind: 'choice', options: [`${payload.slice(0, 60)} `, 'no'], task_id: first };
      await work.call('worker1', 'inbox.ask', asked).catch(() => undefined);
    }
    await work
      .call('worker1', 'coordination.add_discovery', { content: PAYLOADS.join('\n').slice(0, 5000) })
      .catch(() => undefined);
    await work.fail(first, PAYLOADS.join('\n').slice(0, 5000));

    const visit = await Visit.open(browser, TALL);
    await visit.signIn(await seededAccount('Ada Person'), `/?workspace=${work.workspace}`);
    const { workspace } = work;
    const screens = [
      [`/?workspace=${workspace}`, 'Task failed'],
      [`/tasks?workspace=${workspace}`, 'Ready'],
      [`/tasks?view=board&workspace=${workspace}`, 'Ready'],
      [`/tasks?view=graph&workspace=${workspace}`, 'Needed by'],
      [`/t/${first}?workspace=${workspace}`, 'Priority'],
      [`/agents?workspace=${workspace}`, 'Status'],
      [`/audit?of=workspace&workspace=${workspace}`, 'created'],
      [`/audit?thing=${encodeURIComponent(PAYLOADS[0] ?? '')}&workspace=${workspace}`, 'Audit log'],
      [`/t/${encodeURIComponent('<img src=x onerror=alert(1)>')}`, 'Tasks'],
    ] as const;
    for (const [path, text] of screens) {
      await visit.follow(path);
      await visit.page.locator('main').getByText(text).first().waitFor();
      assert.equal(await visit.page.locator(FOREIGN).count(), 0, path);
      assert.deepEqual(await foreignLinks(visit), [], path);
    }
    assert.deepEqual(visit.complaints, []);
    await visit.close();

    const bens = await Visit.open(browser, TALL);
    await bens.signIn(await seededAccount('Ben Person'), '/todos?show=all');
    await bens.page.getByText('alert(1)').first().waitFor();
    assert.equal(await bens.page.locator(FOREIGN).count(), 0);
    assert.deepEqual(await foreignLinks(bens), []);
    assert.deepEqual(bens.complaints, []);
    await bens.close();
  });

  it("contains no token and no password in its URL, its page or the browser's log", async () => {
    const visit = await Visit.open(browser);
    const logged: string[] = [];
    visit.page.on('console', (message) => logged.push(message.text()));
    await visit.signIn(await seededAccount('Ben Person'), '/');
    await visit.page.locator('main').getByText('You’re all caught up').waitFor();
    const places = [visit.page.url(), await visit.page.content(), ...logged].join('\n');
    assert.doesNotMatch(places, /eyJ[\w-]+\.|only-for-the-emulators/);
    await visit.close();
  });

  it('is served with a content security policy that blocks content and frames of other origins', async () => {
    for (const path of ['/', '/t/anything', '/tasks?view=graph']) {
      const { headers } = await fetch(`${CONSOLE_URL}${path}`);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
      assert.match(policy, /frame-ancestors 'none'.*require-trusted-types-for 'script'; trusted-types muster/);
      assert.doesNotMatch(policy, /unsafe|\*|https:/);
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
    }
  });
});

/** Returns the links to other sites that lack https or rel="noopener". */
async function foreignLinks({ page }: Visit): Promise<readonly string[]> {
  const links = await page
    .locator('a[href]')
    .evaluateAll((found) =>
      found.map((link) => ({ href: link.getAttribute('href') ?? '', rel: link.getAttribute('rel') ?? '' })),
    );
  return links
    .filter(({ href }) => !/^(?:\/(?!\/)|#)/.test(href))
    .filter(({ href, rel }) => !href.startsWith('https://') || !rel.includes('noopener'))
    .map(({ href }) => href);
}
