/** What the demonstration's models say: that no model was asked. */
import type { Question } from './dialect.ts';

const LENGTH = 300;

export function cannedAnswer({ model, prompt }: Question): string {
  const shown = prompt.length > LENGTH ? `${prompt.slice(0, LENGTH)}…` : prompt;
  return `[Canned answer: no model was asked, ${model} is played by npm start -- --demo-models.] The prompt was: ${shown}`;
}
