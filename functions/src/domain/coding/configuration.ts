/** What of a task's configuration Muster itself goes by; the rest is between its creator and its runner. */
import { MusterError } from '../errors.ts';
import { type JsonObject, jsonObject } from '../json.ts';
import { requireSize } from '../size.ts';

const MAX_CONFIG_BYTES = 16_000;

const DAY_SECONDS = 24 * 60 * 60;
const MIN_QUEUE_SECONDS = 60;
const MAX_QUEUE_SECONDS = 7 * DAY_SECONDS;

/** What a runner may call its repository. Part of a capability's name, which "|" would end. */
const PROJECT = /^[^\s|][^|\p{C}]{0,79}$/u;

export interface CodingConfig {
  readonly config: JsonObject;
  readonly project?: string;
  readonly queueSeconds: number;
}

/** @throws MusterError VALIDATION_ERROR */
export function codingConfig(config: Readonly<Record<string, unknown>> = {}): CodingConfig {
  requireSize('The configuration', 'config', config, MAX_CONFIG_BYTES);
  const { project, queueSeconds } = config;
  return {
    config: jsonObject.parse(config),
    queueSeconds: secondsOf(queueSeconds),
    ...(project !== undefined && { project: projectOf(project) }),
  };
}

function secondsOf(value: unknown): number {
  if (value === undefined) return DAY_SECONDS;
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  if (isWhole && value >= MIN_QUEUE_SECONDS && value <= MAX_QUEUE_SECONDS) return value;
  throw new MusterError('VALIDATION_ERROR', 'A task waits a whole number of seconds for a runner.', {
    field: 'config.queueSeconds',
    suggestion: `Give a number from ${MIN_QUEUE_SECONDS} to ${MAX_QUEUE_SECONDS}, or leave it out for a day.`,
  });
}

function projectOf(value: unknown): string {
  if (typeof value === 'string' && isProject(value)) return value;
  throw new MusterError('VALIDATION_ERROR', 'A project is named by text.', {
    field: 'config.project',
    suggestion:
      'Name the repository as owner/name, or by the label that its runner reports: at most 80 characters.',
  });
}

export function isProject(name: string): boolean {
  return PROJECT.test(name);
}
