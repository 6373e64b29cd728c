/** Responses of the demo's fake models in the form that the built-in workflows expect, marked as canned. */
import type { Question } from './dialect.ts';

const LENGTH = 300;

export function cannedResponse({ model, prompt }: Question): string {
  const shown = prompt.length > LENGTH ? `${prompt.slice(0, LENGTH)}…` : prompt;
  const said = `[Canned answer: no model was asked, ${model} is played by npm start -- --demo-models.] The prompt was: ${shown}`;
  return [...firstLine(prompt), said, ...lastLine(prompt)].join('\n\n');
}

/** Reviews start with a verdict. */
function firstLine(prompt: string): readonly string[] {
  return ['NO FINDINGS', 'APPROVED'].filter((verdict) => prompt.includes(`the line ${verdict}`));
}

/** Judges end with a ranking, such as the example in their prompt. */
function lastLine(prompt: string): readonly string[] {
  return /letters, best first: ([A-Z](?: > [A-Z])+)/.exec(prompt)?.slice(1) ?? [];
}
