/**
 * The day of docs/guides/cookbook.md#a-day, on the console. Ada uses the console, and her agents call tools. Ben has
 * Ada's screens open all day, but must see only data that he may see.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { openBrowser } from '../../support/browser.ts';
import { RunnerFixture } from '../runner/fixture.ts';
import { claudeEnvironment, claudeSteps, installClaude } from '../runner/programs.ts';
import { succeed } from '../support/calls.ts';
import { newPerson } from '../support/people.ts';
import { type ScriptedModel, startScriptedModel } from '../support/scriptedModel.ts';
import { eventually } from '../support/waiting.ts';
import {
  assemble,
  type Cast,
  claims,
  completes,
  made,
  merged,
  PLAN,
  plans,
  proposes,
  provingTask,
} from './support/cast.ts';
import { Visit } from './support/visit.ts';

describe('the console during a day of work', function () {
  // Each test continues the work of the previous test.
  this.bail(true);
  let cast: Cast;
  let fixture: RunnerFixture;
  let model: ScriptedModel;
  let browser: Browser;
  let ada: Visit;
  let ben: Visit;
  let todo: string;
  let goal: string;
  /** Ids of the planned tasks, in the order of the plan. */
  let [research, guide, pullRequest, dead, flaky, code]: string[] = [];

  before(async () => {
    browser = await openBrowser();
    cast = await assemble();
    fixture = await RunnerFixture.at(cast.url, cast.runner, cast.lead);
    model = await startScriptedModel(claudeSteps(() => `${worktrees()}/${readdirSync(worktrees())[0]}`));
    const other = await newPerson();
    await succeed(cast.ada, 'access_set_member', { uid: other.uid, role: 'worker' });
    ada = await Visit.open(browser);
    ben = await Visit.open(browser);
    await ada.signIn(cast.account, place('/todos'));
    await ben.signIn(other, place('/'));
  });
  after(async () => {
    await model?.close();
    await fixture?.close();
    await cast?.leave();
    await Promise.all([ada?.close(), ben?.close()]);
    await browser?.close();
  });

  let folder = 'worktrees';
  const worktrees = () => `${fixture.folder}/${folder}`;
  const place = (path: string) => `${path}${path.includes('?') ? '&' : '?'}workspace=${cast.workspace}`;
  const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
  const choose = async (page: Page, entry: string) => {
    await page.locator('main summary[aria-label="More actions"]').click();
    await button(page, entry).click();
  };
  const confirm = (page: Page, name: string) => button(page.getByRole('dialog'), name).click();

  it('lets the person Ada add a to-do and delegate it to agents', async () => {
    const { page } = ada;
    const title = `Ship the login ${cast.workspace}`;
    await page.getByLabel('New to-do').fill(title);
    await button(page, 'Add').click();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByRole('link', { name: title }).click();
    await button(page, 'Assign to agents').click();
    const link = page.getByRole('complementary').locator('a[href^="/t/"]').first();
    goal = new URL((await link.getAttribute('href')) ?? '', page.url()).pathname.split('/').at(-1) ?? '';
    todo = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await claims(cast.lead, goal);
  });

  it('shows the planned tasks while an agent creates them', async () => {
    const { page } = ada;
    await ada.follow(place('/tasks'));
    const { ids, draft } = await plans(cast.lead, cast.workspace, goal);
    const { taskId } = await fixture.createTask(draft);
    [research, guide, pullRequest, dead, flaky, code] = [...ids, taskId];
    for (const { description } of PLAN) await page.getByRole('link', { name: description }).first().waitFor();
    await page.getByRole('button', { name: /^Open\s*7$/ }).waitFor();
    await completes(cast.lead, goal, { when_parts_done: true });
  });

  it('shows the holders of tasks, and the log of Claude Code while it works on a task', async () => {
    const { ann, bob } = cast;
    const { page } = ada;
    await claims(ann, String(research));
    await claims(bob, String(pullRequest));
    const row = page.getByRole('row').filter({ hasText: 'Find out how others do it' });
    await row.locator(`a[href^="/a/${ann.id}"]`).waitFor();
    await row.getByText(/\d+ min/).waitFor();
    await completes(ann, String(research));
    await claims(ann, String(guide));
    await completes(ann, String(guide));
    await ada.follow(place(`/t/${code}`));
    installClaude(fixture.bin);
    const env = claudeEnvironment(fixture.folder, model.url);
    const runner = fixture.startRunner(['--once', '--worktrees', worktrees()], { env });
    await page.getByRole('region', { name: 'Log' }).locator('li, tr, [role=row], p').first().waitFor();
    assert.equal(await runner.ended, 0, runner.output());
    await page.locator('.sentence .state').getByText('Done').waitFor();
  });

  it('lets Ada cancel one task and retry another', async () => {
    const { ann } = cast;
    const { page } = ada;
    await claims(ann, String(dead));
    await ada.follow(place(`/t/${dead}`));
    await choose(page, 'Cancel task…');
    await confirm(page, 'Cancel task');
    await page.locator('.sentence .state').getByText('Cancelled').waitFor();
    await claims(ann, String(flaky));
    const failure = { agent_id: ann.id, task_id: flaky, error: 'The browser crashed' };
    await ada.follow(place('/'));
    await succeed(ann.client, 'coordination_fail_task', failure);
    const trouble = page.getByRole('article').filter({ hasText: 'Task failed' });
    await trouble.getByText('The browser crashed').waitFor();
    await trouble.getByRole('link', { name: 'Try it on the old browser' }).click();
    await button(page, 'Retry').click();
    await page.locator('.sentence').getByText('Ready for any agent.').waitFor();
    await claims(ann, String(flaky));
    await completes(ann, String(flaky));
  });

  it("asks Ada when a run's budget is exhausted, and lets her raise it so that the run continues", async () => {
    const { lead } = cast;
    const { page } = ada;
    await ada.follow(place(`/d/${todo}`));
    await button(page, 'Set limit').click();
    await page.getByRole('textbox', { name: 'Spending limit' }).fill('0.000001');
    await confirm(page, 'Set limit');
    await page.getByText('of $0.0000').waitFor();
    await ada.follow(place('/'));
    const { runId } = await succeed(lead.client, 'orchestration_orchestrate', {
      prompt: `Say in a word how it went ${cast.workspace}`,
      preferences: { agent: 'claude' },
      options: { timeout: 0 },
      part_of: { kind: 'task', id: goal },
    });
    await eventually('the run waits for the budget', async () => {
      const run = await succeed(lead.client, 'orchestration_get_run', { runId });
      assert.ok(['pending', 'running', 'waiting'].includes(String(run['status'])), JSON.stringify(run));
      return run['status'] === 'waiting' || undefined;
    });
    const question = page.getByRole('article').filter({ hasText: /is too small/ });
    await button(question, 'Approve').click();
    await question.getByText('Approved').waitFor();
    await ada.follow(place(`/r/${runId}`));
    await page.locator('.sentence .state').getByText('Succeeded').waitFor();
  });

  it('asks Ada to approve a pull request, and shows the to-do as completed after the merge', async () => {
    const { bob } = cast;
    const { page } = ada;
    const propose = await proposes(bob, cast.workspace, pullRequest);
    const first = await propose();
    assert.equal(first.isError, true, first.text);
    await ada.follow(place('/'));
    const question = page.getByRole('article').filter({ hasText: 'github.createPR' });
    await button(question, 'Approve').click();
    const { number } = await eventually('the pull request is opened', async () => {
      const { isError, structured } = await propose();
      return isError ? undefined : structured;
    });
    await ada.follow(place(`/d/${todo}`));
    await merged(number);
    await page.locator('.sentence .state').getByText('Done').waitFor();
  });

  it('shows the total usage of the to-do, and the tasks that caused the usage', async () => {
    const { page } = ada;
    await page.reload();
    await page.getByText(/tokens, 9 attempts,/).waitFor();
    await page.getByRole('link', { name: 'Try it on the old browser' }).waitFor();
  });

  it('asks Ada to confirm a result after a failed command and a correction by a reviewer', async () => {
    const { bob, lead } = cast;
    const { page } = ada;
    folder = 'proven';
    // The command fails the first time.
    const marker = `${fixture.folder}/tested`;
    const command = `test -f ${marker} || { touch ${marker}; echo 'No test of the session'; exit 1; }`;
    const description = `Prove the session ${cast.workspace}`;
    const { taskId } = await fixture.createTask({
      description,
      branch: `feature/proven-${cast.workspace}`,
      acceptance: { command, review: 'any', confirm: 'owner' },
      config: { acceptance: command },
    });
    const attempt = async (step: string) => {
      const env = claudeEnvironment(fixture.folder, model.url);
      const runner = fixture.startRunner(['--once', '--worktrees', worktrees()], { env });
      await runner.ended;
      const task = await provingTask(lead.client, taskId);
      assert.equal(task?.verifying?.step, step === 'command' ? undefined : step, runner.output());
      return task;
    };
    const failed = await attempt('command');
    assert.match(failed?.sent_back?.at(-1)?.comments ?? '', /No test of the session/);
    await attempt('review');
    const judge = async (verdict: string, output: string) => {
      const review = await made(bob.client, 'coordination_claim_task', { agent_id: bob.id, start: true });
      await completes(bob, review, { verdict, output });
    };
    await judge('request_changes', 'Name the session.');
    await attempt('review');
    await judge('approve', 'It is right.');
    await ada.follow(place('/'));
    const question = page.getByRole('article').filter({ hasText: description });
    await question.getByRole('button', { name: /^approve$/i }).click();
    await ada.follow(place(`/t/${taskId}`));
    await page.locator('.sentence .state').getByText('Done').waitFor();
    const { proven = [], sent_back = [] } = (await provingTask(lead.client, taskId)) ?? {};
    assert.deepEqual([proven.map(({ step }) => step), sent_back.length], [['command', 'review', 'person'], 2]);
  });

  it('lets Ada undo all changes that an agent has made since a given time', async () => {
    const { ann, ada: client, lead } = cast;
    const { page } = ada;
    const kept = await made(client, 'todo_add_task', { title: `Call mother ${cast.workspace}` });
    const asked = await made(lead.client, 'coordination_create_task', { description: 'Read the log' });
    // The input field for the time has no fractions of a second, so the changes to undo start in the next second.
    const morning = Math.floor(Date.now() / 1000) * 1000;
    await eventually('the next second starts', async () => Date.now() >= morning + 1000 || undefined);
    await claims(ann, asked);
    await succeed(ann.client, 'coordination_start_task', { agent_id: ann.id, task_id: asked });
    await completes(ann, asked);
    await succeed(ann.client, 'todo_complete_task', { task_id: kept });
    await made(ann.client, 'todo_add_task', { title: `A mistake ${cast.workspace}` });
    await ada.follow(place('/todos?show=all'));
    await page.getByRole('link', { name: `A mistake ${cast.workspace}` }).waitFor();
    await ada.follow(place(`/audit?agent=${ann.id}`));
    const local = `new Date(${morning + 1000} - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 19)`;
    await button(page, 'Undo everything an agent did since…').click();
    await page
      .getByRole('dialog')
      .getByLabel('Since')
      .fill(String(await page.evaluate(local)));
    await confirm(page, 'Undo');
    const outcome = page.getByRole('status', { name: 'Undo result' });
    await outcome.getByText('Read the log').waitFor();
    await ada.follow(place('/todos?show=all'));
    await page.getByRole('link', { name: `Call mother ${cast.workspace}` }).waitFor();
    await page.getByRole('link', { name: `A mistake ${cast.workspace}` }).waitFor({ state: 'detached' });
    await ada.follow(place(`/t/${asked}`));
    await page.locator('.sentence .state').getByText('Ready').waitFor();
  });

  it('shows Ben the tasks of the workspace, but no to-dos, runs or questions of Ada', async () => {
    const { page } = ben;
    await page.locator('main').getByText('You’re all caught up').waitFor();
    await ben.follow(place('/tasks'));
    await page.getByRole('link', { name: 'Read the log' }).waitFor();
    await ben.follow(place('/todos?show=all'));
    await page.getByText('No to-dos').waitFor();
    assert.equal(await page.getByText(cast.workspace).and(page.getByRole('link')).count(), 0);
    await ben.follow(place('/runs'));
    await page.getByText('No runs yet').waitFor();
    await ben.follow(place(`/d/${todo}`));
    await page.getByText('You don’t have access to this').waitFor();
    await ben.follow(place('/audit'));
    await page.getByText('No activity yet').waitFor();
    await ben.follow(place(`/t/${flaky}`));
    await page.getByRole('heading', { name: 'Try it on the old browser' }).waitFor();
    // Ben may see the goal, because it is a task of the workspace. He may not see its parent, which is Ada's to-do.
    const belongs = page.getByRole('region', { name: 'Relations' });
    await belongs.getByRole('link', { name: `Ship the login ${cast.workspace}` }).waitFor();
    await belongs.getByText('Private').waitFor();
    assert.equal(await page.locator(`a[href*="${todo}"]`).count(), 0);
    assert.ok(!(await page.content()).includes(todo), "the page contains the id of Ada's to-do");
  });

  it('causes no browser errors for Ada or for Ben during the day', () =>
    assert.deepEqual([...ada.complaints, ...ben.complaints], []));
});
