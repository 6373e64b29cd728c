/** Runs each workflow of docs/guides/cookbook.md to its end, with the real tools and fake models. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { defaultOrNightly } from '../../support/nightly.ts';
import { succeed } from '../support/calls.ts';
import { connect } from '../support/clients.ts';
import { runConcurrently } from '../support/concurrently.ts';
import { endpointUrl, tokenOf } from '../support/endpoint.ts';
import { eventually } from '../support/waiting.ts';
import { CookbookFixture, models, type Run } from './fixture.ts';

/** Number of concurrent workflows. A workflow mostly waits for Cloud Tasks, which the emulator polls each second. */
const AT_ONCE = 3;
const questions = z.object({ requests: z.array(z.object({ request_id: z.string(), question: z.string() })) });
const todo = z.object({ id: z.string(), due_date: z.string().optional() });

const inKitchen = (test: (fixture: CookbookFixture) => Promise<void>) => async () => {
  const fixture = await CookbookFixture.open();
  try {
    await test(fixture);
  } finally {
    await fixture.close();
  }
};

const claude = (text: string) => ({ text, vendor: 'anthropic' as const });
const gemini = (text: string) => ({ text, vendor: 'gemini' as const });
const namesOf = ({ steps }: Run) => steps.filter(({ status }) => status === 'succeeded').map(({ name }) => name);

type Recipes = Readonly<Record<string, () => Promise<void>>>;

/** Workflows with many steps, or with a step that waits for a person. Only the nightly run runs them. */
const slow: Recipes = {
  'review-before-merge merges a change after it has been fixed and approved': inKitchen(async (fixture) => {
    await fixture.say(claude('CHANGES\nA nail is missing.'), claude('APPROVED\nAll nails are in.'));
    const started = fixture.start('review-before-merge');
    await fixture.does(/Do this on a new branch/, 'branch roof: + tiles');
    await fixture.does(/Fix the change.*A nail is missing/s, 'branch roof: + tiles, + nail');
    await fixture.does(/approved.*\+ nail/s, 'merged as 1a2b3c4');
    const ended = await fixture.ended(await started);
    assert.equal(ended.result, 'merged as 1a2b3c4');
    assert.deepEqual(namesOf(ended), ['change', 'review', 'fix', 'review', 'merge']);
  }),

  'research waits at an exhausted budget until a person approves a higher one': inKitchen(async (fixture) => {
    const { leader, mark } = fixture;
    await fixture.say(claude('Slate lasts.'), claude('Both say slate.'));
    await fixture.say(gemini('Slate is heavy.'));
    const added = await succeed(leader, 'todo_add_task', { title: `Which roof ${mark}` });
    const { id } = todo.parse(added['task']);
    // The budget covers the maximum cost of one model call, but not of two.
    await succeed(leader, 'system_setBudget', { kind: 'todo', id, money: 0.015 });
    const started = await fixture.start('research', { part_of: { kind: 'todo', id } });
    const ada = await connect('client 2026-07-28', endpointUrl('/inbox'), await tokenOf('person'));
    const question = await eventually('Ada is asked for a higher budget', async () => {
      const { requests } = questions.parse(await succeed(ada, 'list', { state: 'open', limit: 100 }));
      return requests.find((request) => request.question.includes(id));
    });
    await succeed(ada, 'answer', { request_id: question.request_id, answer: 'approve' });
    await ada.close();
    const ended = await fixture.ended(started);
    assert.equal(ended.result, 'Both say slate.');
    const answering = (await models.askedAbout(mark)).at(-1)?.prompt ?? '';
    assert.match(answering, /Slate lasts\..*Slate is heavy\./s);
  }),
};

const quick: Recipes = {
  'fan-out runs three parts in parallel, and then joins their results into one text': inKitchen(async (fixture) => {
    await fixture.say(claude('FIRST beams, SECOND tiles, THIRD gutter'), claude('A roof.'));
    const started = fixture.start('fan-out');
    for (const made of ['beams', 'tiles', 'gutter'])
      await fixture.does(/Do the part (FIRST|SECOND|THIRD).*THIRD gutter/s, `made: ${made}`);
    const ended = await fixture.ended(await started);
    assert.equal(ended.result, 'A roof.');
    const joining = (await models.askedAbout(fixture.mark)).at(-1)?.prompt ?? '';
    for (const made of ['beams', 'tiles', 'gutter']) assert.ok(joining.includes(`made: ${made}`), joining);
  }),

  'ask-a-person waits for the answer of a person, and then continues with it': inKitchen(async (fixture) => {
    await fixture.say(claude('Slate\nThatch'), claude('A slate roof.'), gemini('A slate roof.'));
    const started = fixture.start('ask-a-person');
    const asked = await fixture.claim();
    const { request_id } = await fixture.work('inbox_ask', {
      kind: 'choice',
      options: ['Slate', 'Thatch'],
      task_id: asked.id,
      question: `Which roof (${fixture.mark})?`,
    });
    const ada = await connect('client 2026-07-28', endpointUrl('/inbox'), await tokenOf('person'));
    await succeed(ada, 'answer', { request_id, answer: 'Slate' });
    await ada.close();
    const { answer } = await fixture.work('inbox_wait', { request_id });
    await fixture.complete(asked, String(answer));
    const ended = await fixture.ended(await started);
    assert.equal(ended.result, 'A slate roof.');
    const working = (await models.askedAbout(fixture.mark)).at(-1)?.prompt ?? '';
    assert.match(working, /Decided:.*Slate/s);
  }),

  "dearer-model uses the more expensive model only if the first model's result is bad": inKitchen(async (fixture) => {
    await fixture.say(gemini('A tent.'), gemini('BAD\nIt is no roof.'));
    await fixture.say(claude('A roof.'));
    const ended = await fixture.ended(await fixture.start('dearer-model'));
    assert.equal(ended.result, 'A roof.');
    const good = await CookbookFixture.open();
    try {
      await good.say(gemini('A roof at once.'), gemini('GOOD'));
      const cheap = await good.ended(await good.start('dearer-model'));
      assert.equal(cheap.result, 'A roof at once.');
      const vendors = (await models.askedAbout(good.mark)).map(({ vendor }) => vendor);
      assert.deepEqual(vendors, ['gemini', 'gemini']);
    } finally {
      await good.close();
    }
  }),

  'nightly-report belongs to a daily to-do, whose completion creates the next to-do': inKitchen(async (fixture) => {
    const { leader, mark } = fixture;
    await fixture.say(gemini('Nothing needs you.'));
    const first = new Date(Date.now() + 60_000);
    await succeed(leader, 'todo_create_recurring_task', {
      title: `Nightly report ${mark}`,
      frequency: 'DAILY',
      tags: [`nightly-${mark.slice(0, 8)}`],
      start_date: first.toISOString(),
    });
    const due = async () => {
      const { tasks } = await succeed(leader, 'todo_filter_tasks', {
        completed: false,
        tags: [`nightly-${mark.slice(0, 8)}`],
        due_before: new Date(Date.now() + 48 * 3600 * 1000).toISOString(),
      });
      const [only, ...others] = z.array(todo).parse(tasks);
      assert.ok(only !== undefined && others.length === 0);
      return only;
    };
    const tonight = await due();
    const started = fixture.start('nightly-report', { part_of: { kind: 'todo', id: tonight.id } });
    await fixture.does(/Collect the events/, 'Done: task-1.');
    const ended = await fixture.ended(await started);
    assert.equal(ended.result, 'Nothing needs you.');
    await succeed(leader, 'todo_complete_task', { task_id: tonight.id });
    const tomorrow = await due();
    const later = Date.parse(tomorrow.due_date ?? '') - Date.parse(tonight.due_date ?? '');
    assert.equal(later, 24 * 3600 * 1000);
  }),
};

describe('the cookbook workflow', function () {
  this.timeout('8m');

  runConcurrently(AT_ONCE, defaultOrNightly(quick, { night: { ...slow, ...quick } }));

  after(async () => assert.deepEqual(await models.problems(), [], 'requests that the vendors would reject'));
});
