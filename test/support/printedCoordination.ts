/** The example responses of the coordination specification, copied verbatim. */
export const RESPONSES = {
  init_coordination: {
    success: true,
    goal: 'Build a REST API for user management',
    created_at: '2024-01-15T10:30:00.000Z',
  },
  create_task: {
    success: true,
    task: {
      id: 'task-xxx-002',
      description: 'Implement user login endpoint',
      status: 'available',
      priority: 1,
      dependencies: ['task-xxx-001'],
      context: { files: ['src/auth/login.ts'], hints: 'Use JWT for tokens, bcrypt for passwords' },
      created_at: '2024-01-15T10:35:00.000Z',
    },
  },
  create_tasks_batch: { success: true, created: 3, task_ids: ['task-xxx-001', 'task-xxx-002', 'task-xxx-003'] },
  get_status: {
    goal: 'Build a REST API',
    tasks: { available: 5, claimed: 1, in_progress: 2, done: 10, failed: 0 },
    total_tasks: 18,
    progress_percent: 55,
    agents: { total: 3, leaders: 1, workers: 2, active: 3 },
    discoveries_count: 7,
    last_activity: '2024-01-15T11:00:00.000Z',
  },
  get_all_tasks: {
    tasks: [
      {
        id: 'task-xxx-001',
        description: 'Create User model',
        status: 'done',
        priority: 1,
        claimed_by: 'terminal-2',
        result: { output: 'Created User model with validation' },
      },
    ],
  },
  get_results: {
    results: [
      {
        task_id: 'task-xxx-001',
        description: 'Create User model',
        result: { output: 'Created User model with validation', files_created: ['src/models/user.ts'] },
        completed_at: '2024-01-15T10:45:00.000Z',
      },
    ],
  },
  register_agent: {
    success: true,
    agent: {
      id: 'terminal-2',
      role: 'worker',
      last_heartbeat: '2024-01-15T10:30:00.000Z',
      current_task: null,
      tasks_completed: 0,
    },
  },
  claim_task: {
    success: true,
    task: {
      id: 'task-xxx-002',
      description: 'Implement login endpoint',
      status: 'claimed',
      priority: 1,
      claimed_by: 'terminal-2',
      claimed_at: '2024-01-15T10:35:00.000Z',
      context: { files: ['src/auth/login.ts'], hints: 'Use JWT' },
    },
  },
  nothingToClaim: { success: false, message: 'No available tasks with satisfied dependencies' },
  success: { success: true },
  add_discovery: {
    success: true,
    discovery: {
      id: 'uuid-xxx',
      agent_id: 'terminal-2',
      content: 'Found existing auth middleware...',
      tags: ['auth', 'existing-code'],
      created_at: '2024-01-15T10:40:00.000Z',
    },
  },
  get_discoveries: {
    discoveries: [
      {
        id: 'uuid-xxx',
        agent_id: 'terminal-2',
        content: 'Found existing auth middleware...',
        tags: ['auth', 'existing-code'],
        created_at: '2024-01-15T10:40:00.000Z',
      },
    ],
  },
  get_master_plan: {
    goal: 'Build a REST API for user management',
    master_plan: '1. Design data models\n2. Implement endpoints...',
    created_at: '2024-01-15T10:30:00.000Z',
  },
} as const;
