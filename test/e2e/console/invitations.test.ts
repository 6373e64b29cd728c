/** Access to the console: invitations, roles, and the choice of workspaces. */
import assert from 'node:assert/strict';
import { getAuth } from 'firebase-admin/auth';
import type { Browser } from 'playwright-core';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { axeViolations, openBrowser } from '../../support/browser.ts';
import { newWorkspace } from '../support/endpoint.ts';
import { newPerson, setRole, signUp, type TestPerson } from '../support/people.ts';
import { eventually } from '../support/waiting.ts';
import { Visit, workspacesIn } from './support/visit.ts';
import { Work } from './support/work.ts';

const NO_ROLE = { name: 'You don’t have a role yet' };

describe('the console', () => {
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

  const heading = (options: { readonly name: string }) => visit.page.getByRole('heading', options);
  const verify = ({ uid }: TestPerson) => getAuth(firebaseApp()).updateUser(uid, { emailVerified: true });
  const invite = (work: Work, { email }: TestPerson) => work.call('person', 'access.invite', { email, role: 'worker' });
  const optionsOf = () => workspacesIn(visit, 'a.pick:has(.who)');

  async function started(goal: string): Promise<{ readonly work: Work; readonly task: string }> {
    const work = new Work();
    await work.begin(goal);
    return { work, task: await work.task(`A task of ${goal}`) };
  }

  async function invited(work: Work): Promise<TestPerson> {
    const person = await signUp();
    await verify(person);
    await invite(work, person);
    return person;
  }

  it('gives an invited person access at once, on the first page that the person opens', async () => {
    const { work, task } = await started('Links');
    for (const path of [`/t/${task}`, '/agents']) {
      const person = await invited(work);
      visit = await Visit.open(browser);
      const separator = path.includes('?') ? '&' : '?';
      await visit.signIn(person, `${path}${separator}workspace=${work.workspace}`);
      const shown = path === '/agents' ? 'No agents yet' : 'A task of Links';
      await visit.page.locator('main').getByText(shown).first().waitFor();
      const isOnlyOne = async () => String(await optionsOf()) === work.workspace || undefined;
      await eventually(`only the workspace of the invitation is listed at ${path}`, isOnlyOne);
      await visit.close();
      visit.complaints.length = 0; // Firebase's SDK logs refused requests until the new role is mirrored
    }
  });

  it("opens the invitation's workspace for an invited person if the address has no workspace", async () => {
    const { work } = await started('Led here');
    visit = await Visit.open(browser);
    await visit.signIn(await invited(work), '/');
    await visit.page.getByText('Led here').waitFor();
    assert.equal(new URL(visit.page.url()).searchParams.get('workspace'), work.workspace);
    visit.complaints.length = 0; // Firebase's SDK logs refused requests until the new role is mirrored
  });

  it('shows a person without a role their email address, and the page once they are invited', async () => {
    const { work, task } = await started('Late');
    const person = await signUp();
    visit = await Visit.open(browser);
    await visit.signIn(person, `/t/${task}?workspace=${work.workspace}`);
    await heading(NO_ROLE).waitFor();
    await visit.page.locator('main').getByText(person.email).waitFor();
    await visit.page.getByText('This address isn’t verified').waitFor();
    assert.deepEqual(await axeViolations(visit.page), []);
    assert.equal(await visit.page.getByRole('navigation').getByRole('link').count(), 0);

    await invite(work, person);
    await visit.page.getByRole('button', { name: 'Try again' }).click();
    await visit.page.getByText('You still don’t have a role.').waitFor();
    await verify(person);
    await visit.page.getByRole('button', { name: 'Try again' }).click();
    await heading({ name: 'A task of Late' }).waitFor();
    visit.complaints.length = 0; // Firebase's SDK logs refused requests until the new role is mirrored
  });

  it('gives access to a person who was invited in the meantime and returns to the open page', async () => {
    const { work } = await started('Open page');
    const person = await signUp();
    await verify(person);
    visit = await Visit.open(browser);
    await visit.signIn(person, `/tasks?workspace=${work.workspace}`);
    await heading(NO_ROLE).waitFor();
    await invite(work, person);
    await comeBackUntil('A task of Open page');

    // A person with a role in the deployment, but none in this workspace.
    const member = await newPerson();
    await verify(member);
    await visit.close();
    visit.complaints.length = 0;
    visit = await Visit.open(browser);
    await visit.signIn(member, `/tasks?workspace=${work.workspace}`);
    await visit.page.getByText('You don’t have access to this').waitFor();
    await invite(work, member);
    await comeBackUntil('A task of Open page');
    visit.complaints.length = 0; // Firebase's SDK logs each refused request
  });

  it("applies changes of a person's deployment role while the page is open", async () => {
    const person = await signUp();
    visit = await Visit.open(browser);
    await visit.signIn(person, '/todos');
    await heading(NO_ROLE).waitFor();
    await setRole(person.uid, 'worker');
    await visit.page.getByLabel('New to-do').waitFor();
    await setRole(person.uid, 'none');
    await heading(NO_ROLE).waitFor();
    visit.complaints.length = 0; // Firebase's SDK logs each refused request
  });

  it('lists the workspaces in which a person has a role; for admins, it lists all workspaces', async () => {
    const open = newWorkspace('open');
    const { work } = await started('Private');
    await work.call('person', 'access.create_workspace', { name: open, access: 'open' });
    visit = await Visit.open(browser);
    await visit.signIn(await newPerson(), '/');
    const listed = await eventually('the open workspace is listed', async () => {
      const options = await optionsOf();
      return options.includes(open) ? options : undefined;
    });
    assert.ok(listed.includes('default') && !listed.includes(work.workspace));
    await visit.close();

    const admin = await signUp();
    await setRole(admin.uid, 'admin');
    visit = await Visit.open(browser);
    await visit.signIn(admin, '/');
    const others = () => workspacesIn(visit, '.label:text("You administer") ~ a.pick:has(.who)');
    const isThere = async () => (await others()).includes(work.workspace) || undefined;
    await eventually('the private workspace is listed', isThere);
    assert.ok(!(await others()).includes(open));
  });

  /** Simulates with focus events that the person returns to the page, until it shows a link with the text. */
  async function comeBackUntil(text: string): Promise<void> {
    await eventually(`"${text}" is shown`, async () => {
      await visit.page.evaluate(`dispatchEvent(new Event('focus'))`);
      return (await visit.page.getByRole('link', { name: text }).count()) > 0 || undefined;
    });
  }
});
