import { Denied } from '../namespace.ts';
import { RulesError } from '../rules/compile.ts';
import { BadData } from '../tree/node.ts';

export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function statusOf(error: unknown): number {
  if (error instanceof HttpError) return error.status;
  if (error instanceof Denied) return 401;
  return error instanceof BadData || error instanceof RulesError ? 400 : 500;
}
