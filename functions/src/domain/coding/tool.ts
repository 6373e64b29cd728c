/** The coding tools that a task may ask for, and the programs that runners have for them. Source: spec/coding.md. */
import { MusterError } from '../errors.ts';

/** By the specification's name: the program, which is also the capability that a runner declares. */
const PROGRAMS = { CLAUDECODE: 'claude', GEMINI: 'gemini' } as const;

export type CodingTool = keyof typeof PROGRAMS;

export const CODING_TOOLS: readonly CodingTool[] = ['CLAUDECODE', 'GEMINI'];

export function programOf(tool: CodingTool): string {
  return PROGRAMS[tool];
}

/** @throws MusterError VALIDATION_ERROR that lists the known ones */
export function codingTool(name: string, field: string): CodingTool {
  const known = CODING_TOOLS.find((tool) => tool === name);
  if (known !== undefined) return known;
  throw new MusterError('VALIDATION_ERROR', 'There is no coding tool of this name.', {
    field,
    value: name,
    reason: 'UNKNOWN_TOOL',
    suggestion: `Known tools: ${CODING_TOOLS.join(', ')}.`,
  });
}
