/** Errors name the argument as its tool does: the domain has one name for what some tools write in another way. */
import { MusterError } from '../domain/errors.ts';
import type { Tool } from './tool.ts';

/** @param error whatever the tool's handler has thrown */
export function namingOwnArgument(error: unknown, { input }: Pick<Tool, 'input'>): unknown {
  if (!(error instanceof MusterError) || error.details.field === undefined) return error;
  const [first = '', ...rest] = error.details.field.split('.');
  const own = Object.keys(input.shape);
  const name = own.find((one) => one === first) ?? own.find((one) => folded(one) === folded(first));
  if (name === undefined || name === first) return error;
  const details = { ...error.details, field: [name, ...rest].join('.'), cause: error.cause };
  return new MusterError(error.code, error.message, details);
}

/** `task_id` and `taskId` are one. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}
