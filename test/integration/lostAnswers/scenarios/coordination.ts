import { scenariosOf } from '../scene.ts';

export const coordination = scenariosOf('coordination', {
  init_coordination: {
    'in a new workspace': async () => ({ args: { goal: 'One', master_plan: 'A plan' } }),
    'with another goal': async (scene) => {
      await scene.createOne();
      return { args: { goal: 'Two' } };
    },
  },
  create_task: {
    'in a new workspace': async () => ({ args: { description: 'A' } }),
    'with a dependency': async (scene) => {
      const { id } = await scene.createOne();
      return { args: { description: 'A', dependencies: [id] } };
    },
    'as the first part of a task': async (scene) => {
      const { id } = await scene.createOne();
      return { args: { description: 'A', part_of: { kind: 'task', id } } };
    },
    'as the second part of a task': async (scene) => {
      const { id } = await scene.createOne();
      const partOf = { kind: 'task', id } as const;
      await scene.createOne({ part_of: partOf });
      return { args: { description: 'A', part_of: partOf } };
    },
  },
  create_tasks_batch: async (scene) => {
    await scene.createOne();
    return { args: { tasks: [{ description: 'A' }, { description: 'B', dependencies: ['task-1'] }] } };
  },
  register_agent: {
    'for the first time': async (scene) => ({ args: { agent_id: scene.agentId('bob'), role: 'worker' } }),
    'again, with a capability': async (scene) => {
      const agent_id = await scene.join('ann');
      return { args: { agent_id, role: 'worker', capabilities: ['sql'] }, principal: scene.principal('ann') };
    },
  },
  claim_task: {
    'by an agent with one slot': async (scene) => {
      const agent_id = await scene.join('ann');
      await scene.create({}, {});
      return { args: { agent_id }, principal: scene.principal('ann') };
    },
    'by an agent with several slots': async (scene) => {
      const agent_id = await scene.join('ann');
      await scene.allow(agent_id, 5);
      await scene.create({}, {}, {});
      return { args: { agent_id }, principal: scene.principal('ann') };
    },
    'for a held task that is not started': async (scene) => {
      const { principal, agent_id } = await scene.holder();
      await scene.allow(agent_id, 2);
      await scene.create({});
      return { args: { agent_id }, principal };
    },
    'without an available task': async (scene) => {
      const { principal, agent_id, task_id } = await scene.holder();
      await scene.start(agent_id, task_id);
      await scene.allow(agent_id, 2);
      return { args: { agent_id }, principal };
    },
  },
  start_task: async (scene) => {
    const { principal, ...args } = await scene.holder();
    return { args, principal };
  },
  complete_task: {
    'with open parts': async (scene) => {
      const { principal, ...args } = await scene.holder();
      await scene.createOne({ part_of: { kind: 'task', id: args.task_id } });
      return { args: { ...args, output: 'Done', when_parts_done: true }, principal };
    },
    'with a dependent': async (scene) => {
      const { principal, ...args } = await scene.holder();
      await scene.create({ dependencies: [args.task_id] });
      return { args: { ...args, output: 'Made it' }, principal };
    },
    'by an agent that holds two tasks': async (scene) => {
      const { principal, ...args } = await scene.holder(2);
      await scene.start(args.agent_id, args.task_id);
      return { args: { ...args, output: 'Made it' }, principal };
    },
    'after the lease expired and another agent claimed it': async (scene) => {
      const { principal, ...args } = await scene.holder();
      scene.pass(7200);
      await scene.neverSeen(args.agent_id);
      await scene.sweep();
      const other = await scene.join('bob');
      await scene.claim(other);
      return { args: { ...args, output: 'Made it' }, principal };
    },
  },
  fail_task: {
    'without a retry': async (scene) => {
      const { principal, ...args } = await scene.holder();
      await scene.create({ dependencies: [args.task_id] });
      return { args: { ...args, error: 'It broke' }, principal };
    },
    'with a retry': async (scene) => {
      const { principal, ...args } = await scene.holder();
      return { args: { ...args, error: 'It broke', retryable: true }, principal };
    },
  },
  cancel_task: async (scene) => {
    const { task_id } = await scene.holder();
    await scene.create({ dependencies: [task_id] });
    return { args: { task_id, reason: 'No longer wanted' } };
  },
  release_task: async (scene) => {
    const { task_id } = await scene.holder();
    return { args: { task_id } };
  },
  retry_task: {
    'after it failed': async (scene) => {
      const { agent_id, task_id } = await scene.holder();
      await scene.fail(agent_id, task_id);
      return { args: { task_id } };
    },
    'with its dependents': async (scene) => {
      const { agent_id, task_id } = await scene.holder();
      const { id } = await scene.createOne({ dependencies: [task_id] });
      await scene.create({ dependencies: [id] });
      await scene.fail(agent_id, task_id);
      const { taskLevers } = scene.app.services;
      await taskLevers.cancel(scene.leader, { taskId: id }, () => undefined);
      return { args: { task_id, with_dependents: true } };
    },
  },
  update_task: {
    'while it is held': async (scene) => {
      const { task_id } = await scene.holder();
      return { args: { task_id, description: 'Other work', clear: ['deadline'] } };
    },
    'with other dependencies': async (scene) => {
      const [, second, third] = await scene.create({}, {}, { dependencies: ['task-1'] });
      const task_id = String(third?.id);
      await scene.create({ dependencies: [task_id] });
      return { args: { task_id, dependencies: [String(second?.id)], required_capabilities: ['sql'] } };
    },
  },
  reopen: async (scene) => {
    const { coordination } = scene.app.services;
    await coordination.initialise(scene.workspace, { goal: 'One' }, () => undefined);
    await scene.createOne();
    await coordination.initialise(scene.workspace, { goal: 'Two' }, () => undefined);
    return { args: {} };
  },
  heartbeat: {
    'by an agent without messages': async (scene) => {
      const { principal, agent_id } = await scene.holder();
      return { args: { agent_id }, principal };
    },
    'by an agent that has read its messages': async (scene) => {
      const { principal, agent_id: agentId } = await scene.holder();
      const letter = { workspace: scene.workspace, agentId, text: 'Look' };
      const { id } = await scene.app.services.messages.send(scene.leader, letter, () => undefined);
      return { args: { agent_id: agentId, read_until: id }, principal };
    },
  },
  message_agent: async (scene) => {
    const { agent_id, task_id } = await scene.holder();
    return { args: { agent_id, task_id, message: 'Look' } };
  },
  add_discovery: async (scene) => {
    const { principal, agent_id } = await scene.holder();
    return { args: { agent_id, content: 'Look', tags: ['auth'] }, principal };
  },
});
