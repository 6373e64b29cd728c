import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type PersonRoles, personsRoleIn } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { refusal } from '../../support/refusal.ts';
import { answer } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { AccessFixture, withName } from './fixture.ts';

const NEW = () => `w-${randomUUID().slice(0, 13)}`;

describe('workspaces of a deployment', () => {
  let fixture: AccessFixture;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    await fixture.arrive('ben', 'worker');
    await fixture.arrive('cyd', 'leader');
    await fixture.arrive('root', 'admin');
  });

  it('are created by leaders of the deployment, who then lead them', async () => {
    const name = NEW();
    const made = await fixture.ask(await fixture.person('ada'), 'create_workspace', {
      name,
      repositories: ['sartor-ai/muster', 'Sartor-AI/Muster', 'sartor-ai/*'],
    });
    const ada = fixture.id('ada');
    const repositories = ['sartor-ai/muster', 'sartor-ai/*'];
    assert.deepEqual(made, { workspace: name, access: 'private', repositories, leader: ada });
    assert.equal(await fixture.roleOf('ada', name), 'leader');
    assert.equal((await fixture.app.access.ports.people.workspaces())[name], 'private');
    const stored = (await fixture.app.access.ports.workspaces.find(name))?.value;
    assert.deepEqual([stored?.repositories, stored?.created_by, stored?.session], [repositories, ada, undefined]);
    const again = await fixture.refused(await fixture.person('cyd'), 'create_workspace', { name });
    assert.equal(again.reason, 'NAME_NOT_AVAILABLE');
  });

  it('cannot be created by callers that are not leaders of the deployment', async () => {
    const args = { name: NEW() };
    await fixture.letIn(await fixture.workspaceOf('ada'), 'ben', 'leader');
    const callers = [
      await fixture.person('ben'),
      await fixture.agentOf('ada', 'worker'),
      await fixture.agentOf('ada', 'leader', { held_to: 'default' }),
      await fixture.agentOf('ben', 'admin'),
    ];
    for (const caller of callers)
      assert.match(String((await fixture.refused(caller, 'create_workspace', args)).reason), /ROLE_TOO_WEAK$/);
    await fixture.ask(await fixture.agentOf('ada', 'leader'), 'create_workspace', args);
    assert.equal(await fixture.roleOf('ada', args.name), 'leader', "the agent's owner leads the workspace");
  });

  it('cannot get a name that existing data uses, and the error does not reveal that data', async () => {
    const [taken, inDocuments, inNode, inValue] = [NEW(), NEW(), NEW(), NEW()];
    await fixture.app.services.coordination.initialize(taken, { goal: 'A goal' }, unkeyed);
    await firestore().doc(`messages/${inDocuments}/talk/one`).set({ text: 'hello' });
    const database = await realtimeDatabase();
    await database.ref(`messages/${inNode}/talk`).set({ one: 'hello' });
    await database.ref(`shared/${inValue}`).set(5);
    const ada = await fixture.person('ada');
    const output = [];
    for (const name of [taken, inDocuments, inNode, inValue, 'default', 'agents', 'conversations']) {
      const refused = await fixture.refused(ada, 'create_workspace', { name });
      output.push(JSON.stringify(withName(refused, name, 'x')));
    }
    assert.equal(new Set(output).size, 1, output.join('\n'));
    const opening = () => fixture.app.services.coordination.initialize(inNode, { goal: 'Mine' }, unkeyed, ada);
    assert.equal((await refusal(opening)).details.reason, 'NAME_NOT_AVAILABLE');
  });

  it("are private if an agent creates them, and the agent's owner becomes their leader", async () => {
    const agent = await fixture.agentOf('ada', 'leader');
    await answer(fixture, 'coordination_init_coordination', { goal: 'A goal' }, agent);
    const { workspace } = fixture;
    assert.equal((await fixture.app.access.ports.people.workspaces())[workspace], 'private');
    const member = (await fixture.app.access.ports.people.member(workspace, fixture.id('ada')))?.value;
    assert.deepEqual([member?.role, member?.added_by], ['leader', agent.uid]);
    await answer(fixture, 'coordination_init_coordination', { goal: 'Another' }, await fixture.person('ada'));
  });

  it('give their creator a role at every moment during their creation', async () => {
    const ada = await fixture.person('ada');
    const opened = Array.from({ length: 20 }, NEW);
    const shutIn = (roles: PersonRoles) => opened.filter((name) => personsRoleIn(roles, name) === undefined);
    let isOpening = true;
    const reading = (async () => {
      const shut: string[] = [];
      while (isOpening) {
        const read = await Promise.all(opened.map(() => fixture.app.access.ports.roles.of(ada.uid)));
        shut.push(...read.flatMap(shutIn));
      }
      return shut;
    })();
    for (const name of opened)
      await fixture.app.services.coordination.initialize(name, { goal: 'A goal' }, unkeyed, ada);
    isOpening = false;
    assert.deepEqual(await reading, []);
  });

  it('are created with their first task, even if a run creates this task', async () => {
    const ada = await fixture.person('ada');
    await answer(fixture, 'coordination_create_task', { description: 'Do it' }, ada);
    assert.equal(await fixture.roleOf('ada', fixture.workspace), 'leader');
    const workspace = NEW();
    const opener = { uid: ada.uid, owner_uid: ada.owner_uid };
    const request = { ...fixture.request([{}]), workspace, opener };
    await fixture.app.services.taskCreation.create(request, unkeyed);
    await fixture.app.services.taskCreation.create(request, unkeyed);
    assert.equal(await fixture.roleOf('ada', workspace), 'leader');
  });

  it('reject calls whose permission check passed before the workspace was created', async () => {
    const cyd = await fixture.person('cyd');
    const { coordination, taskCreation } = fixture.app.services;
    await coordination.initialize(fixture.workspace, { goal: 'Hers' }, unkeyed, await fixture.person('ada'));
    const codes = [
      await refusal(() => coordination.initialize(fixture.workspace, { goal: 'Mine' }, unkeyed, cyd)),
      await refusal(() => taskCreation.create({ ...fixture.request([{}]), opener: cyd }, unkeyed)),
    ].map(({ code, details }) => `${code} ${details.reason}`);
    assert.deepEqual(codes, ['FORBIDDEN NO_ROLE', 'FORBIDDEN NO_ROLE']);
    assert.equal((await coordination.session(fixture.workspace))?.goal, 'Hers');
    assert.equal(await fixture.roleOf('cyd', fixture.workspace), undefined);
  });

  it('are created by only one of two concurrent callers', async () => {
    const openers = [await fixture.person('ada'), await fixture.person('cyd')];
    const tried = await Promise.allSettled(
      openers.map((opener, number) =>
        fixture
          .anotherInstance()
          .services.coordination.initialize(fixture.workspace, { goal: `Goal ${number}` }, unkeyed, opener),
      ),
    );
    assert.deepEqual(tried.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const leaders = await fixture.app.access.ports.people.leaders(fixture.workspace, 5);
    assert.equal(leaders.length, 1);
  });

  it('keep their settings when their first session is created', async () => {
    const workspace = await fixture.workspaceOf('ada');
    const ada = await fixture.person('ada');
    await fixture.ask(ada, 'update_workspace', { workspace, repositories: ['sartor-ai/muster'] });
    const { coordination } = fixture.app.services;
    assert.equal(await coordination.session(workspace), undefined);
    await coordination.initialize(workspace, { goal: 'A goal' }, unkeyed, ada);
    assert.equal((await coordination.session(workspace))?.goal, 'A goal');
    const stored = await fixture.app.access.ports.workspaces.find(workspace);
    assert.deepEqual(stored?.value.repositories, ['sartor-ai/muster']);
  });

  it('can be changed only by their leaders and by admins', async () => {
    const workspace = await fixture.workspaceOf('ben');
    await fixture.letIn(workspace, 'ada', 'worker');
    const args = { workspace, repositories: ['sartor-ai/muster'] };
    for (const [name, repository] of Object.entries({ ben: 'sartor-ai/muster', root: 'sartor-ai/site' })) {
      const wanted = { workspace, repositories: [repository] };
      const changed = await fixture.ask(await fixture.person(name), 'update_workspace', wanted);
      assert.deepEqual(changed, { workspace, access: 'private', repositories: [repository] });
    }
    const ada = await fixture.refused(await fixture.person('ada'), 'update_workspace', args);
    assert.equal(ada.reason, 'ROLE_TOO_WEAK');
    assert.match(
      (await fixture.refused(await fixture.person('ben'), 'update_workspace', { workspace })).message,
      /^Nothing to update\.$/,
    );
  });

  it('are not written if no setting changes, and the response reports this', async () => {
    const workspace = await fixture.workspaceOf('root');
    const root = await fixture.person('root');
    const settings = {
      access: 'private',
      repositories: ['sartor-ai/muster'],
      routing: { pin: { review: 'claude' }, forbid: ['gemini'] },
      approvals: [{ tool: 'github.createPR', asks: fixture.id('root') }],
    };
    const first = await fixture.ask(root, 'update_workspace', { workspace, ...settings });
    assert.equal(first['message'], undefined);
    const stored = await fixture.app.access.ports.workspaces.find(workspace);
    for (const args of [settings, { repositories: ['sartor-ai/muster'] }, { access: 'private' }, { routing: {} }]) {
      const again = await fixture.ask(root, 'update_workspace', { workspace, ...args });
      assert.match(String(again['message']), /^Nothing was changed/);
      assert.deepEqual({ ...again, message: undefined }, { ...first, message: undefined });
    }
    assert.equal((await fixture.app.access.ports.workspaces.find(workspace))?.version, stored?.version);
    const other = { workspace, ...settings, routing: { pin: { plan: 'claude' } } };
    assert.equal((await fixture.ask(root, 'update_workspace', other))['message'], undefined);
  });

  it('can be made open only by leaders of the deployment, and get a leader when made private', async () => {
    const workspace = await fixture.workspaceOf('ben');
    await fixture.letIn(workspace, 'ada', 'leader');
    const opened = { workspace, access: 'open' };
    const ben = await fixture.refused(await fixture.person('ben'), 'update_workspace', opened);
    assert.equal(ben.reason, 'DEPLOYMENT_ROLE_TOO_WEAK');
    await fixture.ask(await fixture.person('ada'), 'update_workspace', opened);
    assert.equal((await fixture.app.access.ports.people.workspaces())[workspace], 'open');
    const { store } = fixture.app.kernel;
    for (const name of ['ada', 'ben']) await store.commit([{ kind: 'removeMember', workspace, uid: fixture.id(name) }]);
    const closed = await fixture.ask(await fixture.person('cyd'), 'update_workspace', { workspace, access: 'private' });
    assert.equal(closed['leader'], fixture.id('cyd'));
    assert.equal(await fixture.roleOf('cyd', workspace), 'leader');
    const always = await fixture.refused(await fixture.person('root'), 'update_workspace', {
      workspace: 'default',
      access: 'private',
    });
    assert.match(always.message, /always open/);
  });

  it('store which hosted agents to use for a kind of work, and which agents never to use', async () => {
    const name = NEW();
    const ada = await fixture.person('ada');
    await fixture.ask(ada, 'create_workspace', { name });
    const routed = async (routing: JsonObject) =>
      (await fixture.ask(ada, 'update_workspace', { workspace: name, routing }))['routing'];
    assert.deepEqual(await routed({ pin: { review: 'claude' } }), { pin: { review: 'claude' }, forbid: [] });
    const both = { pin: { review: 'claude' }, forbid: ['gemini'] };
    assert.deepEqual(await routed({ forbid: ['gemini', 'gemini'] }), both);
    const { roster } = fixture.app.services.orchestration;
    const { routing } = await roster.situation(name);
    assert.deepEqual(routing, { pins: [{ kind: 'review', agent: 'claude' }], forbidden: ['gemini'] });
    const refused = await fixture.refused(ada, 'update_workspace', {
      workspace: name,
      routing: { forbid: ['claude'] },
    });
    assert.equal(refused.reason, 'PINNED_AND_FORBIDDEN');
    const listed = await fixture.ask(ada, 'update_workspace', { workspace: name, repositories: [] });
    assert.deepEqual(listed['routing'], both, 'omitted settings stay');
    assert.deepEqual(await routed({ pin: {} }), { pin: {}, forbid: ['gemini'] });
    assert.equal(await routed({ forbid: [] }), undefined);
    const elsewhere = await roster.situation(NEW());
    assert.deepEqual(elsewhere.routing, { pins: [], forbidden: [] });
    const ben = await fixture.person('ben');
    const stranger = await fixture.refused(ben, 'update_workspace', { workspace: name, routing: { forbid: [] } });
    assert.match(String(stranger.reason), /NO_ROLE|ROLE_TOO_WEAK/);
  });
});
