/** Errors for what the caller names and does not exist, or is not the caller's to see. */
import { MusterError } from './errors.ts';

/** Where the text is no id at all. */
export function nothingOfThisId(): MusterError {
  return new MusterError('NOT_FOUND', 'Nothing has this id, and nothing can have it.', {
    suggestion: 'Give an id as it was answered: letters, digits, "-" and "_".',
  });
}

export function taskNotFound(taskId: string): MusterError {
  return new MusterError('NOT_FOUND', `No task "${taskId}".`, {
    field: 'task_id',
    value: taskId,
    suggestion: 'get_all_tasks lists the tasks of this workspace.',
  });
}

export function agentNotRegistered(agentId: string): MusterError {
  return new MusterError('NOT_FOUND', `Agent "${agentId}" is not registered.`, {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Call register_agent first.',
  });
}

export function noCoordination(workspace: string): MusterError {
  return new MusterError('NOT_FOUND', `Workspace "${workspace}" has no coordination yet.`, {
    suggestion: 'A leader starts one with init_coordination.',
  });
}
