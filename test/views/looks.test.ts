/** A view is accessible, fits any width, and shows any text. */
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { PAYLOADS } from '../e2e/console/support/hostile.ts';
import { eventually } from '../e2e/support/waiting.ts';
import { axeViolations } from '../support/browser.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { RUN, STATUS, TODOS } from '../support/sampleResponses.ts';
import { heading, useStage } from './support/fixture.ts';
import type { Message } from './support/frame.ts';
import type { ToolAnswer } from './support/strictHost.ts';
import { VERIFYING_REPORT, VERIFYING_STATUS } from './support/verifying.ts';
import { resultOf, VIEWS, type ViewName } from './support/views.ts';

const FULL: Readonly<Record<ViewName, Message>> = {
  goal: VERIFYING_STATUS,
  todos: TODOS,
  run: { ...RUN, status: 'running' },
  coding: VERIFYING_REPORT,
};

const EMPTY: Readonly<Record<ViewName, Message>> = {
  goal: { goal: '', tasks: {}, total_tasks: 0 },
  todos: { tasks: [], total: 0 },
  run: { status: 'pending', runId: RUN.runId, steps: [], attempts: [], running: [] },
  coding: { status: 'success', message: '', result: {} },
};

const call = async (): Promise<ToolAnswer> => ({ result: resultOf({}) });

/** A word that is as long as words can be in practice. It has no place at which a line can break. */
const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);
const THEMES = ['light', 'dark'] as const;

describe('a view in a chat', () => {
  const fixture = useStage();

  for (const name of VIEWS)
    for (const [what, answer, themes] of [
      ['full', FULL[name], THEMES],
      ['empty', EMPTY[name], THEMES.slice(0, IS_NIGHTLY ? 2 : 1)],
    ] as const)
      it(`has no accessibility violations (${name}, ${what}, ${themes.join(' and ')})`, async () => {
        const host = await fixture.show(name, { call });
        await host.give({}, resultOf(answer));
        const view = await host.frame.view();
        await heading(view).waitFor();
        for (const theme of themes) {
          await host.frame.page.emulateMedia({ colorScheme: theme });
          await host.notify('ui/notifications/host-context-changed', { theme });
          await shows(view, `document.documentElement.style.colorScheme === '${theme}'`);
          assert.deepEqual(await axeViolations(view), [], theme);
        }
        await host.end();
      });

  for (const name of VIEWS)
    it(`fits widths from 300 to 480 pixels, even with long words (${name})`, async () => {
      const long: Message = JSON.parse(JSON.stringify(FULL[name]), (_key, value: unknown) =>
        typeof value === 'string' && !/^\d{4}-/.test(value) ? `${value} ${LONG}` : value,
      );
      const host = await fixture.show(name, { call });
      await host.give({}, resultOf(long));
      const view = await host.frame.view();
      await heading(view).waitFor();
      for (const width of [300, 390, 480]) {
        await host.frame.page.setViewportSize({ width, height: 900 });
        await shows(view, `innerWidth === ${width}`);
        const beyond =
          '[...document.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))';
        assert.deepEqual(await view.evaluate(beyond), [], `elements exceed the width of ${width} px`);
        assert.ok(await view.evaluate('document.documentElement.scrollWidth <= innerWidth'));
      }
      await host.end();
    });

  for (const name of VIEWS)
    it(`shows at most 12 rows, and the number of remaining rows (${name})`, async () => {
      const host = await fixture.show(name, { call });
      await host.give({}, resultOf(many(name)));
      const view = await host.frame.view();
      await heading(view).waitFor();
      const count = await view.locator('.rows > li, .log > li').count();
      assert.ok(count > 3 && count <= 12, `the view shows ${count} rows`);
      await view
        .getByText(/and \d+ more|last 8 of 50 lines/)
        .first()
        .waitFor();
      await host.end();
    });

  it('animates nothing if the person prefers reduced motion', async () => {
    const host = await fixture.show('goal');
    await host.frame.page.emulateMedia({ reducedMotion: 'reduce' });
    await host.give({}, resultOf(STATUS));
    const view = await host.frame.view();
    await heading(view).waitFor();
    const moving =
      'document.querySelectorAll("*").values().filter((one) => !/^(0s(, )?)+$/.test(getComputedStyle(one).transitionDuration) || getComputedStyle(one).animationName !== "none").toArray().length';
    assert.equal(await view.evaluate(moving), 0);
    await host.end();
  });

  it("formats times with the host's locale and time zone", async () => {
    const host = await fixture.show('todos', { context: { locale: 'de-DE', timeZone: 'Asia/Tokyo' } });
    await host.give({}, resultOf({ tasks: [{ id: 'a', title: 'A', due_date: '2099-02-10T20:00:00Z' }] }));
    await (await host.frame.view()).getByText('Due 11.02.2099, 05:00').waitFor();
    await host.end();
  });

  for (const name of VIEWS)
    it(`shows hostile text as text, never as HTML (${name})`, async () => {
      let next = 0;
      const host = await fixture.show(name, { call });
      const seen = new Set<string>();
      for (let round = 0; round < 4; round += 1) {
        const hostile: Message = JSON.parse(JSON.stringify(FULL[name]), (_key, value: unknown) => {
          if (typeof value !== 'string') return value;
          const payload = PAYLOADS[next % PAYLOADS.length] ?? '';
          next += 1;
          seen.add(payload);
          return payload;
        });
        await host.give({}, resultOf(hostile));
        await host.notify('ui/notifications/host-context-changed', { locale: PAYLOADS[round], timeZone: 'x' });
      }
      const view = await host.frame.view();
      await heading(view).waitFor();
      const foreign =
        'img, iframe, object, embed, video, audio, svg:not(.i, .meter), math, base, form, a, link, details, template, noscript';
      assert.equal(await view.locator(foreign).count(), 0);
      assert.equal(await view.locator('script').count(), 1, 'the page has only the script of the view');
      assert.ok(seen.size > 30, `only ${seen.size} hostile texts were shown`);
      await host.end();
    });

  it('shows the code points of invisible characters instead of the characters', async () => {
    const host = await fixture.show('todos');
    const title = 'pay \u202eevil\u202c \u200bnow\u0007';
    await host.give({}, resultOf({ tasks: [{ id: 'todo-1', title }], total: 1 }));
    const view = await host.frame.view();
    await view.getByText('pay U+202EevilU+202C U+200BnowU+0007').waitFor();
    await host.end();
  });
});

/** Waits until the expression is true. The page's policy forbids `waitForFunction`, because it evaluates text. */
async function shows(view: Frame, what: string): Promise<void> {
  await eventually(what, async () => (await view.evaluate(what)) || undefined);
}

function many(name: ViewName): Message {
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1);
  if (name === 'todos') return { tasks: numbers.map((id) => ({ id: `todo-${id}`, title: `To-do ${id}` })), total: 70 };
  if (name === 'run') return { ...RUN, steps: numbers.map((id) => ({ ...RUN.steps[0], name: `step-${id}` })) };
  if (name === 'goal') {
    const late = { count: 30, tasks: numbers.slice(0, 10).map((id) => ({ id: `task-${id}`, status: 'claimed' })) };
    const stuck = { count: 40, tasks: numbers.slice(0, 5).map((id) => ({ id: `task-9${id}`, because_of: 'task-1' })) };
    return { ...VERIFYING_STATUS, late, stuck };
  }
  const [line] = VERIFYING_REPORT.result.logs.latest;
  const result = { commits: numbers.map((id) => ({ sha: `abcdef${id}`, subject: `Commit ${id}` })) };
  return {
    ...VERIFYING_REPORT,
    result: { ...VERIFYING_REPORT.result, logs: { lines: 50, latest: numbers.map(() => line) }, result },
  };
}
