import { scenariosOf } from '../fixture.ts';
import { cancelsVerifying, handsIn, sendsBack, waives } from './proving.ts';

export const coordination = scenariosOf('coordination', {
  init_coordination: {
    'in a new workspace': async () => ({ args: { goal: 'One', master_plan: 'A plan' } }),
    'with another goal': async (fixture) => {
      await fixture.createOne();
      return { args: { goal: 'Two' } };
    },
  },
  create_task: {
    'in a new workspace': async () => ({ args: { description: 'A' } }),
    'with a dependency': async (fixture) => {
      const { id } = await fixture.createOne();
      return { args: { description: 'A', dependencies: [id] } };
    },
    'as the first part of a task': async (fixture) => {
      const { id } = await fixture.createOne();
      return { args: { description: 'A', part_of: { kind: 'task', id } } };
    },
    'as the second part of a task': async (fixture) => {
      const { id } = await fixture.createOne();
      const partOf = { kind: 'task', id } as const;
      await fixture.createOne({ part_of: partOf });
      return { args: { description: 'A', part_of: partOf } };
    },
  },
  create_tasks_batch: async (fixture) => {
    await fixture.createOne();
    return { args: { tasks: [{ description: 'A' }, { description: 'B', dependencies: ['task-1'] }] } };
  },
  register_agent: {
    'for the first time': async (fixture) => ({ args: { agent_id: fixture.agentId('bob'), role: 'worker' } }),
    'again, with a capability': async (fixture) => {
      const agent_id = await fixture.join('ann');
      return { args: { agent_id, role: 'worker', capabilities: ['sql'] }, principal: fixture.principal('ann') };
    },
  },
  claim_task: {
    'by an agent with one slot': async (fixture) => {
      const agent_id = await fixture.join('ann');
      await fixture.create({}, {});
      return { args: { agent_id }, principal: fixture.principal('ann') };
    },
    'by an agent with several slots': async (fixture) => {
      const agent_id = await fixture.join('ann');
      await fixture.allow(agent_id, 5);
      await fixture.create({}, {}, {});
      return { args: { agent_id }, principal: fixture.principal('ann') };
    },
    'with files': async (fixture) => {
      const agent_id = await fixture.join('ann');
      await fixture.create({ files: ['src/'] });
      return { args: { agent_id }, principal: fixture.principal('ann') };
    },
    'that puts off a task whose files another has': async (fixture) => {
      const agent_id = await fixture.join('ann');
      await fixture.create({ files: ['src/'] }, { files: ['src/a.ts'] }, { files: ['docs/'] });
      await fixture.claim(await fixture.join('bob'));
      return { args: { agent_id }, principal: fixture.principal('ann') };
    },
    'for a held task that is not started': async (fixture) => {
      const { principal, agent_id } = await fixture.holder();
      await fixture.allow(agent_id, 2);
      await fixture.create({});
      return { args: { agent_id }, principal };
    },
    'for a held task that the call starts': async (fixture) => {
      const { principal, agent_id } = await fixture.holder();
      return { args: { agent_id, start: true }, principal };
    },
    'without an available task': async (fixture) => {
      const { principal, agent_id, task_id } = await fixture.holder();
      await fixture.start(agent_id, task_id);
      await fixture.allow(agent_id, 2);
      return { args: { agent_id }, principal };
    },
  },
  start_task: async (fixture) => {
    const { principal, ...args } = await fixture.holder();
    return { args, principal };
  },
  complete_task: {
    ...handsIn,
    'with open parts': async (fixture) => {
      const { principal, ...args } = await fixture.holder();
      await fixture.createOne({ part_of: { kind: 'task', id: args.task_id } });
      return { args: { ...args, output: 'Done', when_parts_done: true }, principal };
    },
    'with a dependent': async (fixture) => {
      const { principal, ...args } = await fixture.holder();
      await fixture.create({ dependencies: [args.task_id] });
      return { args: { ...args, output: 'Made it' }, principal };
    },
    'by an agent that holds two tasks': async (fixture) => {
      const { principal, ...args } = await fixture.holder(2);
      await fixture.start(args.agent_id, args.task_id);
      return { args: { ...args, output: 'Made it' }, principal };
    },
    'after the lease expired and another agent claimed it': async (fixture) => {
      const { principal, ...args } = await fixture.holder();
      fixture.pass(7200);
      await fixture.neverSeen(args.agent_id);
      await fixture.sweep();
      const other = await fixture.join('bob');
      await fixture.claim(other);
      return { args: { ...args, output: 'Made it' }, principal };
    },
  },
  fail_task: {
    'without a retry': async (fixture) => {
      const { principal, ...args } = await fixture.holder();
      await fixture.create({ dependencies: [args.task_id] });
      return { args: { ...args, error: 'It broke' }, principal };
    },
    'with a retry': async (fixture) => {
      const { principal, ...args } = await fixture.holder();
      return { args: { ...args, error: 'It broke', retryable: true }, principal };
    },
  },
  cancel_task: {
    'while it is held': async (fixture) => {
      const { task_id } = await fixture.holder();
      await fixture.create({ dependencies: [task_id] });
      return { args: { task_id, reason: 'No longer wanted' } };
    },
    'while it is verified': cancelsVerifying,
  },
  release_task: async (fixture) => {
    const { task_id } = await fixture.holder();
    return { args: { task_id } };
  },
  retry_task: {
    ...sendsBack,
    'after it failed': async (fixture) => {
      const { agent_id, task_id } = await fixture.holder();
      await fixture.fail(agent_id, task_id);
      return { args: { task_id } };
    },
    'with its dependents': async (fixture) => {
      const { agent_id, task_id } = await fixture.holder();
      const { id } = await fixture.createOne({ dependencies: [task_id] });
      await fixture.create({ dependencies: [id] });
      await fixture.fail(agent_id, task_id);
      const { taskLevers } = fixture.app.services;
      await taskLevers.cancel(fixture.leader, { taskId: id }, () => undefined);
      return { args: { task_id, with_dependents: true } };
    },
  },
  update_task: {
    'that waives the acceptance of a verifying task': waives,
    'while it is held': async (fixture) => {
      const { task_id } = await fixture.holder();
      return { args: { task_id, description: 'Other work', clear: ['deadline'] } };
    },
    'with other dependencies': async (fixture) => {
      const [, second, third] = await fixture.create({}, {}, { dependencies: ['task-1'] });
      const task_id = String(third?.id);
      await fixture.create({ dependencies: [task_id] });
      return { args: { task_id, dependencies: [String(second?.id)], required_capabilities: ['sql'] } };
    },
  },
  reopen: async (fixture) => {
    const { coordination } = fixture.app.services;
    await coordination.initialize(fixture.workspace, { goal: 'One' }, () => undefined);
    await fixture.createOne();
    await coordination.initialize(fixture.workspace, { goal: 'Two' }, () => undefined);
    return { args: {} };
  },
  heartbeat: {
    'by an agent without messages': async (fixture) => {
      const { principal, agent_id } = await fixture.holder();
      return { args: { agent_id }, principal };
    },
    'by an agent that has read its messages': async (fixture) => {
      const { principal, agent_id: agentId } = await fixture.holder();
      const letter = { workspace: fixture.workspace, agentId, text: 'Look' };
      const { id } = await fixture.app.services.messages.send(fixture.leader, letter, () => undefined);
      return { args: { agent_id: agentId, read_until: id }, principal };
    },
  },
  message_agent: async (fixture) => {
    const { agent_id, task_id } = await fixture.holder();
    return { args: { agent_id, task_id, message: 'Look' } };
  },
  add_discovery: async (fixture) => {
    const { principal, agent_id } = await fixture.holder();
    return { args: { agent_id, content: 'Look', tags: ['auth'] }, principal };
  },
});
