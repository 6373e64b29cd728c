/**
 * The fourteen jobs of a new user, in Chromium and with the real Claude Code. Claude Code signs in with the client
 * document of this repository, and connects to no other machine. Source: README.md; docs/guides.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { getAuth } from 'firebase-admin/auth';
import type { Browser, Locator, Page } from 'playwright-core';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { printed } from '../integration/operator/commands.ts';
import { openBrowser } from '../support/browser.ts';
import { Visit, workspacesIn } from './console/support/visit.ts';
import { RunnerFixture } from './runner/fixture.ts';
import { claudeEnvironment, claudeSteps, installClaude } from './runner/programs.ts';
import { succeed } from './support/calls.ts';
import { type ClaudeCode, installedClaudeCode } from './support/claudeCode.ts';
import { type Connection, connect } from './support/clients.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { newPerson, setRole, signUp, type TestPerson } from './support/people.ts';
import { type ScriptedModel, type Step, startScriptedModel } from './support/scriptedModel.ts';
import { allow, ORIGIN } from './support/signInPage.ts';
import { eventually } from './support/waiting.ts';

const AUTHORIZE = /https?:\/\/[\w.:-]+\/authorize\?[\w%&=.+~-]+/;
const ROOT = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);

/** Texts of the emails to an address. */
async function mailsTo(email: string): Promise<readonly { subject: string; text: string }[]> {
  const mails = await firestore().collection(COLLECTIONS.mail).where('to', 'array-contains', email).get();
  return mails.docs.map((mail) => mail.get('message'));
}

describe('a new user', function () {
  // Each job continues the work of the previous job.
  this.bail(true);
  const workspace = newWorkspace('jobs');
  const [agent, builder] = [`worker7-${workspace}`, `builder-${workspace}`];
  /** Steps of the model in the next conversation of Claude Code. */
  const script: Step[] = [];
  let browser: Browser;
  let person: TestPerson;
  let ada: Visit;
  let page: Page;
  let hers: Connection;
  let key: string;
  let worker: Connection;
  let model: ScriptedModel;
  let claude: ClaudeCode;
  let colleague: TestPerson;

  before(async () => {
    browser = await openBrowser();
    model = await startScriptedModel(script);
    claude = await installedClaudeCode(model.url);
    person = await newPerson();
    await setRole(person.uid, 'leader');
    await getAuth(firebaseApp()).updateUser(person.uid, { emailVerified: true, displayName: 'Ada Person' });
    hers = await connect('client 2026-07-28', endpointUrl('', { workspace }), person.token);
    ada = await Visit.open(browser);
    ({ page } = ada);
    // The address of a workspace that does not exist offers to create it.
    await ada.signIn(person, place('/'));
    await press(`Create “${workspace}”`);
    await press('Create workspace', page.getByRole('dialog'));
    await page.getByText(`Created ${workspace}`).waitFor();
  });
  after(async () => {
    await Promise.all([hers, worker].map((one) => one?.close()));
    await Promise.all([claude, model, ada].map((one) => one?.close()));
    await browser?.close();
  });

  const place = (path: string) => `${path}${path.includes('?') ? '&' : '?'}workspace=${workspace}`;
  const go = (path: string) => ada.follow(place(path));
  const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
  const press = async (name: string, within: Page | Locator = page) => button(within, name).first().click();
  const choose = async (entry: string) => {
    await page.locator('main summary[aria-label="More actions"]').click();
    await press(entry);
  };
  const idOf = ({ task }: Readonly<Record<string, unknown>>): string => Object(task).id;
  const task = async (args: object) => idOf(await succeed(hers, 'coordination_create_task', { ...args }));
  const claim = async () => idOf(await succeed(worker, 'coordination_claim_task', { agent_id: builder }));
  const complete = async (task_id: string, output: string) =>
    succeed(worker, 'coordination_complete_task', { agent_id: builder, task_id, output });
  const why = async (args: object) => {
    const { waits } = await succeed(hers, 'access_explain', { ...args });
    return (waits as { why: string; remedy: string }[]).map((one) => `${one.why} ${one.remedy}`).join();
  };
  const coordination = (tool: string, input: object) => ({
    tool: `mcp__muster__coordination_${tool}`,
    input: { ...input },
  });
  /** Lets Claude Code make the calls, and returns their results as text. */
  const asksClaude = async (prompt: string, ...steps: Step[]) => {
    script.splice(0, script.length, ...steps);
    await claude.run('-p', prompt, '--allowedTools', 'mcp__muster');
    return (model.turns.at(-1)?.results ?? []).map(({ text }) => text);
  };

  it('1. looks around, and answers the first question', async () => {
    await succeed(hers, 'inbox_ask', { kind: 'choice', question: 'Which number?', options: ['One', 'Two'] });
    const question = page.getByRole('article').filter({ hasText: 'Which number?' });
    await press('Two', question);
    await question.getByText('Answered “Two”').waitFor();
  });

  it('2. connects Claude Code by its URL, and gives it work', async () => {
    await task({ description: 'Write the welcome page' });
    await claude.run('mcp', 'add', '--transport', 'http', 'muster', `${ORIGIN}/mcp?workspace=${workspace}`);
    assert.match(await claude.run('mcp', 'list'), /muster: .*Needs authentication/);
    const login = await claude.start('mcp', 'login', 'muster');
    const [address] = await login.shows(AUTHORIZE);
    assert.match(await allow(browser, address, person), /Claude Code[\s\S]*claude\.ai/);
    await login.ended();
    await eventually('Claude Code is connected', async () =>
      /muster: .*✔ Connected/.test(await claude.run('mcp', 'list')) ? true : undefined,
    );
    const results = await asksClaude(
      'Register as worker7, claim a task, do it and complete it.',
      () => coordination('register_agent', { agent_id: agent, role: 'worker' }),
      () => coordination('claim_task', { agent_id: agent, start: true }),
      ([, claimed]) =>
        coordination('complete_task', {
          agent_id: agent,
          task_id: idOf(JSON.parse(claimed?.text ?? '{}')),
          output: 'Written',
        }),
    );
    assert.deepEqual(JSON.parse(results[2] ?? '{}'), { success: true });
    assert.deepEqual(claude.outside, [], 'no other machine is needed');
    await go('/tasks?show=done');
    await page.getByRole('link', { name: 'Write the welcome page' }).waitFor();
  });

  it('3. makes a key in the console, which only this page shows, and connects with it', async () => {
    await go('/agents');
    await press('Connect an agent');
    await page.getByLabel('Name of the machine').fill('build-server');
    await press('Create key');
    await press('Create key', page.getByRole('dialog', { name: 'Create a key for build-server?' }));
    const notice = page.getByRole('status').filter({ hasText: 'It is shown only now' });
    key = (await notice.locator('code').first().innerText()).trim();
    assert.match(await notice.innerText(), new RegExp(`claude mcp add .*workspace=${workspace}`));
    await press('Close', page.getByRole('dialog'));
    await page.getByText(key).waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(key));
    worker = await connect('client 2026-07-28', endpointUrl('', { workspace }), key);
    const header = `Authorization: Bearer ${key}`;
    const url = endpointUrl('', { workspace });
    await claude.run('mcp', 'add', '--transport', 'http', 'machine', url, '--header', header);
    assert.match(await claude.run('mcp', 'list'), /machine: .*✔ Connected/);
    await claude.run('mcp', 'remove', 'machine');
  });

  it('4. invites a colleague, who arrives, and withdraws an invitation to a wrong address', async () => {
    colleague = await signUp();
    await getAuth(firebaseApp()).updateUser(colleague.uid, { emailVerified: true });
    await go('/access');
    await press('Invite people');
    for (const email of [colleague.email, `wrong-${colleague.email}`]) {
      await page.getByRole('textbox', { name: 'Email' }).fill(email);
      await press('Send invitation');
      await page.getByText(`${email} is invited.`).waitFor();
    }
    await press('Close', page.getByRole('dialog'));
    const wrong = page.getByRole('listitem').filter({ hasText: `wrong-${colleague.email}` });
    await press('Withdraw invitation', wrong);
    await wrong.waitFor({ state: 'detached' });
    const [mail] = await mailsTo(colleague.email);
    assert.match(String(mail?.subject), new RegExp(`^Ada Person \\(.*\\) invites you to the workspace ${workspace}$`));
    assert.match(String(mail?.text), /claude mcp add --transport http/);
    const [link = ''] = /http\S+\?workspace=\S+/.exec(mail?.text ?? '') ?? [];
    const visit = await Visit.open(browser);
    await visit.signIn(colleague, link.replace(new URL(link).origin, ''));
    for (const path of ['', '/']) {
      if (path !== '') await visit.page.goto(new URL(path, visit.page.url()).href);
      await visit.page.waitForURL((url) => url.searchParams.get('workspace') === workspace);
      const options = () => workspacesIn(visit, 'a.pick:has(.who)');
      await eventually(
        'only this workspace is offered',
        async () => String(await options()) === workspace || undefined,
      );
    }
    await visit.close();
  });

  it('5. has six tasks done by two workers, and is notified that the goal is done', async () => {
    await firestore().doc(`preferences/${person.uid}`).set({ email: true });
    await go('/');
    await press('Set goal');
    await page.getByRole('textbox', { name: 'Goal' }).fill('Launch the newsletter');
    await press('Set goal', page.getByRole('dialog'));
    await page.getByRole('heading', { name: 'Launch the newsletter' }).waitFor();
    const tasks = Array.from({ length: 6 }, (_, index) => {
      return { description: `Part ${index + 1}`, ...(index > 0 && { dependencies: [`task-${index}`] }) };
    });
    await succeed(hers, 'coordination_create_tasks_batch', { tasks });
    const env = { PATH: process.env['PATH'], MUSTER_URL: endpointUrl('', { workspace }), MUSTER_TOKEN: key };
    const workers = ['one', 'two'].map((name) =>
      run(process.execPath, [`${ROOT}/examples/worker.js`, `${name}-${workspace}`], { env }),
    );
    const output = (await Promise.all(workers)).map(({ stdout }) => stdout).join('');
    assert.equal(output.match(/: done/g)?.length, 6);
    await eventually('the email about the goal is written', async () => {
      const subjects = (await mailsTo(person.email)).map(({ subject }) => subject);
      return subjects.includes('Goal done: Launch the newsletter') || undefined;
    });
  });

  it('6. takes a task from its holder, and reads that it was released', async () => {
    await succeed(worker, 'coordination_register_agent', { agent_id: builder, role: 'worker' });
    const id = await task({ description: 'Mend the header' });
    assert.equal(await claim(), id);
    await go(`/t/${id}`);
    await choose('Release task…');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Another agent knows the header');
    await press('Release task', dialog);
    await page.getByText('Another agent knows the header').waitFor();
    assert.equal(await claim(), id);
    await complete(id, 'Mended');
  });

  it('7. demands an approval, approves a call, and the call is made once', async () => {
    const draft = {
      tool: 'CLAUDECODE',
      description: 'Add a footer',
      instructions: 'Write it.',
      branch: 'feature/footer',
    };
    await go('/access');
    for (const name of ['An agent starts a code task', 'An agent opens a pull request'])
      await page.getByRole('switch', { name }).check();
    await eventually('the calls must be approved', async () => {
      const asked = ['coding_create_task', 'github_createPR'].map((tool) =>
        succeed(worker, 'access_explain', { tool }),
      );
      return (await Promise.all(asked)).every((one) => JSON.stringify(one['waits']).includes('approves')) || undefined;
    });
    const refused = await worker.call('coding_create_task', draft);
    assert.equal(refused.isError, true);
    await go('/');
    const question = page.getByRole('article').filter({ hasText: 'coding.create_task' });
    await question.getByText('feature/footer', { exact: true }).waitFor();
    await press('Approve', question);
    await question.getByText('Approved').waitFor();
    const made = await eventually('the approved call has been made', async () => {
      const { isError, structured } = await worker.call('coding_create_task', draft);
      return isError ? undefined : structured;
    });
    const { taskId } = Object(made['result']);
    await go(`/t/${taskId}`);
    await choose('Cancel task…');
    await press('Cancel task', page.getByRole('dialog'));
    await page.locator('.sentence .state').getByText('Cancelled').waitFor();
    const report = await succeed(hers, 'coding_report_task', { taskId });
    assert.match(JSON.stringify(report), /Cancelled by Ada Person\./);
  });

  it('8. limits a budget, is asked with true numbers, and approves a higher limit', async () => {
    const todo = idOf(await succeed(hers, 'todo_add_task', { title: 'Choose a queue' }));
    await go(`/d/${todo}`);
    await press('Set limit');
    await page.getByRole('textbox', { name: 'Spending limit' }).fill('0.000001');
    await press('Set limit', page.getByRole('dialog'));
    await page.getByText('Limit set').waitFor();
    const { runId } = await succeed(hers, 'orchestration_orchestrate', {
      prompt: `Which queue? ${workspace}`,
      preferences: { agent: 'claude' },
      options: { timeout: 45_000 },
      part_of: { kind: 'todo', id: todo },
    });
    assert.match(await why({ run: runId }), /is exhausted\..*asked to raise it/);
    await go('/');
    const question = page.getByRole('article').filter({ hasText: 'is too small' });
    assert.match(
      await question.innerText(),
      /to-?do "Choose a queue" is too small: \$0\.0000 of \$0\.000001 are spent/,
    );
    await press('Approve', question);
    await go(`/r/${runId}`);
    await page.locator('.sentence .state').getByText('Succeeded').waitFor();
  });

  it('9. adds a recurring to-do in words, and delegates a to-do, which shows the result', async () => {
    await go('/todos');
    await page.getByLabel('New to-do').fill('Water the office every second monday 9:00');
    await page.getByText('Every 2 weeks on Monday at 09:00').waitFor();
    await press('Add');
    await page
      .getByText(/Every 2 weeks on Monday at/)
      .last()
      .waitFor();
    await page.getByLabel('New to-do').fill('Book a table');
    await press('Add');
    await press('All');
    await page.getByRole('link', { name: 'Book a table' }).click();
    await press('Assign to agents');
    await page.getByText('Assigned to agents:').waitFor();
    await complete(await claim(), 'Luigi, Saturday 19:00, ref 8812');
    await page.getByText('Luigi, Saturday 19:00, ref 8812').waitFor();
  });

  it('10. creates a runner as the guide prints it, and finds the branch that was not pushed', async () => {
    await assert.rejects(printed('agents', 'create', '--name', 'my-runner', '--owner', 'ada'), /Unknown person "ada"/);
    const made = await printed('agents', 'create', '--name', `my-${workspace}`, '--owner', person.email);
    const [token = ''] = /mk_\S+/.exec(made) ?? [];
    const fixture = await RunnerFixture.at(
      endpointUrl('', { workspace }),
      { id: 'runner', token },
      { id: 'ada', token: person.token },
    );
    const coding = await startScriptedModel(claudeSteps(() => `${worktrees}/${readdirSync(worktrees)[0]}`));
    const worktrees = `${fixture.folder}/worktrees`;
    try {
      const { taskId } = await fixture.createTask();
      assert.match(await why({ task: taskId }), /No agent with claude .*npm run runner/);
      installClaude(fixture.bin);
      const env = claudeEnvironment(fixture.folder, coding.url);
      const runner = fixture.startRunner(['--once', '--worktrees', worktrees], { env });
      assert.equal(await runner.ended, 0, runner.output());
      assert.match(runner.output(), /Ada Person/);
      await go(`/t/${taskId}`);
      await page.getByText('The branch was not pushed.').waitFor();
      await page.getByText(fixture.repo).waitFor();
    } finally {
      await coding.close();
      await fixture.close();
    }
  });

  it('11. undoes what the agent of the README has done', async () => {
    // The field of the dialog has no fractions of a second.
    const since = Math.floor(Date.now() / 1000) * 1000;
    const id = await task({ description: 'Delete the old pages' });
    const [claimed = ''] = await asksClaude(
      'Claim a task as worker7, do it and complete it.',
      () => coordination('claim_task', { agent_id: agent }),
      () => coordination('complete_task', { agent_id: agent, task_id: id, output: 'Deleted' }),
    );
    const worker7: string = JSON.parse(claimed).task.claimed_by;
    await go(`/audit?agent=${worker7}`);
    await page.getByText(/completed\s+Delete the old pages/).waitFor();
    await press('Undo everything an agent did since…');
    const local = `new Date(${since} - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 19)`;
    await page
      .getByRole('dialog')
      .getByLabel('Since')
      .fill(String(await page.evaluate(local)));
    await press('Undo', page.getByRole('dialog'));
    await page.getByRole('status', { name: 'Undo result' }).getByText('Delete the old pages').waitFor();
    await go(`/t/${id}`);
    await page.locator('.sentence .state').getByText('Ready').waitFor();
  });

  it('12. revokes the app and removes the colleague, at once', async () => {
    await go('/access');
    const rowOf = (section: string, words: string) =>
      page.getByRole('region', { name: section }).getByRole('listitem').filter({ hasText: words });
    const app = rowOf('Agents and apps that act for you', 'App from');
    await app.locator('summary').click();
    await press('Revoke access…', app);
    await press('Revoke access', page.getByRole('dialog'));
    await app.waitFor({ state: 'detached' });
    await eventually('Claude Code is disconnected', async () =>
      /Connected/.test(await claude.run('mcp', 'list')) ? undefined : true,
    );
    const member = rowOf('Members', colleague.email);
    await member.locator('summary').click();
    await press('Remove from workspace…', member);
    await press('Remove from workspace', page.getByRole('dialog'));
    await member.waitFor({ state: 'detached' });
    const theirs = await connect('client 2026-07-28', endpointUrl('', { workspace }), colleague.token);
    await eventually('the colleague has no access', async () =>
      (await theirs.call('coordination_get_status')).isError ? true : undefined,
    );
    await theirs.close();
  });

  it('13. asks why a task and a call wait, and gets the remedy', async () => {
    await go('/tasks');
    await press('New task');
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByLabel('Title').fill('Draw it');
    await dialog.getByLabel('Needs an agent that can do').fill('painting');
    await press('Create task', dialog);
    await choose('Why?');
    await page
      .getByRole('dialog')
      .getByText(/No agent with painting is registered/)
      .waitFor();
    await press('Close', page.getByRole('dialog'));
    const { waits } = await succeed(worker, 'access_explain', { tool: 'github_createPR' });
    assert.match(JSON.stringify(waits), /Ada Person approves each call of github.createPR/);
  });

  it('14. reads the usage of each command, and the steps of a deployment, without an account', async () => {
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
    for (const name of ['doctor', 'deploy', 'people', 'agents', 'rebuild', 'runner', 'bench']) {
      const { stdout } = await run(process.execPath, [`${ROOT}/scripts/${name}.mjs`, '--help'], { env });
      assert.match(stdout, /Usage:|npm run bench/, name);
    }
    const args = [`${ROOT}/scripts/deploy.mjs`, '--project', 'demo-first', '--dry-run'];
    const { stdout } = await run(process.execPath, args, { env });
    assert.match(stdout, /would change: functions[\s\S]*would call: https:/);
  });
});
